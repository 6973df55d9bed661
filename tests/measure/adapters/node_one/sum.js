import { Bench } from "tinybench";

const bench = new Bench({ name: "sums" });
bench.add("sum", () => {
  let sum = 0;
  for (let i = 0; i < 100000; i++) sum = (sum * 31 + i) | 0;
  return sum;
});
await bench.run();
