"""Formats of JavaScript: benchmark.js, deno bench, mitata, tinybench and vitest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.formats.contents import (
    RowError,
    left_out,
    number_in,
    read_json,
    read_lines,
    shown,
    unread,
)
from benchgate.formats.origin import RUNTIME, environment, told
from benchgate.formats.rows import SORTED, begins, reads, time_summary, usual_loops

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows

_NS = 1e-9
_MS = 1e-3


def _message(error: Node) -> object:
    """What an error says, which may be an object: {} unless the script makes text of it."""
    return error.value.get("message") if isinstance(error.value, dict) else error.value


_RATE = " ops/sec"
_ENDS = ("run sampled)", "runs sampled)")


def _is_benchmark_js(source: ForeignFile) -> bool:
    head = source.head
    return _RATE.encode() in head and any(end.encode() in head for end in _ENDS)


@reads("benchmark.js", "node SUITE.js > FILE", _is_benchmark_js, has_samples=False)
def benchmark_js(source: ForeignFile, rows: ReadRows) -> None:
    """benchmark.js: the lines that a suite prints, with operations per second.

    suite.on("cycle", event => console.log(String(event.target)))

    A failed benchmark has a line with its name and often nothing else.
    """
    others = []
    for place, line in read_lines(source):
        result, is_result, rest = line.partition(_RATE)
        id_, _, rate = result.rpartition(" x ")
        # An error without properties of its own is shown as nothing, after the colon and the space.
        if line.endswith(": ") and not line.startswith(" "):
            rows.fail(line.removesuffix(": "), f"{place}: it failed, and shows no result")
        elif is_result and id_.strip():
            with rows.row(id_.strip()) as row:
                if not rest.rstrip().endswith(_ENDS):
                    raise RowError(unread(place, line))
                per_s = number_in(rate.replace(",", ""), place)
                if not 0 < per_s < math.inf:
                    raise RowError(f"{place}: {rate} operations per second are not possible")
                row.series.append(time_summary(1 / per_s, place))
        elif is_result:
            rows.skip(unread(place, line))
        elif line.strip():
            others.append((place, line))
    if not rows.found:
        raise RowError("has no line such as 'NAME x 1,234 ops/sec +-1.00% (9 runs sampled)'")
    rows.skip(*left_out(others))


@reads(
    "deno-bench",
    "deno bench --json > FILE",
    begins(b"{", b'"benches"', b'"runtime"'),
    has_samples=False,
)
def deno_bench(source: ForeignFile, rows: ReadRows) -> None:
    """`deno bench --json`, with the mean time of an iteration in nanoseconds.

    A benchmark belongs to a file. Where the file lies differs between two checkouts, so its id has
    only the name of the file, and more of the path if two files have the same name.
    """
    root = read_json(source)
    nodes = list(root["benches"].each())
    files = _short({node["origin"].text for node in nodes})
    if runtime := root.get("runtime"):  # "Deno/2.9.6 x86_64-unknown-linux-gnu"
        name, _, target = runtime.text.partition(" ")
        rows.version = name.partition("/")[2]
        tools = {RUNTIME: name.replace("/", " ")}
        rows.ran_on(environment(cpu=told(root, "cpu"), machine=target, tools=tools))
    for node in nodes:
        with rows.row() as row:
            group = node.get("group")
            parts = [files[node["origin"].text], group.text if group else "", node["name"].text]
            row.id = " > ".join(part for part in parts if part)
            results = list(node["results"].each())
            if len(results) != 1:
                raise RowError(f"{node.place}.results: there are {len(results)}, not one")
            if failure := results[0].get("failed"):
                raise RowError(f"it failed: {shown(failure['message'].value)}")
            row.time(results[0]["ok"]["avg"], _NS)


def _short(origins: Collection[str]) -> Mapping[str, str]:
    """Name each file so that the names are distinct."""
    names = {origin: origin.rpartition("/")[2] for origin in origins}
    if len(set(names.values())) == len(names):
        return names
    paths = [origin.split("/") for origin in origins]
    steps = zip(*paths, strict=False)
    shared = next((depth for depth, step in enumerate(steps) if len(set(step)) > 1), 0)
    return {origin: "/".join(origin.split("/")[shared:]) for origin in origins}


@reads(
    "mitata",
    'node BENCHMARK.mjs > FILE, with `run({ format: "json" })` in it',
    begins(b"{", b'"runs"', near=(20, b'"layout"')),
)
def mitata(source: ForeignFile, rows: ReadRows) -> None:
    """mitata: `await run({ format: "json" })`, under any runtime, with times in nanoseconds.

    It has the samples unless they are turned off: `{ json: { samples: false } }`. A sample is the
    mean of as many calls as one batch has. The figures on the heap are not read: mitata leaves out
    the batches in which the heap shrank.
    """
    root = read_json(source)
    layout = root.get("layout")  # old versions have no groups
    groups = list(layout.each()) if layout else []
    runtime = f"{told(root, 'context', 'runtime')} {told(root, 'context', 'version')}".strip()
    cpu, arch = told(root, "context", "cpu", "name"), told(root, "context", "arch")
    rows.ran_on(environment(cpu=cpu, machine=arch, tools={RUNTIME: runtime}))
    for trial in root["benchmarks"].each():
        number, alias = trial.get("group"), trial.get("alias")
        group = None
        if number and isinstance(number.value, int) and 0 <= number.value < len(groups):
            group = groups[number.value].get("name")
        for run in trial["runs"].each():
            with rows.row() as row:
                row.id = _mitata_id(group, alias, run)
                if error := run.get("error"):
                    raise RowError(f"it failed: {shown(_message(error))}")
                stats = run["stats"]
                if samples := stats.get("samples"):
                    ticks = stats.get("ticks")
                    calls = ticks.number / max(1, len(samples.list)) if ticks else 1
                    row.samples(samples, loops=usual_loops([calls]), scale=_NS)
                    row.notes.append(SORTED)
                else:
                    row.time(stats["p50"], _NS)


def _mitata_id(group: Node | None, alias: Node | None, run: Node) -> str:
    """The name, in its group; its arguments, unless the name has places for them."""
    name = run["name"].text
    arguments = run.get("args")
    if arguments and alias and alias.value == name:
        named = ",".join(f"{key}={node.value}" for key, node in sorted(arguments.items()))
        name = f"{name}[{named}]" if named else name
    return f"{group.text} > {name}" if group and group.value else name


_TINYBENCH_MARKS = (b'"latency"', b'"totalTime"', b'"state"')


def _is_tinybench(source: ForeignFile) -> bool:
    has_marks = any(mark in source.head for mark in _TINYBENCH_MARKS)
    return has_marks and begins(b"[", b'"result"')(source)


@reads(
    "tinybench",
    "node BENCHMARK.mjs > FILE, with `retainSamples: true` in it, and "
    "`console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))`",
    _is_tinybench,
)
def tinybench(source: ForeignFile, rows: ReadRows) -> None:
    """tinybench: the tasks of a `Bench` as JSON, with the time of every call, in milliseconds.

    tinybench writes no file itself. The script that runs it does, after `bench.run()`:

        JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))

    Since version 6, it has the times only if the option `retainSamples` is set, and otherwise their
    median.
    """
    for node in read_json(source).each():
        with rows.row() as row:
            row.id = node["name"].text
            result = node.get("result")
            if result is None:
                raise RowError("it did not run")
            if error := result.get("error"):
                message = _message(error)
                raise RowError(f"it failed: {shown(message)}" if message else "it threw an error")
            state = result.get("state")
            if state and state.text != "completed":
                raise RowError(f"its state is {state.text!r}")
            latency = result.get("latency") or result
            if samples := latency.get("samples"):
                row.samples(samples, scale=_MS)
                row.notes.append(SORTED)
            else:
                row.time(latency["p50"], _MS)


@reads(
    "vitest",
    "vitest bench --run --outputJson FILE",
    begins(b"{", b'"filepath"', b'"groups"'),
    has_samples=False,
)
def vitest(source: ForeignFile, rows: ReadRows) -> None:
    """vitest: `vitest bench --run --outputJson FILE`, with the median time of a call, in ms.

    vitest never writes the times of single calls into this file, even with `includeSamples`.
    Skipped benchmarks are not in it.
    """
    for file in read_json(source)["files"].each():
        for group in file["groups"].each():
            name = group["fullName"].text  # the file and the names of its `describe` blocks
            for node in group["benchmarks"].each():
                with rows.row(name) as row:
                    row.id = f"{name} > {node['name'].text}"
                    median = node.get("median")
                    if median is None:
                        raise RowError("it has no times: it threw an error, or did not run")
                    row.time(median, _MS)
