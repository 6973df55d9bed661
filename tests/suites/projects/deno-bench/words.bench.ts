import { count } from "./words.js";

const text = "to be or not to be ".repeat(100);

Deno.bench("count", () => {
  count(text);
});
