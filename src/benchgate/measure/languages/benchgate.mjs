// Serves benchgate instead of printing results; see docs/worker-protocol.md.
//
// Loaded by `node --import`, it takes the place of tinybench, mitata and benchmark.js. A program
// collects its benchmarks as ever; each is measured when the program comes to run it. To vitest, it
// is a runner of the project's own.

import fs from "node:fs";
import module from "node:module";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";
import vm from "node:vm";

const { readSync, writeSync } = fs;
const { hrtime, cpuUsage } = process;
const TOOLS = ["tinybench", "mitata", "benchmark"];
const descriptor = Number(process.env.BENCHGATE_FD);
delete process.env.BENCHGATE_FD;

let pending = "";
let target = null; // the id of the benchmark to open; null while all are listed
let found = [];
const faults = {};
let isSaid = true; // whether the last request has been answered

/** The next line from benchgate; null at the end. */
function receive() {
  const chunk = Buffer.alloc(4096);
  while (!pending.includes("\n")) {
    let count = 0;
    try {
      count = readSync(descriptor, chunk);
    } catch (error) {
      if (error.code === "EAGAIN") continue;
      throw error;
    }
    if (!count) return null;
    pending += chunk.toString("utf8", 0, count);
  }
  const at = pending.indexOf("\n");
  const line = pending.slice(0, at);
  pending = pending.slice(at + 1);
  return line;
}

function send(reply) {
  writeSync(descriptor, (typeof reply === "string" ? reply : JSON.stringify(reply)) + "\n");
}

function refuse(error) {
  isSaid = true;
  const text = error?.message === undefined ? String(error) : `${error.name}: ${error.message}`;
  const stack = error?.stack ?? "";
  send({ error: text, trace: stack.startsWith(`${text}\n`) ? stack.slice(text.length + 1) : stack });
}

function end() {
  send("bye");
  // vitest does not let its workers exit.
  if (process.env.VITEST) process.kill(process.pid, "SIGKILL");
  process.exit(0);
}

/** Answers requests until one needs the program: `list`, or to open a benchmark. */
function begin(tool) {
  for (;;) {
    const line = receive();
    if (line === null) return end();
    const [word, argument] = split(line);
    if (word === "hello") send(hello(tool));
    else if (word === "list" || word === "open") {
      target = word === "open" ? argument : null;
      isSaid = false;
      return;
    } else send({ error: "no benchmark is open", trace: "" });
  }
}

function split(line) {
  const at = line.indexOf(" ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

function hello(tool) {
  const steps = Array.from({ length: 1000 }, () => Number(-hrtime.bigint() + hrtime.bigint()));
  return {
    language: "JavaScript",
    tool,
    versions: { node: process.versions.node },
    clock: "process.hrtime",
    clock_steps_ns: steps,
    steps: ["observe"],
  };
}

const scheduling = openScheduling();
const text = Buffer.alloc(64);

/** What the OS says of this thread's scheduling; null if it says nothing. */
function openScheduling() {
  try {
    return fs.openSync("/proc/thread-self/schedstat");
  } catch {
    return null;
  }
}

/** How long this thread could have run, but the CPU was busy with something else, in ns. */
function waited() {
  if (scheduling === null) return 0;
  return Number(text.toString("latin1", 0, readSync(scheduling, text, 0, 64, 0)).split(" ")[1]);
}

/** A function of its own for each benchmark: V8 optimizes it for what it calls. */
function timer(isAsync) {
  const call = isAsync ? "await fn()" : "fn()";
  const make = new Function(
    "hrtime", "cpuUsage", "waited", "keep",
    `return ${isAsync ? "async " : ""}function sample(fn, n) {
      const before_ns = waited(), cpu = cpuUsage(), start = hrtime.bigint();
      let last;
      for (let i = 0; i < n; i++) last = ${call};
      const wall_ns = Number(hrtime.bigint() - start), used = cpuUsage(cpu);
      const waited_ns = waited() - before_ns, cpu_ns = 1000 * (used.user + used.system);
      keep(last);
      // It may have waited for threads of its own, whose work counts.
      return [waited_ns ? Math.max(wall_ns - waited_ns, Math.min(cpu_ns, wall_ns)) : wall_ns, cpu_ns];
    }`,
  );
  return make(hrtime, cpuUsage, waited, (value) => { globalThis.benchgateKept = value; });
}

/** Lets benchgate measure those of these benchmarks that it wants, until it wants another one. */
async function serve(all) {
  for (const one of all) [one.name, one.id] = [one.id, numbered(one.id)];
  if (target === null) {
    found.push(...all.map(({ id, name, source }) => ({ id, name, source: String(source) })));
    return;
  }
  for (let one = named(all); one; one = named(all)) {
    try {
      await one.before?.();
      await one.beforeEach?.();
      const start = hrtime.bigint();
      const first = one.fn();
      const isAsync = typeof first?.then === "function";
      await first;
      const first_ns = hrtime.bigint() - start;
      await one.afterEach?.();
      const sample = timer(isAsync);
      if (first_ns < WARM_UP_NS) await warmUp(one, sample);
      isSaid = true;
      send("{}");
      await measure(one, sample);
      await one.after?.();
      send("{}");
    } catch (error) {
      refuse(error);
    }
    begin("");
  }
}

v8.setFlagsFromString("--expose-gc");
const gc = vm.runInNewContext("gc");
v8.setFlagsFromString("--no-expose-gc"); // programs ask whether there is one

const counts = new Map();

/** The id of a benchmark if several have its name. */
function numbered(name) {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return `${name} (${count})`;
}

const named = (all) => all.find(({ id, name }) => id === target || name === target);

const WARM_UP_NS = 30e6;

/** Calls a benchmark until V8 has compiled it: at first, it interprets. */
async function warmUp(one, sample) {
  for (let spent_ns = 0, loops = 1; spent_ns < WARM_UP_NS; loops *= 2)
    spent_ns += Math.max(1, (await runSample(one, sample, loops))[0]);
}

async function runSample({ fn, beforeEach, afterEach }, sample, loops) {
  // V8 collects young objects when their space is full. Samples that begin with any part of it in
  // use differ by one collection, which may be a fifth of their time.
  gc({ type: "minor" });
  if (!beforeEach && !afterEach) {
    const all = sample(fn, loops);
    return Array.isArray(all) ? all : await all;
  }
  let [wall_ns, cpu_ns] = [0, 0];
  for (let i = 0; i < loops; i++) {
    await beforeEach?.();
    const one = await sample(fn, 1);
    await afterEach?.();
    wall_ns += one[0];
    cpu_ns += one[1];
  }
  return [wall_ns, cpu_ns];
}

async function measure(one, sample) {
  let loops = 1;
  for (;;) {
    const line = receive();
    if (line === null) return end();
    const [word, argument] = split(line);
    if (word === "s") {
      try {
        send((await runSample(one, sample, loops)).join(" "));
      } catch (error) {
        refuse(error);
      }
    } else if (word === "loops") {
      loops = Number(argument);
      send("{}");
    } else if (word === "observe") {
      try {
        const { observe } = module.createRequire(import.meta.url)("./observed.cjs");
        send(await observe(() => runSample(one, sample, loops), loops, Number(argument)));
      } catch (error) {
        refuse(error);
      }
    } else if (word === "close") return;
    else send({ error: `a benchmark is open, and there is no step ${word}`, trace: "" });
  }
}

let isTaken = false;
function take(tool) {
  if (isTaken) return;
  isTaken = true;
  send({ protocol: 1, pid: process.pid });
  begin(tool);
  process.on("exit", finish);
  if (process.env.VITEST) return;
  process.on("uncaughtException", (error) => {
    if (isSaid) console.error(error);
    else refuse(error);
    process.exit(1);
  });
}

const NOTHING = "the script has ended, and has run no benchmark of tinybench, mitata or benchmark.js";

/** The reply to the last request, if the program has ended without it. */
function finish() {
  if (isSaid) return;
  isSaid = true;
  if (target !== null) refuse(`there is no benchmark ${target}, or it was passed`);
  else if (found.length || process.env.VITEST) send({ benchmarks: found.map(described), faults });
  else refuse(NOTHING);
}

/** If a script gets another benchmark of this name, nobody knows which of them was which. */
function described({ id, name, source }) {
  const alike = counts.get(name);
  return alike > 1 ? { id, source: `${source}\n// one of ${alike}` } : { id: name, source };
}

/** Stands for the results that a program prints between its benchmarks: any part of it is a 0. */
const NO_RESULT = new Proxy(() => NO_RESULT, {
  get(_, name) {
    if (name === Symbol.toPrimitive) return () => 0;
    if (name === Symbol.iterator) return () => [][Symbol.iterator]();
    return name === "then" ? undefined : NO_RESULT;
  },
});

/** An id: people pad names, so that what the tool prints is aligned. */
const path = (...parts) =>
  parts.map((part) => String(part ?? "").replace(/\s+/g, " ").trim()).filter(Boolean).join("/");

// tinybench

class Task {
  constructor(bench, name, fn, options = {}) {
    Object.assign(this, { bench, name, fn, options, result: NO_RESULT, runs: 0 });
  }
  addEventListener() {}
  removeEventListener() {}
  async warmup() {}
  get entry() {
    const { bench, options } = this;
    return {
      id: path(bench.name, this.name),
      source: this.fn,
      fn: () => this.fn(),
      before: async () => {
        await bench.options.setup?.(this, "run");
        await options.beforeAll?.call(this, "run");
      },
      after: async () => {
        await options.afterAll?.call(this, "run");
        await bench.options.teardown?.(this, "run");
      },
      beforeEach: options.beforeEach && (() => options.beforeEach.call(this, "run")),
      afterEach: options.afterEach && (() => options.afterEach.call(this, "run")),
    };
  }
  async run() {
    await serve([this.entry]);
    return this;
  }
}

class Bench {
  constructor(options = {}) {
    Object.assign(this, { options, opts: options, name: options.name, all: new Map() });
  }
  add(name, fn, options) {
    this.all.set(name, new Task(this, name, fn, options));
    return this;
  }
  remove(name) {
    this.all.delete(name);
    return this;
  }
  get tasks() {
    return [...this.all.values()];
  }
  get results() {
    return this.tasks.map(() => NO_RESULT);
  }
  getTask(name) {
    return this.all.get(name);
  }
  addEventListener() {}
  removeEventListener() {}
  reset() {}
  table() {
    return [];
  }
  async warmup() {}
  async run() {
    await serve(this.tasks.map((task) => task.entry));
    return this.tasks;
  }
}

// mitata

const groups = [];
let planned = [];

function bench(name, fn) {
  if (typeof name === "function") [name, fn] = [name.name, name];
  const plan = { name: path(...groups, name), fn, args: {} };
  planned.push(plan);
  const chain = new Proxy({}, {
    get: (_, key) => (...given) => {
      const [named, low, high] = typeof given[0] === "string" ? given : ["x", ...given];
      if (key === "args") {
        const lists = typeof low === "object" ? { [named]: low } : given[0];
        Object.assign(plan.args, Array.isArray(lists) ? { x: lists } : lists);
      } else if (key === "range") plan.args[named] = powers(low, high, given.at(-1));
      else if (key === "dense_range") plan.args[named] = steps(low, high);
      return chain;
    },
  });
  return chain;
}

function powers(low, high, multiplier) {
  const factor = multiplier === high ? 8 : multiplier;
  const all = [];
  for (let n = low; n < high; n *= factor) all.push(n);
  return [...all, high];
}

const steps = (low, high) => Array.from({ length: high - low + 1 }, (_, i) => low + i);

/** An entry for each combination of the arguments. */
function expanded({ name, fn, args }) {
  let all = [{}];
  for (const [key, values] of Object.entries(args))
    all = all.flatMap((known) => values.map((value) => ({ ...known, [key]: value })));
  return all.map((given) => {
    const id = Object.entries(given).reduce((text, [key, value]) => text.replaceAll(`$${key}`, value), name);
    const entry = { id: all.length > 1 && id === name ? path(name, ...Object.values(given)) : path(id), source: fn, fn };
    if (fn.constructor.name.endsWith("GeneratorFunction")) {
      // It yields what is timed: a function, or one with arguments that are made for each call.
      let [call, made] = [undefined, []];
      entry.before = async () => {
        const { value } = await fn({ get: (key) => given[key ?? "x"] }).next();
        call = typeof value === "function" ? value : value.bench;
        const makers = Object.keys(value).filter((key) => /^\d+$/.test(key)).map((key) => value[key]);
        if (makers.length) entry.beforeEach = async () => { made = await Promise.all(makers.map((make) => make())); };
      };
      entry.fn = () => call(...made);
    }
    return entry;
  });
}

function group(name, body) {
  if (typeof name === "function") return name();
  groups.push(name?.name ?? name);
  const leave = () => groups.pop();
  const result = body();
  if (typeof result?.then === "function") return result.finally(leave);
  leave();
  return result;
}

const inside = (body) => body();

async function run() {
  const all = planned;
  planned = [];
  await serve(all.flatMap(expanded));
  return { benchmarks: [], layout: [], context: NO_RESULT };
}

// benchmark.js

let suites = Promise.resolve(); // those that have been run

class Suite {
  filter = () => NO_RESULT;
  constructor(name, options = typeof name === "object" ? name : {}) {
    Object.assign(this, { name: typeof name === "string" ? name : "", all: [], handlers: {} });
    if (options.onComplete) this.on("complete", options.onComplete);
  }
  add(name, fn, options) {
    if (typeof name === "object") [name, fn, options] = [name.name, name.fn, name];
    if (typeof fn === "object") [fn, options] = [fn.fn, fn];
    this.all.push({ name, fn, options: options ?? {} });
    return this;
  }
  on(names, handler) {
    for (const name of names.split(" ")) (this.handlers[name] ??= []).push(handler);
    return this;
  }
  run() {
    const entries = this.all.map(({ name, fn, options }) => ({
      id: path(this.name, name),
      source: fn,
      fn: options.defer ? () => new Promise((resolve) => fn({ resolve })) : fn,
      before: options.setup,
      after: options.teardown,
    }));
    suites = suites.then(() => serve(entries)).then(() => this.complete());
    return this;
  }
  complete() {
    for (const handler of this.handlers.complete ?? []) {
      try {
        handler.call(this, NO_RESULT);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

function Benchmark(name, fn, options) {
  return new Suite().add(name, fn, options);
}
Benchmark.Suite = Suite;
Benchmark.options = {};

// vitest

async function vitestRunner() {
  const from = module.createRequire(`${process.cwd()}/`);
  const load = (name) => import(pathToFileURL(from.resolve(name)));
  const { warn } = console;
  console.warn = () => {}; // vitest 4.1 has other names for these, too
  const { NodeBenchmarkRunner } = await load("vitest/runners");
  const { getBenchFn, getBenchOptions } = await load("vitest/suite");
  console.warn = warn;

  /** The benchmarks of a suite and of those in it; vitest runs those in it first, too. */
  function entries(suite, prefix) {
    const open = suite.tasks.filter(({ mode }) => mode === "run" || mode === "queued");
    const inner = open.filter(({ type }) => type === "suite");
    const own = open.filter(({ meta }) => meta?.benchmark);
    return [
      ...inner.flatMap((one) => entries(one, path(prefix, one.name))),
      ...own.map((one) => {
        const bench = new Bench({ ...getBenchOptions(one), name: prefix });
        const { source, ...entry } = new Task(bench, one.name, getBenchFn(one)).entry;
        // The names of imported modules have numbers that count all imports above.
        return { ...entry, source: String(source).replace(/(__vi(?:te_ssr)?_import_)\d+__/g, "$1") };
      }),
    ];
  }

  const top = process.env.BENCHGATE_TOP;
  let file = ""; // the open one
  let prefix = null; // of its ids; null for a file that is not asked for

  /** What the ids of a file begin with. */
  function prefixOf(name) {
    if (name === top) return "";
    const plain = name.replace(/(\.bench|\.benchmark)?\.[cm]?[jt]sx?$/, "");
    return name.startsWith(`${top}/`) ? plain.slice(top.length + 1) : null;
  }

  return class extends NodeBenchmarkRunner {
    onBeforeCollect([one]) {
      file = one.filepath ?? one;
      take("vitest");
      prefix = prefixOf(file);
      if (target !== null && prefix && !target.startsWith(`${prefix}/`)) prefix = null;
    }
    async importFile(...all) {
      if (prefix !== null) return super.importFile(...all);
    }
    async runSuite(suite) {
      if (prefix !== null) await serve(entries(suite, prefix));
    }
    onAfterRunFiles([{ result }]) {
      const [error] = result?.errors ?? [];
      const text = error && `${error.name}: ${error.message}\n${error.stack ?? ""}`;
      if (text && target === null) faults[prefix] = text;
      else if (text && prefix !== null && !isSaid) refuse(error);
      const { files } = globalThis.__vitest_worker__.ctx;
      const last = files.at(-1);
      while (file === (last.filepath ?? last)) {
        finish();
        begin("");
      }
    }
  };
}

const TAKEN = {
  tinybench: { Bench, Task, now: () => performance.now() },
  mitata: {
    bench, group, run, B: class {}, do_not_optimize: (value) => { globalThis.benchgateKept = value; },
    boxplot: inside, barplot: inside, summary: inside, lineplot: inside, compact: inside,
    baseline: bench,
  },
  benchmark: { default: Benchmark, Suite, Benchmark },
};

globalThis.benchgateTool = (tool) => {
  take(tool);
  return TAKEN[tool];
};

if (Number.isInteger(descriptor) && !process.env.VITEST) {
  process.on("exit", (code) => {
    if (code || isTaken) return;
    take("");
    refuse(NOTHING);
  });
  // jiti imports files, and not packages.
  const toolOf = (name) => /^(?:file:|\/).*\/node_modules\/([^/]+)\//.exec(name)?.[1] ?? name;
  const load = module._load;
  module._load = function (name, ...rest) {
    const tool = toolOf(name);
    if (!TOOLS.includes(tool)) return load.call(this, name, ...rest);
    const taken = globalThis.benchgateTool(tool);
    return taken.default ?? taken;
  };
  const sources = Object.fromEntries(TOOLS.map((tool) => {
    const names = Object.keys(TAKEN[tool]).filter((name) => name !== "default");
    const lines = names.map((name) => `export const ${name} = taken.${name};`);
    const rest = TAKEN[tool].default ? "taken.default" : "taken";
    return [tool, `const taken = globalThis.benchgateTool("${tool}");\n${lines.join("\n")}\nexport default ${rest};`];
  }));
  const hooks = `
    const sources = ${JSON.stringify(sources)};
    const toolOf = ${toolOf};
    export async function resolve(name, context, next) {
      const tool = toolOf(name);
      return tool in sources ? { url: "benchgate:" + tool, shortCircuit: true } : next(name, context);
    }
    export async function load(url, context, next) {
      if (!url.startsWith("benchgate:")) return next(url, context);
      return { format: "module", source: sources[url.slice(10)], shortCircuit: true };
    }`;
  module.register("data:text/javascript," + encodeURIComponent(hooks));
}

export default process.env.VITEST ? (globalThis.benchgateRunner ??= await vitestRunner()) : undefined;
