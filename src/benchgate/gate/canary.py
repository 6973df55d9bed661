"""The canary: fixed workloads measured on both arms, whose ratio must be 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.evidence import gather, series_of
from benchgate.gate.pairing import Pair
from benchgate.model.run import CANARY_IDS
from benchgate.stats.shift import paired_shift
from benchgate.stats.signedrank import signed_rank

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult

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
