import Benchmark from "benchmark";
import { checksum, find, long, slug } from "./text.js";

const text = "The quick brown Fox ";
const v = Array.from({ length: 1000 }, (_, i) => 3 * i);
new Benchmark.Suite()
  .add("Checksum", () => checksum(text))
  .add("Slug", () => slug(text + text))
  .add("Find", () => find(v))
  .add("Long", () => long(text))
  .on("cycle", (event) => console.log(String(event.target)))
  .run();
