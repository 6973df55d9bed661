"""The order of the rows, and what is missing of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.model.row import Row


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
    Outcome.SAME_CODE,
)
"""What matters most comes first, among what is shown and among what is folded."""


_RANK = {outcome: rank for rank, outcome in enumerate(ORDER)}


WRONG = frozenset({Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT})


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """Sort by outcome, within an outcome by how much worse, then by name."""
    return sorted(rows, key=_place)


def by_benchmark(rows: Sequence[Row]) -> Mapping[str, Row]:
    """For each benchmark, its worst row; among equally bad ones, the row of the typical time.

    Metrics that do not decide are ignored. If another row can stand for the benchmark, so are rows
    that the plan does not settle, and tails and error rates that could not be tested. A limit that
    could not be tested is not: nothing else says so.
    """
    aside = _left_aside(rows) | {row for row in rows if not row.decides}
    leading: dict[str, Row] = {}
    candidates = [row for row in rows if row not in aside]
    for row in sorted(candidates, key=_leading_place):
        leading.setdefault(row.benchmark, row)
    return leading


def _leading_place(row: Row) -> tuple[object, ...]:
    return _RANK[row.outcome], row.is_minor, not row.is_timed, _place(row)


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
        and (row.outcome is Outcome.NOT_SETTLED or (row.is_minor and not row.is_limit))
    )


def _place(row: Row) -> tuple[int, float, str, str, str]:
    worse = row.worse_ratio
    size = -worse if worse is not None and not math.isnan(worse) else 0.0
    return _RANK[row.outcome], size, row.benchmark, row.metric, row.statistic


def missing_rounds(rows: Iterable[Row], least_rounds: int) -> dict[str, int]:
    """How many more rounds decide each benchmark that is open, if that is known.

    Args:
        least_rounds: how many rounds every benchmark should get.
    """
    missing: dict[str, int] = {}
    for row in rows:
        if more := _missing_rounds(row) or lacks(row, least_rounds):
            missing[row.benchmark] = max(more, missing.get(row.benchmark, 0))
    return missing


def _missing_rounds(row: Row) -> int:
    """How many more rounds decide a row that should be settled; 0 if none do."""
    if row.unconfirmed:
        return row.unconfirmed.rounds
    if row.outcome is not Outcome.INCONCLUSIVE:
        return 0
    return row.rounds_needed or 0


def lacks(row: Row, least_rounds: int) -> int:
    """How many rounds a row lacks that was not tested because it had too few."""
    is_open = row.outcome is Outcome.NOT_TESTED and row.is_typical
    if not is_open or not all(row.launches) or row.is_no_measurement:
        return 0
    return max(0, least_rounds - min(row.launches))
