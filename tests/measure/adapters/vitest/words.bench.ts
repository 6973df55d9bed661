import { beforeAll, bench, describe } from "vitest";
import { count } from "#text";

let text: string;
let isReady = false;
beforeAll(() => { text = "to be or not to be ".repeat(100); });

describe("text", () => {
  describe("words", () => {
    bench("count", () => void count(text), { time: 100 });
    bench("fails", () => { throw new Error("it is broken"); });
  });
  bench("wait", () => { if (!isReady) throw new Error("not ready"); }, {
    setup() { isReady = true; },
    teardown() { isReady = false; },
  });
});
