// Observes which functions a benchmark calls, from where and how often, and how long they take.
//
// V8's coverage counts the calls of every function exactly, but then does not optimize. So the times
// come from samples of V8's profiler that are taken before, and its samples meanwhile say where
// functions are called from.

"use strict";

const fs = require("node:fs");
const { Session } = require("node:inspector");
const { SourceMap } = require("node:module");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

const INTERVAL_US = 100;
// How long the functions are timed and counted at most: thousands of the profiler's samples.
const LONGEST_NS = 500e6;
// Most functions, and most places that they are called from; others count as their callers.
const MOST = 5000;

/** Gives orders to V8's inspector; each is answered at once. */
function connect() {
  const session = new Session();
  session.connect();
  const post = (method, parameters) => {
    let reply;
    session.post(method, parameters, (error, value) => { reply = error ? fail(error) : value; });
    return reply;
  };
  post("Profiler.enable");
  post("Debugger.enable");
  post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  return post;
}

/** The calls that the profiler saw since it was started, and how long one of its samples stands for. */
function profiled(post) {
  const { nodes, samples, startTime, endTime } = post("Profiler.stop").profile;
  return { nodes, hit_ns: (1000 * (endTime - startTime)) / Math.max(1, samples.length) };
}

/** Observes samples of a number of calls; `take` takes one. */
async function observe(take, loops, limit_ns) {
  const post = connect();
  const profile = async () => {
    const until_ns = performance.now() * 1e6 + Math.min(LONGEST_NS, limit_ns / 4);
    let count = 0;
    post("Profiler.start");
    for (; !count || performance.now() * 1e6 < until_ns; count++) await take();
    return { count, ...profiled(post) };
  };
  const timed = await profile();
  post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await take(); // what V8 has optimized before is not counted
  post("Profiler.takePreciseCoverage");
  const counted = await profile();
  const coverage = post("Profiler.takePreciseCoverage").result;
  const scripts = read(post, coverage, GOES_ON);
  const hit_ns = (timed.hit_ns * counted.count) / timed.count;
  return { operations: loops * counted.count, ...described(scripts, timed.nodes, counted.nodes, hit_ns) };
}

/** Observes a program from now on: its calls, or else its times; returns what tells of them at its end. */
function observeProgram(isCounted) {
  const post = connect();
  // From the start, V8 counts blocks of code, and so the calls of all functions exactly.
  if (isCounted) post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  post("Profiler.start");
  return () => {
    const { nodes, hit_ns } = profiled(post);
    const coverage = post(isCounted ? "Profiler.takePreciseCoverage" : "Profiler.getBestEffortCoverage");
    return described(read(post, coverage.result), nodes, nodes, hit_ns);
  };
}

/** The scripts that are from a file. */
function read(post, coverage, uncounted) {
  const scripts = new Map();
  for (const { scriptId, url, functions } of coverage) {
    const file = fileOf(url);
    if (!file || path.dirname(file) === __dirname) continue;
    const { scriptSource } = post("Debugger.getScriptSource", { scriptId });
    scripts.set(scriptId, new Script(file, scriptSource, functions, uncounted));
  }
  return scripts;
}

function fail({ message }) {
  throw new Error(`V8 does not profile: ${message}`);
}

/** The file that a script is from; "" if it is a part of Node, or was made by `eval`. */
function fileOf(url) {
  const plain = url.replace(/\?.*$/, "");
  if (plain.startsWith("file:")) return fileURLToPath(plain);
  return path.isAbsolute(plain) ? plain : "";
}

// An asynchronous function or a generator: unless V8 counts blocks, it counts these each time that they
// go on.
const GOES_ON = /^\s*(?:static\s+)?(?:async\b|\*|function\s*\*)/;

/** A script, and its functions that ran. */
class Script {
  constructor(file, text, functions, uncounted) {
    this.file = file;
    this.starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    this.functions = functions
      .map(({ functionName, ranges: [{ startOffset, endOffset, count }] }) => ({
        script: this, name: functionName || "<anonymous>", start: startOffset, end: endOffset, count,
        isCounted: !uncounted?.test(text.slice(startOffset, endOffset)), own: 0, places: [],
      }))
      .filter(({ start, count }) => count && start);
    this.map = sourceMap(file, text);
  }

  /** The innermost function around a place of the profiler. */
  at({ lineNumber, columnNumber }) {
    const offset = this.starts[lineNumber] + columnNumber;
    const around = this.functions.filter(({ start, end }) => start <= offset && offset < end);
    return around.reduce((one, other) => (one && one.start > other.start ? one : other), undefined);
  }

  /** File and line, from 1, of an offset in the source that this script was made from. */
  origin(offset) {
    const line = this.starts.findLastIndex((start) => start <= offset);
    const found = this.map?.findEntry(line, offset - this.starts[line]);
    if (found?.originalSource === undefined) return { file: this.file, line: line + 1 };
    const source = fileOf(found.originalSource) || path.resolve(path.dirname(this.file), found.originalSource);
    return fs.existsSync(source)
      ? { file: source, line: found.originalLine + 1 }
      : { file: this.file, line: line + 1 };
  }
}

/** What a compiler says about where a script comes from. */
function sourceMap(file, text) {
  const [, place] = [...text.matchAll(/\/\/[#@] sourceMappingURL=(\S+)/g)].at(-1) ?? [];
  try {
    if (!place) return undefined;
    const data = place.match(/^data:application\/json[^,]*;base64,(.*)$/);
    const written = data
      ? Buffer.from(data[1], "base64").toString()
      : fs.readFileSync(path.resolve(path.dirname(file), place), "utf8");
    return new SourceMap(JSON.parse(written));
  } catch {
    return undefined;
  }
}

/** The functions that were counted, and where they were called from. */
function described(scripts, timed, counted, hit_ns) {
  const found = [...scripts.values()].flatMap((script) => script.functions);
  const functionOf = ({ callFrame }) =>
    callFrame.lineNumber < 0 ? undefined : scripts.get(callFrame.scriptId)?.at(callFrame);
  walk(timed, (node, above) => {
    const one = functionOf(node) ?? above;
    if (one) one.own += node.hitCount;
    return one;
  });
  const every = found.sort((a, b) => b.own - a.own || b.count - a.count).slice(0, MOST);
  const numbers = new Map(every.map((one, number) => [one, number]));
  const nodes = [];
  walk(counted, (node, above) => {
    const known = functionOf(node);
    const one = numbers.has(known) ? known : undefined;
    let place = above;
    if (one && !above?.path.has(one)) {
      place = { above, one, hits: 0, path: new Map(above?.path) };
      const same = one.places.find((other) => other.above === above);
      if (same || nodes.length < MOST) {
        if (!same) nodes.push(place);
        if (!same) one.places.push(place);
        place = same ?? place;
        place.path.set(one, place);
      } else place = above;
    } else if (one) place = above.path.get(one);
    for (const each of new Set(place ? place.path.values() : [])) each.hits += node.hitCount;
    return place;
  });
  // One that the profiler never saw.
  for (const one of every)
    if (!one.places.length && nodes.length < MOST) nodes.push(one.places[0] = { one, hits: 1 });
  for (const one of every) if (one.places.length) share(one);
  nodes.forEach((place, number) => { place.number = number; });
  return {
    functions: every.map(({ script, name, start, end, own, isCounted }) => {
      const [first, last] = [script.origin(start), script.origin(end - 1)];
      const end_line = last.file === first.file ? last.line : first.line;
      return [first.file, first.line, name, Math.round(own * hit_ns), end_line, isCounted];
    }),
    nodes: nodes.map(({ above, one, calls }) => [above?.number ?? -1, numbers.get(one), calls]),
  };
}

/** Goes through the calls that the profiler saw, from the top; `visit` is given what it returned above. */
function walk(nodes, visit) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const waiting = [[nodes[0], undefined]];
  while (waiting.length) {
    const [node, above] = waiting.shift();
    const seen = visit(node, above);
    for (const child of node.children ?? [])
      if (!OF_BENCHGATE.has(byId.get(child).callFrame.functionName)) waiting.push([byId.get(child), seen]);
  }
}

const OF_BENCHGATE = new Set(["hrtimeBigInt", "cpuUsage", "waited", "gc", "(garbage collector)", "(program)", "(idle)"]);

// The profiler places some samples of optimized code wrong. So a function is called from the place where
// so many of its samples were taken; with several such places, nobody knows how often from each.
const MOSTLY = 0.9;

/** Shares the calls of a function between the places that it is called from, as often as these were seen. */
function share(one) {
  const { count, places } = one;
  const hits = places.reduce((sum, { hits }) => sum + Math.max(hits, 1), 0);
  const most = places.reduce((a, b) => (b.hits > a.hits ? b : a));
  const isOnly = Math.max(most.hits, 1) >= MOSTLY * hits;
  one.isCounted &&= isOnly;
  let [seen, given] = [0, 0];
  for (const place of places) {
    seen += Math.max(place.hits, 1);
    const calls = Math.round((count * seen) / hits) - given;
    place.calls = isOnly ? (place === most ? count : 0) : calls;
    given += calls;
  }
}

module.exports = { observe, observeProgram };
