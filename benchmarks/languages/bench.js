import { Bench } from "tinybench";
import { checksum, find, long, slug } from "./text.js";

const text = "The quick brown Fox ";
const v = Array.from({ length: 1000 }, (_, i) => 3 * i);
const bench = new Bench({ time: 100, retainSamples: true });
bench
  .add("Checksum", () => checksum(text))
  .add("Slug", () => slug(text + text))
  .add("Find", () => find(v))
  .add("Long", () => long(text));
await bench.run();
console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))));
