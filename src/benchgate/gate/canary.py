"""The canary: fixed workloads measured on both arms, whose ratio must be 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.evidence import Pair, gather, series_of
from benchgate.model.policy import Outcome
from benchgate.model.run import CANARY_IDS, FILES_CANARY_ID
from benchgate.stats.rank_tests import paired_shift, signed_rank
from benchgate.units import format_change

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult, Run
    from benchgate.model.verdict import Row

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


def disturbance_of(base: Run, head: Run, *, margin: float, alpha: float) -> str | None:
    """Describe the first disturbance that a canary shows; None if all of them are calm.

    Args:
        margin: of the gate, as a fraction.
        alpha: shared by the canaries.
    """
    before, after = ({b.id: b for b in run.benchmarks if is_canary(b)} for run in (base, head))
    shared = sorted(before.keys() & after.keys())
    for id_ in shared:
        ratio = disturbance(before[id_], after[id_], margin=margin, alpha=alpha / len(shared))
        if ratio is not None:
            work = "writing and reading a file" if id_ == FILES_CANARY_ID else "the same work"
            return (
                f"the canary, {work} on both sides, differed by {format_change(ratio)}: something "
                "disturbed one side more than the other, so no change is reported; run it again"
            )
    return None


def doubted(row: Row, warning: str) -> Row:
    """Leave a change open that the disturbance may explain."""
    if row.outcome not in {Outcome.REGRESSED, Outcome.IMPROVED}:
        return row
    note = f"was {row.outcome}, but {warning.split(':', maxsplit=1)[0]}"
    return replace(row, outcome=Outcome.INCONCLUSIVE, notes=(note, *row.notes))
