"""What a benchmark of Criterion.rs prints for people: an interval of the time, and of a rate.

    fib 20                  time:   [26.029 us 26.251 us 26.505 us]

A longer id has a line of its own. The number in the middle is read. Lines about the change since
the last run look like this, too; they have percentages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.lines import read_lines
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    summary,
    time_summary,
)
from benchgate.formats.quantities import amount_in, time_in
from benchgate.model.run import Better

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

_TIME = "time:   ["
_RATE = "thrpt:  ["
_LINE = re.compile(rb"(?:^|[ \t])time:   \[[^\]%\n]+\]\r?$", re.MULTILINE)
_PROGRESS = re.compile(r"Benchmarking (.+?)(?:: (?:Profiling|Warming up|Collecting|Analyzing).*)?")


def is_printed(source: Source) -> bool:
    """Whether the content is what benchmarks of Criterion.rs printed."""
    return _LINE.search(source.head) is not None


def read_printed(tool: str, source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it has no benchmark.
    """
    found: list[_CriterionRow] = []
    skipped: list[str] = []
    started: dict[str, str] = {}
    last = ""
    for place, line in read_lines(source):
        before, sign, after = line.partition(_TIME)
        _, rate, rates = line.partition(_RATE)
        if sign and "%" not in after.partition("]")[0]:
            id_ = _id(before.strip() or last.strip(), started)
            started.pop(id_, None)
            if id_:
                found.append(_CriterionRow(id_, place, after))
            else:
                skipped.append(f"{place}: the result cannot be read: {shown(line.strip())}")
        elif rate and found and "%" not in rates.partition("]")[0]:
            found[-1].rates.append((place, rates))
        elif progress := _PROGRESS.fullmatch(line):
            started[progress[1]] = place
        last = line
    rows = [_benchmark(tool, one) for one in found]
    rows += [failed(tool, id_, f"{at}: it printed no result") for id_, at in started.items()]
    if not rows:
        raise source.error("", "has no line such as 'fib 20  time:   [26.0 us 26.2 us 26.5 us]'")
    return Reading(tool, distinct(tool, rows), tuple(skipped))


@dataclass(frozen=True, slots=True)
class _CriterionRow:
    """A line with times.

    Attributes:
        values: what follows the bracket.
        rates: what follows the brackets of the rates below it, with their places.
    """

    id: str
    place: str
    values: str
    rates: list[tuple[str, str]] = field(default_factory=list)


def _id(text: str, started: Iterable[str]) -> str:
    """The id at the end of a text: before it may be what the benchmark printed."""
    return max((id_ for id_ in started if text.endswith(id_)), key=len, default=text)


def _benchmark(tool: str, found: _CriterionRow) -> BenchmarkResult:
    try:
        return benchmark(tool, found.id, list(_series(found)))
    except RowError as error:
        return failed(tool, found.id, str(error))


def _series(found: _CriterionRow) -> Iterator[Series]:
    place = found.place
    yield time_summary(time_in(_middle(found.values, place), place), place)
    for at, text in found.rates:
        rate, unit = amount_in(_middle(text, at), at)
        yield summary("throughput", unit, rate, at, better=Better.HIGHER)


def _middle(text: str, place: str) -> str:
    """The middle one of three numbers with their units, before a bracket and nothing else."""
    values, bracket, rest = text.partition("]")
    words = values.split()
    if not bracket or rest.strip() or len(words) != 6:
        what = "is not three numbers with their units"
        raise RowError(f"{place}: the result cannot be read: {shown(text.strip())} {what}")
    return " ".join(words[2:4])
