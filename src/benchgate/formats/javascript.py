"""Formats of JavaScript: benchmark.js, deno bench, mitata, tinybench and vitest.

suite.on("cycle", event => console.log(String(event.target)))

A failed benchmark has a line with its name and often nothing else.

A benchmark belongs to a file. Where the file lies differs between two checkouts, so its id has
only the name of the file, and more of the path if two files have the same name.

It has the samples unless they are turned off: `{ json: { samples: false } }`. A sample is the mean
of as many calls as one batch has. The figures on the heap are not read: mitata leaves out the
batches in which the heap shrank.

tinybench writes no file itself. The script that runs it does, after `bench.run()`:

    JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))

Since version 6, it has the times only if the option `retainSamples` is set, and otherwise their
median.

vitest never writes the times of single calls into this file, even with `includeSamples`. Skipped
benchmarks are not in it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.formats.contents import left_out, number_in, read_json, read_lines
from benchgate.formats.parsed import (
    SORTED,
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    time_summary,
    times,
    usual_loops,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult


_BJS_NAME = "benchmark.js"
_BJS_ADVICE = Advice("node SUITE.js > FILE", has_samples=False)

_UNIT = " ops/sec"
_ENDS = ("run sampled)", "runs sampled)")


def _is_bjs(source: Source) -> bool:
    """Whether the content is that of benchmark.js."""
    head = source.head
    return _UNIT.encode() in head and any(end.encode() in head for end in _ENDS)


def _parse_bjs(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is no text, or has no line with a result.
    """
    rows, others, unread = [], [], []
    for place, line in read_lines(source):
        if row := _bjs_row(line, place):
            rows.append(row)
        elif _UNIT in line:
            unread.append(f"{place}: the result cannot be read: {shown(line.strip())}")
        elif line.strip():
            others.append((place, line))
    if not rows:
        raise source.error(
            "", "has no line such as 'NAME x 1,234 ops/sec +-1.00% (9 runs sampled)'"
        )
    return Reading(_BJS_NAME, distinct(_BJS_NAME, rows), (*unread, *left_out(others)))


def _bjs_row(line: str, place: str) -> BenchmarkResult | None:
    """Read a line; None if it is not about a benchmark."""
    # An error without properties of its own is shown as nothing, after the colon and the space.
    if line.endswith(": ") and not line.startswith(" "):
        return failed(
            _BJS_NAME, line.removesuffix(": "), f"{place}: it failed, and shows no result"
        )
    result, _, rest = line.partition(_UNIT)
    id_, _, rate = result.rpartition(" x ")
    id_ = id_.strip()
    if not id_ or _UNIT not in line:
        return None
    try:
        if not rest.rstrip().endswith(_ENDS):
            return failed(
                _BJS_NAME, id_, f"{place}: the result cannot be read: {shown(line.strip())}"
            )
        per_s = number_in(rate.replace(",", ""), place)
        if not 0 < per_s < math.inf:
            return failed(_BJS_NAME, id_, f"{place}: {rate} operations per second are not possible")
        return benchmark(_BJS_NAME, id_, [time_summary(1 / per_s, place)])
    except RowError as error:
        return failed(_BJS_NAME, id_, str(error))


BENCHMARK_JS = ForeignFormat(_BJS_NAME, _BJS_ADVICE, _is_bjs, _parse_bjs)


_DENO_NAME = "deno-bench"
_DENO_ADVICE = Advice("deno bench --json > FILE", has_samples=False)

_DENO_UNIT_S = 1e-9


def _is_deno(source: Source) -> bool:
    """Whether the content is that of deno bench."""
    head = source.head
    return head.startswith(b"{") and b'"benches"' in head and b'"runtime"' in head


def _parse_deno(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks with their files.
    """
    root = read_json(source)
    try:
        rows = list(root["benches"].each())
        files = _short({row["origin"].text for row in rows})
        runtime = root.get("runtime")
        # "Deno/2.9.6 x86_64-unknown-linux-gnu"
        version = runtime.text.partition(" ")[0].partition("/")[2] if runtime else ""
    except RowError as error:
        raise source.error("", str(error)) from None
    tool = f"{_DENO_NAME} {version}".rstrip()
    return Reading(tool, distinct(_DENO_NAME, (_deno_row(files, row) for row in rows)))


def _short(origins: Collection[str]) -> Mapping[str, str]:
    """Name each file so that the names are distinct."""
    names = {origin: origin.rpartition("/")[2] for origin in origins}
    if len(set(names.values())) == len(names):
        return names
    paths = [origin.split("/") for origin in origins]
    steps = zip(*paths, strict=False)
    shared = next((depth for depth, step in enumerate(steps) if len(set(step)) > 1), 0)
    return {origin: "/".join(origin.split("/")[shared:]) for origin in origins}


def _deno_row(files: Mapping[str, str], row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        group = row.get("group")
        parts = [files[row["origin"].text], group.text if group else "", row["name"].text]
        id_ = " > ".join(part for part in parts if part)
        results = list(row["results"].each())
        if len(results) != 1:
            return failed(
                _DENO_NAME, id_, f"{row.place}.results: there are {len(results)}, not one"
            )
        if failure := results[0].get("failed"):
            return failed(_DENO_NAME, id_, f"it failed: {shown(failure['message'].value)}")
        mean = results[0]["ok"]["avg"]
        return benchmark(_DENO_NAME, id_, [time_summary(mean.number * _DENO_UNIT_S, mean.place)])
    except RowError as error:
        return failed(_DENO_NAME, id_, str(error))


DENO_BENCH = ForeignFormat(_DENO_NAME, _DENO_ADVICE, _is_deno, _parse_deno)


_MITATA_NAME = "mitata"
_MITATA_ADVICE = Advice('node BENCHMARK.mjs > FILE, with `run({ format: "json" })` in it')

_MITATA_UNIT_S = 1e-9


def _is_mitata(source: Source) -> bool:
    """Whether the content is that of mitata."""
    head = source.head
    return head.startswith(b"{") and b'"layout"' in head[:20] and b'"runs"' in head


def _parse_mitata(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks with runs.
    """
    try:
        return Reading(_MITATA_NAME, distinct(_MITATA_NAME, _mitata_rows(read_json(source))))
    except RowError as error:
        raise source.error("", str(error)) from None


def _mitata_rows(root: Node) -> Iterator[BenchmarkResult]:
    layout = root.get("layout")  # old versions have no groups
    groups = list(layout.each()) if layout else []
    for trial in root["benchmarks"].each():
        alias = trial.get("alias")
        for run in trial["runs"].each():
            yield _mitata_row(_group(groups, trial), alias, run)


def _group(groups: list[Node], trial: Node) -> Node | None:
    """The name of the group of a benchmark; None if it has none."""
    number = trial.get("group")
    if number is None or not isinstance(number.value, int):
        return None
    return groups[number.value].get("name") if 0 <= number.value < len(groups) else None


def _mitata_row(group: Node | None, alias: Node | None, run: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = _id(group, alias, run)
        if error := run.get("error"):
            message = error.value.get("message") if isinstance(error.value, dict) else error.value
            return failed(_MITATA_NAME, id_, f"it failed: {shown(message)}")
        stats = run["stats"]
        if samples := stats.get("samples"):
            ticks = stats.get("ticks")
            loops = usual_loops([ticks.number / max(1, len(samples.list))]) if ticks else 1
            series = times([samples.list], samples.place, loops=loops, scale=_MITATA_UNIT_S)
            return benchmark(_MITATA_NAME, id_, [series], notes=[SORTED])
        median = stats["p50"]
        return benchmark(
            _MITATA_NAME, id_, [time_summary(median.number * _MITATA_UNIT_S, median.place)]
        )
    except RowError as error:
        return failed(_MITATA_NAME, id_, str(error))


def _id(group: Node | None, alias: Node | None, run: Node) -> str:
    """The name, in its group; its arguments, unless the name has places for them."""
    name = run["name"].text
    arguments = run.get("args")
    if arguments and alias and alias.value == name:
        named = ",".join(f"{key}={node.value}" for key, node in sorted(arguments.items()))
        name = f"{name}[{named}]" if named else name
    return f"{group.text} > {name}" if group and group.value else name


MITATA = ForeignFormat(_MITATA_NAME, _MITATA_ADVICE, _is_mitata, _parse_mitata)


_TINYBENCH_NAME = "tinybench"
_TINYBENCH_ADVICE = Advice("node BENCHMARK.mjs > FILE, with `retainSamples: true` in it")
UNIT_S = 1e-3

_MARKS = (b'"latency"', b'"totalTime"', b'"state"')


def _is_tinybench(source: Source) -> bool:
    """Whether the content is that of tinybench."""
    head = source.head
    return head.startswith(b"[") and b'"result"' in head and any(mark in head for mark in _MARKS)


def _parse_tinybench(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    try:
        rows = list(read_json(source).each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(_TINYBENCH_NAME, distinct(_TINYBENCH_NAME, map(_tinybench_row, rows)))


def _tinybench_row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["name"].text
        result = row.get("result")
        if result is None:
            return failed(_TINYBENCH_NAME, id_, "it did not run")
        if why := _failure(result):
            return failed(_TINYBENCH_NAME, id_, why)
        latency = result.get("latency") or result
        if samples := latency.get("samples"):
            series = times([samples.list], samples.place, scale=UNIT_S)
            return benchmark(_TINYBENCH_NAME, id_, [series], notes=[SORTED])
        median = latency["p50"]
        return benchmark(_TINYBENCH_NAME, id_, [time_summary(median.number * UNIT_S, median.place)])
    except RowError as error:
        return failed(_TINYBENCH_NAME, id_, str(error))


def _failure(result: Node) -> str | None:
    """Why a task has no complete measurement; None if it has one."""
    if error := result.get("error"):
        # An error object is {} in JSON, unless the script makes text of it.
        message = error.value.get("message") if isinstance(error.value, dict) else error.value
        return f"it failed: {shown(message)}" if message else "it threw an error"
    state = result.get("state")
    return f"its state is {state.text!r}" if state and state.text != "completed" else None


TINYBENCH = ForeignFormat(_TINYBENCH_NAME, _TINYBENCH_ADVICE, _is_tinybench, _parse_tinybench)


_VITEST_NAME = "vitest"
_VITEST_ADVICE = Advice("vitest bench --run --outputJson FILE", has_samples=False)


def _is_vitest(source: Source) -> bool:
    """Whether the content is that of vitest."""
    head = source.head
    return head.startswith(b"{") and b'"filepath"' in head and b'"groups"' in head


def _parse_vitest(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of files with groups of benchmarks.
    """
    try:
        return Reading(_VITEST_NAME, distinct(_VITEST_NAME, _vitest_rows(read_json(source))))
    except RowError as error:
        raise source.error("", str(error)) from None


def _vitest_rows(root: Node) -> Iterator[BenchmarkResult]:
    for file in root["files"].each():
        for group in file["groups"].each():
            name = group["fullName"].text  # the file and the names of its `describe` blocks
            for row in group["benchmarks"].each():
                yield _vitest_row(name, row)


def _vitest_row(group: str, row: Node) -> BenchmarkResult:
    id_ = group
    try:
        id_ = f"{group} > {row['name'].text}"
        median = row.get("median")
        if median is None:
            return failed(_VITEST_NAME, id_, "it has no times: it threw an error, or did not run")
        return benchmark(_VITEST_NAME, id_, [time_summary(median.number * UNIT_S, median.place)])
    except RowError as error:
        return failed(_VITEST_NAME, id_, str(error))


VITEST = ForeignFormat(_VITEST_NAME, _VITEST_ADVICE, _is_vitest, _parse_vitest)
