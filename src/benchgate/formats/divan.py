"""What divan prints under `cargo bench`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.contents import (
    RowError,
    amount_in,
    read_lines,
    shown,
    time_in,
    unread,
)
from benchgate.formats.origin import built_by_cargo
from benchgate.formats.rows import MEAN_TIME, reads
from benchgate.model.metrics import Better, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows


_COLUMNS = ("fastest", "slowest", "median", "mean", "samples", "iters")
_TREE = re.compile(r"((?:\u2502 {2}| {3})*)(\u251c\u2500 |\u2570\u2500 )?(.*)")
_BRANCH = re.compile(r"[\u251c\u2570]\u2500 ")
_DEPTH = 3
_IGNORED = "(ignored)"
_RATES = {
    "B/s": Metric("throughput", "B/s", Better.HIGHER, Kind.SUMMARY),
    "item/s": Metric("items_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "char/s": Metric("chars_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "Hz": Metric("cycles_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
}
_ALLOCATIONS = ("max alloc:", "alloc:", "grow:", "dealloc:", "shrink:")
_READ_ALLOCATIONS = frozenset({"max alloc:", "alloc:", "grow:"})


def _is_divan(source: ForeignFile) -> bool:
    head = source.head.decode(errors="replace")
    return any(_program_in(line) for line in head.split("\n"))


@reads("divan", "cargo bench > FILE", _is_divan, has_samples=False)
def divan(source: ForeignFile, rows: ReadRows) -> None:
    """divan: the tree that `cargo bench` prints, with a row of times for each benchmark.

    Only the median is read. Below it, there may be rates, and what was allocated. What a benchmark
    prints itself may stand between its name and its times.
    """
    output = _DivanOutput(rows)
    rows.ran_on(built_by_cargo(source))
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    if not output.found:
        raise RowError("has no row of a benchmark below 'fastest | slowest | median'")
    for one in output.found:
        with rows.row(one.id) as row:
            if one.error:
                raise RowError(one.error)
            for metric, value in one.figures.items():
                row.value(metric, value, f"{one.place}: {metric.name}")


@dataclass(slots=True)
class _DivanRow:
    id: str
    place: str
    figures: dict[Metric, float] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _DivanOutput:
    rows: ReadRows
    found: list[_DivanRow] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _started: str = ""
    _place: str = ""
    _last: _DivanRow | None = None
    _allocation: str = ""

    def add(self, place: str, line: str) -> None:
        if program := _program_in(line):
            self.end()
            self._names = [program]
            return
        tree = _TREE.match(line)
        if tree is None:
            return
        if not self._names:
            if line.count("\u2502") >= len(_COLUMNS) - 1:
                self.rows.skip(unread(place, line))
            return
        if _BRANCH.search(tree[3]):  # the row of another benchmark, at an unknown depth
            self.end()
            self.rows.skip(unread(place, line))
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
                self.rows.skip(f"{self._started}: divan ignored it")
            if not cells[0] or cells[0].endswith(_IGNORED):
                self._started = ""  # a group, or what is ignored
        elif self._started and is_whole:
            self._last = _DivanRow(self._started, place)
            self.found.append(self._last)
            self._started = ""
            self._read(self._last, place, cells[2], line)
        elif self._last and cells[0] in _ALLOCATIONS:
            self._allocation = cells[0]
        elif self._last and is_whole and cells[2]:
            self._read(self._last, place, cells[2], line)
        elif self._last and len(cells) > 1 and any(cells):
            self._last.error = unread(place, line)

    def _read(self, row: _DivanRow, place: str, text: str, line: str) -> None:
        if row.error:
            return
        try:
            metric, value = self._figure(row, text, place)
        except RowError as error:
            row.error = f"{error}: {shown(line.strip())}"
            return
        if metric in row.figures:
            row.error = f"{place}: the row is there twice: {shown(line.strip())}"
        elif metric:
            row.figures[metric] = value

    def _figure(self, row: _DivanRow, text: str, place: str) -> tuple[Metric | None, float]:
        """A median: first of the times, then of what is below them."""
        if not row.figures:
            return MEAN_TIME, time_in(text, place)
        value, unit = amount_in(text, place)
        if unit in _RATES:
            return _RATES[unit], value
        if unit not in {"", "B"} or not self._allocation:
            raise RowError(f"{place}: {shown(text)} is neither a rate nor an allocation")
        if self._allocation not in _READ_ALLOCATIONS:
            return None, value
        name = f"{self._allocation.rstrip(':').replace(' ', '_')}_{'bytes' if unit else 'count'}"
        return Metric(name, unit, kind=Kind.EXACT), value


def _program_in(line: str) -> str:
    """The name of the program in the line with the names of the columns; "" if it is another."""
    name, _, rest = line.partition(f"  {_COLUMNS[0]} ")
    columns = tuple(cell.strip() for cell in f"{_COLUMNS[0]} {rest}".split("\u2502"))
    return name.strip() if columns == _COLUMNS else ""
