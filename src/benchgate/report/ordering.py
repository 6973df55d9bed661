"""Decides which rows come first, which need attention, and the outcome of a benchmark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.model.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.row import Row

ORDER = (
    Outcome.FAILED,
    Outcome.REGRESSED,
    Outcome.MISSING,
    Outcome.INCOMPARABLE,
    Outcome.BASE_FAILED,
    Outcome.WAIVED,
    Outcome.INCONCLUSIVE,
    Outcome.NOT_TESTED,
    Outcome.IMPROVED,
    Outcome.NEW,
    Outcome.UNCHANGED,
)
_RANK = {outcome: rank for rank, outcome in enumerate(ORDER)}
_NEEDS_ATTENTION = frozenset(ORDER[: ORDER.index(Outcome.IMPROVED)])
_OPEN = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_TESTED})


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """Sort by outcome, within an outcome by how much worse, then by name."""
    return sorted(rows, key=_place)


def needs_attention(rows: Sequence[Row]) -> frozenset[Row]:
    """The rows that a reader must see.

    An undecided tail needs attention only if its benchmark does anyway: tails are several times
    noisier, and would fill the table of a suite without problems.
    """
    aside = tails_left_open(rows)
    seen = {row for row in rows if row.outcome in _NEEDS_ATTENTION} - aside
    benchmarks = {row.benchmark for row in seen}
    return frozenset(seen | {row for row in aside if row.benchmark in benchmarks})


def by_benchmark(rows: Sequence[Row]) -> Mapping[str, Row]:
    """For each benchmark, its worst row; among equally bad ones, the row of the typical sample.

    Undecided tails are ignored.
    """
    aside = tails_left_open(rows)
    leading: dict[str, Row] = {}
    candidates = [row for row in rows if row not in aside]
    for row in sorted(candidates, key=lambda row: (_RANK[row.outcome], row.is_tail, _place(row))):
        leading.setdefault(row.benchmark, row)
    return leading


def tails_left_open(rows: Sequence[Row]) -> frozenset[Row]:
    """Undecided tails, except suspects, of benchmarks that another row represents."""
    typical = {row.benchmark for row in rows if not row.is_tail}
    return frozenset(
        row
        for row in rows
        if row.is_tail and row.outcome in _OPEN and not row.unconfirmed and row.benchmark in typical
    )


def _place(row: Row) -> tuple[int, float, str, str, str]:
    worse = row.worse_ratio
    size = -worse if worse is not None and not math.isnan(worse) else 0.0
    return _RANK[row.outcome], size, row.benchmark, row.metric, row.statistic
