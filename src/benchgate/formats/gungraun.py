"""What gungraun prints under `cargo bench`: counts of instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.contents import (
    RowError,
    number_in,
    read_lines,
    unread,
)
from benchgate.formats.origin import built_by_cargo
from benchgate.formats.rows import reads
from benchgate.model.metrics import INSTRUCTIONS, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows


_METRICS = {
    "Instructions": INSTRUCTIONS,
    "Estimated Cycles": Metric("estimated_cycles", "", kind=Kind.SUMMARY),
}
# The arguments after the id may be cut off, so they are no part of it.
_HEADER = re.compile(r"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+(?: [A-Za-z_]\w*(?=:|$))?)(?::(?!:).*)?")
_COUNT = re.compile(rf"[ |-]*({'|'.join(_METRICS)}):\s*([^|]*)\|")
_LOOKS_LIKE_ONE = re.compile(rf"({'|'.join(_METRICS)}):")
_TOOL = "  ======= "
_PART = "  ## pid: "
_TOTAL = "  ## Total"
_EARLIER = ("  Comparison with ", "|-Comparison with ")
_END_OF_OUTPUT = "- end of std"
_GUNGRAUN_RESULT = re.compile(
    rb"^(?:Iai-Callgrind|Gungraun) result: |^  (?:Instructions|Estimated Cycles): +\S*\|",
    re.MULTILINE,
)


@reads(
    "gungraun",
    "cargo bench > FILE",
    lambda source: _GUNGRAUN_RESULT.search(source.head) is not None,
    has_samples=False,
)
def gungraun(source: ForeignFile, rows: ReadRows) -> None:
    """gungraun, which was iai-callgrind: the counts that `cargo bench` prints for each benchmark.

    Of each benchmark, the instructions and the estimated cycles are read, from the first tool that
    counts them. How often the caches were hit is in the cycles: alone, a few hits more are noise.
    If there are several threads or processes, the total counts. What an earlier run counted is not
    read.
    """
    output = _GungraunOutput(rows)
    rows.ran_on(built_by_cargo(source))
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    for one in output.found:
        if not one.figures and not one.error:
            rows.skip(f"{one.id}: has neither {' nor '.join(_METRICS)}")
            continue
        with rows.row(one.id) as row:
            if one.error:
                raise RowError(one.error)
            if one.parts > 1:
                raise RowError(f"{one.place}: there is no total of its {one.parts} parts")
            for key, value in one.figures.items():
                row.value(_METRICS[key], value, f"{one.place}: {key}")
    if not rows.found:
        raise RowError("has no counts of a benchmark; expected lines such as 'Instructions:'")


@dataclass(slots=True)
class _GungraunRow:
    """What was printed about a benchmark.

    Attributes:
        figures: by the key of each count.
        parts: processes and threads, as long as no total of them was printed.
        has_total: whether the total was printed.
        is_over: whether what follows is of another tool, or an earlier benchmark.
        seen: the keys since the last line that begins a part.
    """

    id: str
    place: str
    figures: dict[str, float] = field(default_factory=dict)
    error: str = ""
    parts: int = 0
    has_total: bool = False
    is_over: bool = False
    seen: set[str] = field(default_factory=set)

    def begin_part(self, line: str) -> None:
        self.seen.clear()
        if line.startswith(_EARLIER) or (line.startswith(_TOOL) and self.figures):
            self.is_over = True
        elif line.startswith(_PART) and not self.has_total:
            self.parts += 1
        elif line.startswith(_TOTAL) and not (self.has_total or self.is_over):
            self.figures.clear()
            self.parts, self.has_total = 0, True


@dataclass(slots=True)
class _GungraunOutput:
    rows: ReadRows
    found: list[_GungraunRow] = field(default_factory=list)
    _named: list[tuple[str, str]] = field(default_factory=list)
    _is_open: bool = False

    def add(self, place: str, line: str) -> None:
        if header := _HEADER.fullmatch(line):
            self._named.append((header[1], place))
            self._look(place, line)
        elif line.startswith(_END_OF_OUTPUT):
            # What a program prints may look like a name.
            del self._named[0 if self._is_open else 1 :]
        elif line.startswith((_TOOL, _PART, _TOTAL, *_EARLIER)):
            self._open()
            if self.found:
                self.found[-1].begin_part(line)
            self._look(place, line)
        elif count := _COUNT.match(line):
            self._open()
            self._is_open = False
            self._count(place, line, *count.groups())
        else:
            self._look(place, line)

    def end(self) -> None:
        """Note that no count comes any more."""
        for id_, place in self._named:
            self.found.append(_GungraunRow(id_, place, error=f"{place}: it printed no result"))
        self._named.clear()

    def _look(self, place: str, line: str) -> None:
        """Keep that a count stands where none can be read."""
        if _LOOKS_LIKE_ONE.search(line):
            self._open()
            self._unread(place, line)

    def _open(self) -> None:
        """Begin with what is about the last name."""
        if self._named:
            name = self._named.pop()
            self.end()
            self.found.append(_GungraunRow(*name))
            self._is_open = True

    def _count(self, place: str, line: str, key: str, text: str) -> None:
        found = self.found[-1] if self.found else None
        if found and key in found.seen:  # whose it is, nobody knows
            self.rows.skip(unread(place, line))
            return
        if found:
            found.seen.add(key)
            if found.is_over:
                return
        try:
            value = number_in(text.strip(), place)
        except RowError:
            value = -1
        if found is None or value < 0:
            self._unread(place, line)
        else:
            found.figures.setdefault(key, value)

    def _unread(self, place: str, line: str) -> None:
        if not self.found:
            self.rows.skip(unread(place, line))
        elif not self.found[-1].is_over:
            self.found[-1].error = self.found[-1].error or unread(place, line)
