const Benchmark = require("benchmark");

new Benchmark.Suite("first")
  .add("search", () => /d/.test("abc"))
  .add("search", () => /e/.test("abc"))
  .on("complete", function () {
    console.log(`${this.filter("fastest").map("name")} ${this[0].hz}`);
  })
  .run();
new Benchmark.Suite("text")
  .add("index   ", () => "abc".repeat(100).indexOf("d"))
  .add("wait", { defer: true, fn: (deferred) => setTimeout(() => deferred.resolve(), 1) })
  .add("fails", () => { throw new Error("it is broken"); })
  .on("cycle", (event) => console.log(String(event.target)))
  .run({ async: true });
