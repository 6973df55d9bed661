import { bench } from "vitest";

bench("upper", () => void "to be or not to be".toUpperCase());
bench("async", async () => Promise.resolve());
bench.skip("skipped", () => {});
