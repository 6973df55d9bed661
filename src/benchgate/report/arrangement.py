"""Puts the rows of a verdict in the order of reading, and joins what changed alike."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.escape import plain_line
from benchgate.model.policy import MOVED, OPEN, Outcome
from benchgate.model.row import Row
from benchgate.model.row_order import ORDER, WRONG, _place, by_benchmark, worst_first
from benchgate.model.verdict import Decision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.model.verdict import Verdict


_FOR_A_PERSON = frozenset({Outcome.INCOMPARABLE, Outcome.BASE_FAILED, Outcome.WAIVED})

Benchmark: TypeAlias = tuple[Row, ...]
"""The rows of a benchmark, the one that stands for it first."""


class Section(IntEnum):
    """What a benchmark asks of a reader; in the order in which a report has them."""

    WRONG = 1
    MISSING = 2
    IMPROVED = 3
    FOR_A_PERSON = 4
    FOLDED = 5


@dataclass(frozen=True, slots=True)
class Together:
    """Benchmarks that changed together.

    Attributes:
        name: what their ids have in common: "parser/*".
        of: how many benchmarks with such ids there are.
        members: worst first.
    """

    name: str
    of: int
    members: tuple[Benchmark, ...]

    @property
    def first(self) -> Row:
        """The row that stands for them."""
        return self.members[0][0]

    @property
    def title(self) -> str:
        """How many, and which, with the name as code: "all 10 `parser/*`"."""
        count = len(self.members)
        which = f"all {count}" if count == self.of else f"{count} of {self.of}"
        return f"{which} `{self.name}`"

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the greatest change."""
        known = [rows[0].ratio for rows in self.members if rows[0].ratio is not None]
        return min(known), max(known)


Line: TypeAlias = Benchmark | Together


def first_row(line: Line) -> Row:
    """The row that stands for a line."""
    return line.first if isinstance(line, Together) else line[0]


def benchmarks_of(lines: Iterable[Line]) -> int:
    """How many benchmarks some lines are about."""
    return sum(len(one.members) if isinstance(one, Together) else 1 for one in lines)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What a report shows, in order.

    Attributes:
        shown: what fails, then what is missing, what improved, and what needs a person.
        lines: the same; benchmarks that changed together are one line.
        folded: what needs nobody, by outcome.
        same_code: what was not measured, and is in none of the others.
    """

    shown: tuple[Benchmark, ...]
    lines: tuple[Line, ...]
    folded: tuple[tuple[Benchmark, ...], ...]
    same_code: tuple[Benchmark, ...] = ()

    @property
    def all_lines(self) -> tuple[Line, ...]:
        return (*self.lines, *(one for group in self.folded for one in group))


def arrange(verdict: Verdict) -> Arrangement:
    """Put the rows of each benchmark together, and what a reader must see first."""
    rows_of: dict[str, list[Row]] = {}
    for row in worst_first(verdict.rows):
        rows_of.setdefault(row.benchmark, []).append(row)
    leading = by_benchmark(verdict.rows)
    groups = [_led_by(_face(rows, leading[name]), rows) for name, rows in rows_of.items()]
    placed = sorted(((_section(group, verdict), group) for group in groups), key=_shown_place)
    shown = tuple(group for section, group in placed if section is not Section.FOLDED)
    rest = [group for section, group in placed if section is Section.FOLDED]
    by_outcome = {
        outcome: tuple(one for one in rest if one[0].outcome is outcome) for outcome in ORDER
    }
    same_code = by_outcome.pop(Outcome.SAME_CODE)
    folded = tuple(filter(None, by_outcome.values()))
    return Arrangement(shown, _joined(shown, rows_of), folded, same_code)


def _face(rows: Sequence[Row], leading: Row) -> Row:
    """The row that stands for a benchmark; an improvement is worth more than an open row."""
    if leading.outcome in OPEN and not leading.unconfirmed:
        return next((row for row in rows if row.outcome is Outcome.IMPROVED), leading)
    return leading


def _led_by(first: Row, rows: Sequence[Row]) -> Benchmark:
    others = sorted(
        (row for row in rows if row is not first),
        key=lambda row: (not row.decides, row.metric, row.is_minor),
    )
    return (first, *others)


def _section(group: Benchmark, verdict: Verdict) -> Section:
    outcome = group[0].outcome
    if outcome is Outcome.MISSING:
        return Section.MISSING
    if outcome in WRONG or verdict.settings.names(group[0]):
        return Section.WRONG
    if outcome is Outcome.IMPROVED:
        return Section.IMPROVED
    is_why = verdict.decision is Decision.NO_VERDICT and outcome is Outcome.INCONCLUSIVE
    is_open = is_why or any(row.unconfirmed for row in group)
    if outcome in _FOR_A_PERSON or group[0].error or is_open:
        return Section.FOR_A_PERSON
    return Section.FOLDED


def _shown_place(placed: tuple[Section, Benchmark]) -> tuple[object, ...]:
    section, (first, *_) = placed
    rank, size, *name = _place(first)
    is_good = section is Section.IMPROVED
    return (section, not first.unconfirmed, rank, -size if is_good else size, *name)


# Fewer are read faster one by one.
_LEAST_TOGETHER: Final = 3
# How many times as large as the least change the greatest one may be.
_MOST_APART: Final = 2
_PART_END = re.compile(r"[/\[]")


def _joined(shown: Sequence[Benchmark], ids: Collection[str]) -> tuple[Line, ...]:
    """Join benchmarks whose ids begin alike, and that changed in one direction by about as much.

    Their intervals overlap, each with the next one's. An id that belongs to a wider and to a
    narrower group joins the wider one.
    """
    place = {one[0].benchmark: number for number, one in enumerate(shown)}
    beginning_alike: dict[str, list[Benchmark]] = {}
    for one in (one for one in shown if one[0].outcome in MOVED):
        for start in _beginnings(one[0].benchmark):
            beginning_alike.setdefault(start, []).append(one)
    of = Counter(start for id_ in ids for start in _beginnings(id_))
    joined: dict[str, Together] = {}
    for start in sorted(beginning_alike, key=lambda text: (len(_PART_END.findall(text)), text)):
        alike: dict[tuple[object, ...], list[Benchmark]] = {}
        for one in beginning_alike[start]:
            first = one[0]
            if first.benchmark not in joined:
                key = (first.outcome, first.metric, first.statistic, first.advisory)
                alike.setdefault(key, []).append(one)
        chains = (chain for some in alike.values() for chain in _overlapping(some))
        for chain in filter(lambda chain: len(chain) >= _LEAST_TOGETHER, chains):
            group = _together(sorted(chain, key=lambda one: place[one[0].benchmark]), of)
            joined |= {one[0].benchmark: group for one in chain}
    lines = (joined.get(one[0].benchmark, one) for one in shown)
    return tuple({id(line): line for line in lines}.values())


def _together(members: Sequence[Benchmark], of: Mapping[str, int]) -> Together:
    """Name benchmarks by the longest beginning that they share.

    Args:
        of: how many ids have each beginning.
    """
    first, *others = (one[0].benchmark for one in members)
    shared = [x for x in _beginnings(first) if all(other.startswith(x) for other in others)]
    closing = "]" if shared[-1].endswith("[") else ""
    name = f"{plain_line(shared[-1])}*{closing}"
    return Together(name, of[shared[-1]], tuple(members))


def _beginnings(id_: str) -> Iterator[str]:
    """What an id begins with, at each slash, and before its parameters: "a/", "a/b["."""
    path = id_.partition("[")[0]
    yield from (
        id_[: match.end()] for match in _PART_END.finditer(id_) if match.end() <= len(path) + 1
    )


def _overlapping(benchmarks: Sequence[Benchmark]) -> list[list[Benchmark]]:
    """Put those together whose intervals overlap, in the order of their changes."""
    chains: list[list[Benchmark]] = []
    reach = least = 0.0
    for one in sorted(benchmarks, key=lambda one: one[0].ratio or 0.0):
        row = one[0]
        if row.ratio is None or row.interval is None:
            continue
        size = abs(row.ratio - 1)
        is_near = size <= _MOST_APART * least and least <= _MOST_APART * size
        if chains and row.interval[0] <= reach and is_near:
            chains[-1].append(one)
            reach = max(reach, row.interval[1])
        else:
            chains.append([one])
            reach, least = row.interval[1], size
    return chains
