"""Screen by a stored baseline, confirm in turn: which benchmarks are measured here, and the whole.

A stored baseline costs one arm, but what shifts a whole run looks like a change of the code, or
hides one. So it only says where to look. What looks changed, and what it knows nothing of, is
measured here against the base by the usual procedure, whose rounds had no part in the choice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.batches import by_lengths
from benchgate.gate.waves import SUSPECT_MARGIN_SHARE, SUSPECT_P, SUSPECT_TAIL_P
from benchgate.model.verdict import Outcome
from benchgate.stats.mannwhitney import least_p_mann_whitney, mann_whitney
from benchgate.stats.shift import two_sample_shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gate.evidence import Evidence
    from benchgate.gate.suite import Judgement
    from benchgate.model.verdict import Row

_UNKNOWN = frozenset({Outcome.NEW, Outcome.INCOMPARABLE, Outcome.FAILED})
_CHANGED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED})


def to_measure(stored: Judgement) -> frozenset[str]:
    """Give the benchmarks that look changed, or that the stored baseline cannot be used for."""
    doubtful = {
        row.benchmark
        for row in stored.rows
        if row.outcome in _UNKNOWN or (row.advisory and row.outcome in _CHANGED)
    }
    return frozenset(doubtful | _suspects([e for e in stored.evidence if e.obstacle is None]))


def joined(stored: Judgement, measured: Judgement) -> Judgement:
    """Put the rows that were measured here in the place of those that a stored baseline gave.

    The others stay as they are where enough earlier runs are known. Else all that is known is
    whether they look changed: they are inconclusive, and say so.
    """
    here = {row.benchmark for row in measured.rows}
    wanted = to_measure(stored)
    kept = [
        _kept(row, suspected=row.benchmark in wanted)
        for row in stored.rows
        if row.benchmark not in here
    ]
    return replace(
        measured,
        rows=(*measured.rows, *kept),
        warnings=(*stored.warnings, *measured.warnings),
        base_benchmarks=stored.base_benchmarks,
        evidence=(*measured.evidence, *(e for e in stored.evidence if e.pair.id not in here)),
    )


def _suspects(evidences: Sequence[Evidence]) -> set[str]:
    """Judge as the screen of rounds does, but by launches that share no rounds."""
    base, head = [np.log(e.base) for e in evidences], [np.log(e.head) for e in evidences]
    suspects: set[str] = set()
    for indices, x, y in by_lengths(base, head):
        chosen = [evidences[i] for i in indices]
        estimate = two_sample_shift(x, y, 0.5).estimate
        test = mann_whitney(x, y)
        p = np.where(estimate > 0, test.p_greater, test.p_less)
        # Launches that do not overlap are enough, however few they are.
        at_least = least_p_mann_whitney(x.shape[1], y.shape[1])
        limit = [max(SUSPECT_TAIL_P if e.is_tail else SUSPECT_P, at_least) for e in chosen]
        half_margin = np.log1p([e.margin * SUSPECT_MARGIN_SHARE for e in chosen])
        suspected = (np.abs(estimate) > half_margin) & (p <= limit)
        suspects |= {e.pair.id for e, is_one in zip(chosen, suspected, strict=True) if is_one}
    return suspects


def _kept(row: Row, *, suspected: bool) -> Row:
    """Claim nothing of a row that only too few stored runs speak of."""
    if not row.advisory:
        return row
    if suspected:
        note = "not measured here, although its benchmark looks changed"
    else:
        note = "no change seen against stored launches, which may hide one"
    outcome = row.outcome if row.outcome in _CHANGED else Outcome.INCONCLUSIVE
    return replace(row, outcome=outcome, notes=(note, *row.notes))
