"""Whether the canary shows that the machine was disturbed, and which rows that puts in doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.evidence import (
    Pair,
    gather,
    series_of,
)
from benchgate.model.notes import CONFIRMED, DOUBTED
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.run import CANARY_IDS, FILES_CANARY_ID
from benchgate.stats.signed_rank import paired_shift, signed_rank
from benchgate.units import format_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.model.row import Row
    from benchgate.model.run import BenchmarkResult, Run


_METRIC, _STATISTIC = "time", "p25"


def is_canary(result: BenchmarkResult) -> bool:
    """Whether this is a canary's result, which is not one of the user's rows."""
    return result.id in CANARY_IDS


def disturbance(
    base: BenchmarkResult, head: BenchmarkResult, *, margin: float, alpha: float
) -> float | None:
    """Return the canary's ratio if it shows a disturbance, else None.

    The same work on both arms differs only if something disturbed one arm more than the other, in a
    way that taking turns did not cancel. The criterion: two-sided signed rank p <= alpha, and an
    estimate beyond half the margin.
    """
    left, right = series_of(base, _METRIC), series_of(head, _METRIC)
    if left is None or right is None:
        return None
    evidence = gather(
        Pair(base.id, base, head), left, right, _STATISTIC, margin=margin, paired=True
    )
    if evidence.obstacle:
        return None
    ratios = evidence.worse_log_ratios()[None, :]
    estimate = float(paired_shift(ratios, 0.5).estimate[0])
    p = float(signed_rank(ratios).p_two_sided[0])
    if p <= alpha and abs(estimate) > np.log1p(margin / 2):
        return float(np.exp(estimate))
    return None


def disturbances(base: Run, head: Run, *, margin: float, alpha: float) -> Mapping[str, str]:
    """Describe the disturbance that each canary shows, by its id, except for those that are calm.

    Args:
        margin: of the gate, as a fraction.
        alpha: shared by the canaries.
    """
    found: dict[str, str] = {}
    before, after = ({b.id: b for b in run.benchmarks if is_canary(b)} for run in (base, head))
    shared = sorted(before.keys() & after.keys())
    for id_ in shared:
        ratio = disturbance(before[id_], after[id_], margin=margin, alpha=alpha / len(shared))
        if ratio is not None:
            work, of = "the same work", ""
            if id_ == FILES_CANARY_ID:
                work, of = "writing and reading a file", " of benchmarks that use files"
            found[id_] = (
                f"the canary, {work} on both sides, differed by {format_change(ratio)}: something "
                f"disturbed one side more than the other, so no change{of} is reported; run it "
                "again"
            )
    return found


def doubted(row: Row, warning: str) -> Row:
    """Leave a change open that the disturbance may explain."""
    if row.outcome not in MOVED:
        return row
    note = f"was {row.outcome}{DOUBTED}{warning.split(':', maxsplit=1)[0]}"
    notes = (each for each in row.notes if not each.startswith(CONFIRMED))
    return replace(row, outcome=Outcome.INCONCLUSIVE, notes=(note, *notes))
