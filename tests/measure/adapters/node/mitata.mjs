import { bench, do_not_optimize, group, run } from "mitata";

group("sums", () => {
  bench("small", () => {
    let sum = 0;
    for (let i = 0; i < 100; i++) sum += i;
    do_not_optimize(sum);
  });
});
bench("fails", () => { throw new Error("it is broken"); });
await run();
