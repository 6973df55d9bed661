import { bench, do_not_optimize, group, run } from "mitata";

group("sums", () => {
  bench("small", () => {
    let sum = 0;
    for (let i = 0; i < 100; i++) sum += i;
    do_not_optimize(sum);
  });
});
bench("slice $n", function* (state) {
  const values = Array.from({ length: state.get("n") }, (_, i) => i);
  yield () => values.slice();
}).args("n", [10, 1000]);
bench("made", function* () {
  yield { 0: () => [3, 1, 2], bench: (values) => values.sort() };
});
bench("fails", () => { throw new Error("it is broken"); });
await run();
