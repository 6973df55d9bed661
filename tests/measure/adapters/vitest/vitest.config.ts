import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "#text": fileURLToPath(new URL("src/text.ts", import.meta.url)) } },
  test: { pool: "threads" },
});
