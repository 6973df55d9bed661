"""Decides which rows come first, which are shown, and the outcome of a benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.verdict import Row, Verdict

ORDER = (
    Outcome.FAILED,
    Outcome.REGRESSED,
    Outcome.OVER_LIMIT,
    Outcome.MISSING,
    Outcome.INCOMPARABLE,
    Outcome.BASE_FAILED,
    Outcome.WAIVED,
    Outcome.INCONCLUSIVE,
    Outcome.NOT_TESTED,
    Outcome.NOT_SETTLED,
    Outcome.IMPROVED,
    Outcome.NEW,
    Outcome.UNCHANGED,
    Outcome.WITHIN_LIMIT,
)
"""What matters most comes first, among what is shown and among what is folded."""

_RANK = {outcome: rank for rank, outcome in enumerate(ORDER)}
_WRONG = frozenset({Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT})
_FOR_A_PERSON = frozenset(
    {Outcome.MISSING, Outcome.INCOMPARABLE, Outcome.BASE_FAILED, Outcome.WAIVED}
)
_OPEN = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_TESTED, Outcome.NOT_SETTLED})


class Section(IntEnum):
    """What a benchmark asks of a reader; in the order in which a report has them."""

    WRONG = 1
    IMPROVED = 2
    FOR_A_PERSON = 3
    FOLDED = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The rows of each benchmark, the one that stands for it first.

    Attributes:
        shown: what fails, then what improved, then what needs a person.
        folded: what needs nobody, by outcome.
    """

    shown: tuple[tuple[Row, ...], ...]
    folded: tuple[tuple[tuple[Row, ...], ...], ...]


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """Sort by outcome, within an outcome by how much worse, then by name."""
    return sorted(rows, key=_place)


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
    by_outcome = (tuple(one for one in rest if one[0].outcome is outcome) for outcome in ORDER)
    return Arrangement(shown, tuple(filter(None, by_outcome)))


def _face(rows: Sequence[Row], leading: Row) -> Row:
    """The row that stands for a benchmark; an improvement is worth more than an open row."""
    if leading.outcome in _OPEN and not leading.unconfirmed:
        return next((row for row in rows if row.outcome is Outcome.IMPROVED), leading)
    return leading


def _led_by(first: Row, rows: Sequence[Row]) -> tuple[Row, ...]:
    others = sorted(
        (row for row in rows if row is not first),
        key=lambda row: (not row.decides, row.metric, row.is_minor),
    )
    return (first, *others)


def _section(group: Sequence[Row], verdict: Verdict) -> Section:
    outcome = group[0].outcome
    if outcome in _WRONG or group[0].policy_outcome.value in verdict.settings.fail_on:
        return Section.WRONG
    if outcome is Outcome.IMPROVED:
        return Section.IMPROVED
    is_why = verdict.decision is Decision.NO_VERDICT and outcome is Outcome.INCONCLUSIVE
    if outcome in _FOR_A_PERSON or is_why or any(row.unconfirmed for row in group):
        return Section.FOR_A_PERSON
    return Section.FOLDED


def _shown_place(placed: tuple[Section, tuple[Row, ...]]) -> tuple[object, ...]:
    section, (first, *_) = placed
    rank, size, *name = _place(first)
    is_good = section is Section.IMPROVED
    return (section, not first.unconfirmed, rank, -size if is_good else size, *name)


def by_benchmark(rows: Sequence[Row]) -> Mapping[str, Row]:
    """For each benchmark, its worst row; among equally bad ones, the row of the typical sample.

    Metrics that do not decide are ignored. If another row can stand for the benchmark, so are rows
    that the plan does not settle, and tails and error rates that could not be tested.
    """
    aside = _left_aside(rows) | {row for row in rows if not row.decides}
    leading: dict[str, Row] = {}
    candidates = [row for row in rows if row not in aside]
    for row in sorted(candidates, key=lambda row: (_RANK[row.outcome], row.is_minor, _place(row))):
        leading.setdefault(row.benchmark, row)
    return leading


def _left_aside(rows: Sequence[Row]) -> frozenset[Row]:
    typical = {row.benchmark for row in rows if row.is_typical}
    settled = {
        row.benchmark for row in rows if row.decides and row.outcome is not Outcome.NOT_SETTLED
    }
    others = {Outcome.NOT_SETTLED: settled, Outcome.NOT_TESTED: typical}
    return frozenset(
        row
        for row in rows
        if row.benchmark in others.get(row.outcome, ())
        and (row.is_minor or row.outcome is Outcome.NOT_SETTLED)
    )


def _place(row: Row) -> tuple[int, float, str, str, str]:
    worse = row.worse_ratio
    size = -worse if worse is not None and not math.isnan(worse) else 0.0
    return _RANK[row.outcome], size, row.benchmark, row.metric, row.statistic
