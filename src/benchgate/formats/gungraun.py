"""gungraun, which was iai-callgrind: the counts that `cargo bench` prints for each benchmark.

Of each benchmark, the instructions and the estimated cycles are read, from the first tool that
counts them. How often the caches were hit is in the cycles: alone, a few hits more are noise. If
there are several threads or processes, the total counts. What an earlier run counted is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import number_in, read_lines
from benchgate.formats.parsed import Reading, RowError, benchmark, distinct, failed, sampled, shown
from benchgate.model.run import INSTRUCTIONS, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "gungraun"
ADVICE = Advice("cargo bench > FILE", has_samples=False)

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
_SEVERAL = 2
_TOTAL = "  ## Total"
_EARLIER = ("  Comparison with ", "|-Comparison with ")
_END_OF_OUTPUT = "- end of std"
_RESULT = re.compile(
    rb"^(?:Iai-Callgrind|Gungraun) result: |^  (?:Instructions|Estimated Cycles): +\S*\|",
    re.MULTILINE,
)


def sniff(source: Source) -> bool:
    """Whether the content is what gungraun printed."""
    return _RESULT.search(source.head) is not None


def parse(source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it has no benchmark.
    """
    output = _GungraunOutput()
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    rows, skipped = [], output.skipped
    for found in output.found:
        if found.figures or found.error:
            rows.append(_benchmark(found))
        else:
            skipped.append(f"{found.id}: has neither {' nor '.join(_METRICS)}")
    if not rows:
        raise source.error(
            "", "has no counts of a benchmark; expected lines such as 'Instructions:'"
        )
    return Reading(NAME, distinct(NAME, rows), tuple(skipped))


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


@dataclass(slots=True)
class _GungraunOutput:
    """What was printed so far.

    Attributes:
        found: what was printed about each benchmark.
        skipped: what is not read, and why.
    """

    found: list[_GungraunRow] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _named: list[tuple[str, str]] = field(default_factory=list)
    _is_open: bool = False

    def add(self, place: str, line: str) -> None:
        """Read the next line."""
        if header := _HEADER.fullmatch(line):
            self._named.append((header[1], place))
            self._look(place, line)
        elif line.startswith(_END_OF_OUTPUT):
            # What a program prints may look like a name.
            del self._named[0 if self._is_open else 1 :]
        elif line.startswith((_TOOL, _PART, _TOTAL, *_EARLIER)):
            self._open()
            if self.found:
                _mark(self.found[-1], line)
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
            self.skipped.append(f"{place}: the result cannot be read: {shown(line.strip())}")
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
        unread = f"{place}: the result cannot be read: {shown(line.strip())}"
        if self.found and not self.found[-1].is_over:
            self.found[-1].error = self.found[-1].error or unread
        elif not self.found:
            self.skipped.append(unread)


def _mark(found: _GungraunRow, line: str) -> None:
    """Note which part of a benchmark begins."""
    found.seen.clear()
    if line.startswith(_EARLIER) or (line.startswith(_TOOL) and found.figures):
        found.is_over = True
    elif line.startswith(_PART) and not found.has_total:
        found.parts += 1
    elif line.startswith(_TOTAL) and not (found.has_total or found.is_over):
        found.figures.clear()
        found.parts, found.has_total = 0, True


def _benchmark(found: _GungraunRow) -> BenchmarkResult:
    error = found.error
    if not error and found.parts >= _SEVERAL:
        error = f"{found.place}: there is no total of its {found.parts} parts"
    if error:
        return failed(NAME, found.id, error)
    try:
        series = [
            sampled(_METRICS[key], [[value]], f"{found.place}: {key}")
            for key, value in found.figures.items()
        ]
        return benchmark(NAME, found.id, series)
    except RowError as wrong:
        return failed(NAME, found.id, str(wrong))
