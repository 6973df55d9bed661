import { Bench } from "tinybench";

const text = "The quick brown Fox jumps over the lazy Dog ".repeat(50);

function checksum(s) {
  let [a, b] = [1, 0];
  for (let i = 0; i < s.length; i++) {
    a = (a + s.charCodeAt(i)) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

let prepared = false;
const bench = new Bench({ name: "text", time: 100 });
bench
  .add("checksum", () => checksum(text))
  .add("tick", async () => Promise.resolve())
  .add("each", () => { if (!prepared) throw new Error("not prepared"); }, {
    beforeEach() { prepared = true; },
    afterEach() { prepared = false; },
  })
  .add("fails", () => { throw new Error("it is broken"); });
await bench.run();
console.table(bench.tasks.map(({ name, result }) => ({ name, mean: result.latency.mean.toFixed(2) })));

const second = new Bench({ name: "text" });
second.add("checksum", () => checksum(text));
await second.run();
console.log(Math.max(...second.tasks.map(({ result }) => result.hz)), second.table());
