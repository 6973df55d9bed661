import { bench, describe } from "vitest";
import { count } from "./words.js";

const text = "to be or not to be ".repeat(100);

describe("words", () => {
  bench("count", () => count(text), { time: 100 });
});
