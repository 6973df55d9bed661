"""divan: the tree that `cargo bench` prints, with a row of times for each benchmark.

Only the median is read. Below it, there may be rates, and what was allocated. What a benchmark
prints itself may stand between its name and its times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import read_lines
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
)
from benchgate.formats.quantities import amount_in, time_in
from benchgate.model.run import TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "divan"
ADVICE = Advice("cargo bench > FILE", has_samples=False)

_COLUMNS = ("fastest", "slowest", "median", "mean", "samples", "iters")
_TREE = re.compile(r"((?:\u2502 {2}| {3})*)(\u251c\u2500 |\u2570\u2500 )?(.*)")
_BRANCH = re.compile(r"[\u251c\u2570]\u2500 ")
_DEPTH = 3
_IGNORED = "(ignored)"
_TIME = Metric(TIME.name, TIME.unit, kind=Kind.SUMMARY)
_RATES = {
    "B/s": Metric("throughput", "B/s", Better.HIGHER, Kind.SUMMARY),
    "item/s": Metric("items_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "char/s": Metric("chars_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "Hz": Metric("cycles_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
}
_ALLOCATIONS = ("max alloc:", "alloc:", "grow:", "dealloc:", "shrink:")
_READ_ALLOCATIONS = frozenset({"max alloc:", "alloc:", "grow:"})


def sniff(source: Source) -> bool:
    """Whether the content is what divan printed."""
    head = source.head.decode(errors="replace")
    return any(_program_in(line) for line in head.split("\n"))


def parse(source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it has no benchmark.
    """
    output = _DivanOutput()
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    if not output.found:
        raise source.error("", "has no row of a benchmark below 'fastest | slowest | median'")
    return Reading(NAME, distinct(NAME, map(_benchmark, output.found)), tuple(output.skipped))


@dataclass(slots=True)
class _DivanRow:
    """What was printed about a benchmark."""

    id: str
    place: str
    figures: dict[Metric, float] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _DivanOutput:
    """What was printed so far.

    Attributes:
        found: what was printed about each benchmark.
        skipped: what is not read, and why.
    """

    found: list[_DivanRow] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _started: str = ""
    _place: str = ""
    _last: _DivanRow | None = None
    _allocation: str = ""

    def add(self, place: str, line: str) -> None:
        """Read the next line."""
        if program := _program_in(line):
            self.end()
            self._names = [program]
            return
        tree = _TREE.match(line)
        if tree is None:
            return
        if not self._names:
            if line.count("\u2502") >= len(_COLUMNS) - 1:
                self.skipped.append(f"{place}: the result cannot be read: {shown(line.strip())}")
            return
        if _BRANCH.search(tree[3]):  # the row of another benchmark, at an unknown depth
            self.end()
            self.skipped.append(f"{place}: the result cannot be read: {shown(line.strip())}")
            return
        prefix, branch, rest = tree.groups()
        cells = [cell.strip() for cell in rest.split("\u2502")]
        if branch:
            self.end()
            name, _, first = rest.partition("  ")
            self._names[len(prefix) // _DEPTH + 1 :] = [name.split("\u2502", maxsplit=1)[0].strip()]
            self._started, self._place = "::".join(self._names), place
            cells[0] = first.partition("\u2502")[0].strip()
        self._row(place, cells, line)

    def end(self) -> None:
        """Note that no row of the last benchmark comes any more."""
        if self._started:
            why = f"{self._place}: it printed no result"
            self.found.append(_DivanRow(self._started, self._place, error=why))
        self._started, self._last, self._allocation = "", None, ""

    def _row(self, place: str, cells: list[str], line: str) -> None:
        is_whole = len(cells) >= len(_COLUMNS)
        cells = cells[-len(_COLUMNS) :]  # Before them may be what the benchmark printed.
        if self._started and is_whole and not any(cells[1:]):
            if cells[0].endswith(_IGNORED):
                self.skipped.append(f"{self._started}: divan ignored it")
            if not cells[0] or cells[0].endswith(_IGNORED):
                self._started = ""  # a group, or what is ignored
        elif self._started and is_whole:
            self._last = _DivanRow(self._started, place)
            self.found.append(self._last)
            self._started = ""
            self._read(place, line, lambda: {_TIME: time_in(cells[2], place)})
        elif self._last and cells[0] in _ALLOCATIONS:
            self._allocation = cells[0]
        elif self._last and is_whole and cells[2]:
            self._read(place, line, lambda: self._below(cells[2], place))
        elif self._last and len(cells) > 1 and any(cells):
            self._last.error = f"{place}: the result cannot be read: {shown(line.strip())}"

    def _read(self, place: str, line: str, read: Callable[[], dict[Metric, float]]) -> None:
        if self._last is None or self._last.error:
            return
        try:
            found = read()
        except RowError as error:
            self._last.error = f"{error}: {shown(line.strip())}"
            return
        if any(metric in self._last.figures for metric in found):
            self._last.error = f"{place}: the row is there twice: {shown(line.strip())}"
        self._last.figures |= found

    def _below(self, text: str, place: str) -> dict[Metric, float]:
        value, unit = amount_in(text, place)
        if unit in _RATES:
            return {_RATES[unit]: value}
        if unit not in {"", "B"} or not self._allocation:
            raise RowError(f"{place}: {shown(text)} is neither a rate nor an allocation")
        what = "bytes" if unit else "count"
        name = f"{self._allocation.rstrip(':').replace(' ', '_')}_{what}"
        known = self._allocation in _READ_ALLOCATIONS
        return {Metric(name, unit, kind=Kind.SUMMARY): value} if known else {}


def _program_in(line: str) -> str:
    """The name of the program in the line with the names of the columns; "" if it is another."""
    name, _, rest = line.partition(f"  {_COLUMNS[0]} ")
    columns = tuple(cell.strip() for cell in f"{_COLUMNS[0]} {rest}".split("\u2502"))
    return name.strip() if columns == _COLUMNS else ""


def _benchmark(found: _DivanRow) -> BenchmarkResult:
    if found.error:
        return failed(NAME, found.id, found.error)
    try:
        series = [
            sampled(metric, [[value]], f"{found.place}: {metric.name}")
            for metric, value in found.figures.items()
        ]
        return benchmark(NAME, found.id, series)
    except RowError as error:
        return failed(NAME, found.id, str(error))
