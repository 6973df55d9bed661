"""Tests rows that are measured until they are decided: at a few late looks, on all their rounds.

Every row of the suite counts at every late look, whether it is still open or not. The rows were
not selected, so their rounds need not be fresh. Each look is a family of its own that spends its
share of alpha. Holm's procedure divides that share among the rows and the two directions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from benchgate.stats.differences import detectable_ratio, launches_needed
from benchgate.stats.rank_tests import holm, signed_rank
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.estimates import Estimate
    from benchgate.gate.waves import WaveSettings

_MOST_FORETOLD = 1_000_000


def late_test(
    ratios: Sequence[FloatArray], look: int, settings: WaveSettings
) -> list[tuple[float, float] | None]:
    """Test the rows that have reached a late look, in the direction of their change.

    Returns:
        For each row (p, p adjusted); None if it has fewer rounds. Compare the adjusted p with the
        suite's alpha.
    """
    there = [index for index, d in enumerate(ratios) if len(d) >= look]
    if not there:
        return [None] * len(ratios)
    test = signed_rank(np.stack([ratios[index][:look] for index in there]))
    one_sided = dict(zip(there, np.minimum(test.p_greater, test.p_less).tolist(), strict=True))
    p_values = [one_sided.get(index, 1.0) for index in range(len(ratios))]
    adjusted = holm(np.minimum(1.0, 2 * np.array(p_values))).tolist()
    return [
        (p, min(1.0, settings.families * p_adjusted)) if index in one_sided else None
        for index, (p, p_adjusted) in enumerate(zip(p_values, adjusted, strict=True))
    ]


def is_within_reach(
    d: FloatArray, estimate: Estimate, margin: float, *, confidence: float, level: float, most: int
) -> bool:
    """Whether this many rounds can still show that a row is inside the margin, or beyond it.

    Inside: if the interval will be narrow enough for a row that did not change; how close a row
    lies to the margin is only known after that many rounds. Beyond: if the estimate is beyond the
    margin, and chance can be ruled out.

    Args:
        d: the row's log ratios, shape (n,), n >= 2.
        confidence: of the interval that has to lie inside.
        level: one-sided level of this row's test.
        most: number of rounds.
    """
    spread = robust_spread(d[np.newaxis])
    limit = math.log1p(margin)
    if launches_needed(spread, limit, confidence, most)[0] <= most:
        return True
    seen = math.log(detectable_ratio(spread, most, level)[0])
    return abs(estimate.value) >= max(limit, seen)


def foretold(d: FloatArray, estimate: Estimate, margin: float, confidence: float) -> int | None:
    """Total rounds that would separate the estimate from the margin; None beyond a million.

    With that many rounds Student's t is close to normal: n = (z s / distance) ** 2.
    """
    distance = abs(abs(estimate.value) - math.log1p(margin))
    if distance == 0:
        return None
    z = -float(ndtri((1 - confidence) / 2))
    widest = z * float(robust_spread(d[np.newaxis])[0])
    if widest > distance * math.sqrt(_MOST_FORETOLD):
        return None
    return math.ceil((widest / distance) ** 2)
