import { bench, run } from "mitata";
import { checksum, find, long, slug } from "./text.js";

const text = "The quick brown Fox ";
const v = Array.from({ length: 1000 }, (_, i) => 3 * i);
bench("Checksum", () => checksum(text));
bench("Slug", () => slug(text + text));
bench("Find", () => find(v));
bench("Long", () => long(text));
await run({ format: { json: { debug: false } } });
