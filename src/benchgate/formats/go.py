"""go: what `go test -bench` prints, as text or with -json.

With -count, a benchmark has several results from one process; a file with the output of several
runs has several processes. A line `Unit UNIT better=higher` says which direction of a unit is
better. Without it, higher is better for a rate per second, and lower for everything else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

from benchgate.formats.best_input import APPEND, Advice
from benchgate.formats.go_output import Output
from benchgate.formats.lines import plain_lines, read_lines
from benchgate.formats.means import usual_loops
from benchgate.formats.nodes import read_json_lines
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
)
from benchgate.model.run import TIME, Better, Metric
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.formats.go_output import Result
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "go"
ADVICE = Advice("go test -run=NONE -bench=. -count=10 ./... > FILE", launches=APPEND)

_RESULT = re.compile(
    rb"goos: \w+\r?\ngoarch: |^Benchmark\S*[ \t]+\d+[ \t]+[\d.]+ ns/op", re.MULTILINE
)
_EVENT = re.compile(rb'^\{(?=[^\n]*"Action":)(?=[^\n]*(?:"Package"|"ImportPath"):)', re.MULTILINE)
_PROCS = re.compile(r"-\d+$")
# Of the units that Go itself prints, the metric and the size of the unit.
_KNOWN = {
    "ns/op": (TIME, 1e-9),
    "MB/s": (Metric("throughput", "B/s", Better.HIGHER), 1e6),
    "B/op": (Metric("B/op", "B"), 1.0),
    "allocs/op": (Metric("allocs/op", ""), 1.0),
}


def sniff(source: Source) -> bool:
    """Whether the content is what go test printed."""
    return _are_events(source) or _RESULT.search(source.head) is not None


def _are_events(source: Source) -> bool:
    """Whether it is the output of -json; a line before it may be that of make or npm."""
    return _EVENT.search(source.head) is not None


def parse(source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it is not text, or has no benchmark.
    """
    output = Output()
    if source.head.startswith(b"{") or _are_events(source):
        _read_events(source, output)
    else:
        for place, line in read_lines(source):
            output.add(place, line)
        output.end()
    if not output.results:
        raise source.error("", "has no result of a benchmark; expected lines of go test -bench")
    return Reading(NAME, distinct(NAME, _rows(output)), tuple(output.skipped))


def _read_events(source: Source, output: Output) -> None:
    """Read the events of -json; a line of the output may be in several of them."""
    printed: dict[str, list[str]] = defaultdict(list)
    others = []
    for number, node in read_json_lines(source):
        event = node.value if node else None
        if not isinstance(event, dict):
            others.append(number)
        elif event.get("Action") == "output":
            printed[str(event.get("Package", ""))].append(str(event.get("Output", "")))
    if others:
        more = f" and {counted(len(others) - 1, 'later line')}" if len(others) > 1 else ""
        verb = "are not events" if more else "is not an event"
        output.skipped.append(f"line {others[0]}{more} {verb} of go test -json")
    for package, parts in printed.items():
        output.package = package
        for line in plain_lines("".join(parts)):
            output.add(f"package {package}", line)
        output.end()


def _rows(output: Output) -> Iterator[BenchmarkResult]:
    procs = _procs(output)
    results: dict[str, list[Result]] = defaultdict(list)
    failures: dict[str, list[str]] = {}
    for key, found in output.results.items():
        id_ = str(key).removesuffix(procs)
        results[id_] += found
        if key in output.failures:
            failures.setdefault(id_, output.failures[key])
    names = sorted(failures)
    for id_, found in results.items():
        if id_ not in failures:
            yield _benchmark(id_, found, output.better)
        elif not _is_parent(id_, names):  # then it failed because a part of it did
            yield failed(NAME, id_, "\n".join(failures[id_]))


def _procs(output: Output) -> str:
    """The number of processors at the end of every name; "" if it differs, as with -cpu 1,2."""
    read = [key for key, results in output.results.items() if results]
    ends = (_PROCS.search(key.name) for key in read or output.results)
    found = {end[0] if end else "" for end in ends}
    return found.pop() if len(found) == 1 else ""


def _is_parent(name: str, names: list[str]) -> bool:
    """Whether one of the sorted names is that of a part of this benchmark."""
    start = f"{name}/"
    after = bisect_left(names, start)
    return after < len(names) and names[after].startswith(start)


def _benchmark(id_: str, results: list[Result], better: Mapping[str, Better]) -> BenchmarkResult:
    units = dict.fromkeys(unit for result in results for unit in result.values)
    try:
        series = [_series(unit, results, better.get(unit)) for unit in units]
        guessed = (unit for unit in units if unit not in better and unit not in _KNOWN)
        return benchmark(NAME, id_, series, notes=map(_note, guessed))
    except RowError as error:
        return failed(NAME, id_, str(error))


def _series(unit: str, results: list[Result], better: Better | None) -> Series:
    metric, scale = _KNOWN.get(unit) or _custom(unit, better)
    processes: dict[int, list[Result]] = defaultdict(list)
    for result in results:
        if unit in result.values:
            processes[result.process].append(result)
    return sampled(
        metric,
        [[result.values[unit] * scale for result in each] for each in processes.values()],
        [f"{each[0].place}: {unit}" for each in processes.values()],
        loops=usual_loops([result.loops for each in processes.values() for result in each]),
    )


def _custom(unit: str, better: Better | None) -> tuple[Metric, float]:
    """The metric of a unit of the benchmark's own."""
    direction = better or (Better.HIGHER if unit.endswith("/s") else Better.LOWER)
    amount = unit.partition("/")[0]
    if amount == "ns" or amount.endswith("-ns"):
        return Metric(unit, "s", direction), 1e-9
    return Metric(unit, "B" if amount == "B" else unit, direction), 1.0


def _note(unit: str) -> str:
    better = _custom(unit, None)[0].better
    stated = f"a line 'Unit {unit} better=higher' or 'better=lower' in the output says which"
    return f"{unit}: benchgate assumes that {better} is better; {stated}"
