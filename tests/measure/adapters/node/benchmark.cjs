const Benchmark = require("benchmark");

new Benchmark.Suite("text")
  .add("index", () => "abc".repeat(100).indexOf("d"))
  .add("wait", { defer: true, fn: (deferred) => setTimeout(() => deferred.resolve(), 1) })
  .add("fails", () => { throw new Error("it is broken"); })
  .on("cycle", (event) => console.log(String(event.target)))
  .run({ async: true });
