// Starts the project's own vitest for one file, with benchgate.mjs as its runner.
//
// Arguments: the file, and options of `vitest bench`.

import childProcess from "node:child_process";
import module from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const [file, ...given] = process.argv.slice(2);
const channel = Number(process.env.BENCHGATE_FD);
const { fork } = childProcess;

// Node's children inherit only what their `stdio` names.
childProcess.fork = (program, args, options) => {
  const given = options.stdio ?? (options.silent ? "pipe" : "inherit");
  const stdio = [...(Array.isArray(given) ? given : [given, given, given, "ipc"]), channel];
  const env = { ...(options.env ?? process.env), BENCHGATE_FD: stdio.length - 1, BENCHGATE_FILE: file };
  return fork(program, args, { ...options, stdio, env });
};
module.syncBuiltinESMExports();

const from = module.createRequire(`${process.cwd()}/`);
const { parseCLI, startVitest } = await import(pathToFileURL(from.resolve("vitest/node")));
await startVitest("benchmark", [file], {
  ...parseCLI(["vitest", "bench", "--run", ...given]).options,
  pool: "forks",
  runner: fileURLToPath(new URL("benchgate.mjs", import.meta.url)),
});
process.exit();
