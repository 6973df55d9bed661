// Starts the project's own vitest, with benchgate.mjs as its runner, in one process for all files.
//
// Arguments: a file or a folder, and options of `vitest bench`.

import childProcess from "node:child_process";
import module from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const [top, ...given] = process.argv.slice(2);
const channel = Number(process.env.BENCHGATE_FD);
const { fork } = childProcess;

// Node's children inherit only what their `stdio` names.
childProcess.fork = (program, args, options) => {
  const own = options.stdio ?? (options.silent ? "pipe" : "inherit");
  const stdio = [...(Array.isArray(own) ? own : [own, own, own, "ipc"]), channel];
  const env = { ...(options.env ?? process.env), BENCHGATE_FD: stdio.length - 1, BENCHGATE_TOP: top };
  return fork(program, args, { ...options, stdio, env });
};
module.syncBuiltinESMExports();

const from = module.createRequire(`${process.cwd()}/`);
const { version } = from("vitest/package.json");
const { parseCLI, startVitest } = await import(pathToFileURL(from.resolve("vitest/node")));
const inOneProcess =
  Number.parseInt(version) < 4
    ? { poolOptions: { forks: { singleFork: true, isolate: false } } }
    : { maxWorkers: 1, isolate: false };
const pathOf = (file) => file.moduleId ?? file[1];

/** By default vitest orders files by their sizes, which may differ between base and head. */
class ByPath {
  shard = (files) => files;
  sort = (files) => [...files].sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}

const { options } = parseCLI(["vitest", "bench", "--run", ...given]);
await startVitest("benchmark", top === process.cwd() ? [] : [top], {
  ...options,
  ...inOneProcess,
  sequence: { ...options.sequence, sequencer: ByPath },
  pool: "forks",
  passWithNoTests: true,
  coverage: { ...options.coverage, enabled: false },
  typecheck: { ...options.typecheck, enabled: false },
  runner: fileURLToPath(new URL("benchgate.mjs", import.meta.url)),
});
console.error("vitest found no file with benchmarks");
process.exit(1);
