"""Earlier runs on the same machine: how much runs differ although the code does not.

What changes on a machine between two runs shifts all launches of a run alike. No test of
launches can tell that from a change of the code; only the spread of other runs can. A row is
calibrated when enough of them are known: then the value of the next run of equal code is foretold
by the mean of theirs and their standard deviation (Hahn and Meeker, Statistical Intervals, 1991).

The standard deviation, and not a robust spread: an odd run must widen what is foretold, because
the head's can be the next odd one. Student's t is exact for it; with the median absolute
deviation of ten runs it fails three times as many unchanged builds as it says (simulated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from benchgate.gate.estimates import MOST_DETECTABLE_RATIO, Estimate, reaches
from benchgate.model.row import RUNS_NEEDED, Calibration
from benchgate.stats.moments import finite_exp, moments

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence

_MISSED = 0.1
_QUARTER = 0.25


@dataclass(frozen=True, slots=True)
class Forecast:
    """What calibrated runs say of one row, in log ratios that are > 0 if the head is worse.

    Attributes:
        estimate: of the head's run against the mean of the earlier ones; the interval is that of
            the change of the code, the difference between runs included.
        against_newest: the head's run against the newest of them alone.
        floor: the smallest change that differences between runs do not explain, as a fraction.
        p: how often a run of equal code would lie as far off, one-sided.
    """

    estimate: Estimate
    against_newest: float
    floor: float
    p: float

    def reaches(self, margin: float, sign: int) -> bool:
        """Whether it shows a change on the side of `sign` that counts.

        The newest run must agree: what was merged since the others is in it, too, and is not
        the head's doing.
        """
        least = max(margin, self.floor)
        return self.estimate.reaches(least, sign) and reaches(self.against_newest, least, sign)

    def doubts(self, margin: float) -> bool:
        """Whether the newest run alone contradicts a change that would count."""
        least = max(margin, self.floor)
        return any(self.estimate.reaches(least, s) and not self.reaches(margin, s) for s in (1, -1))


def run_value(launches: FloatArray, count: int) -> FloatArray:
    """Give the value of a run: the median of the logs of its first launches.

    Args:
        launches: shape (..., n), > 0.
        count: how many of them, as many as the head has: the value of fewer launches spreads
            more, and the head's must spread as those do that it is held against.

    Returns:
        Shape (...).
    """
    value: FloatArray = np.median(np.log(launches[..., :count]), axis=-1)
    return value


def prediction_reach(spread: float, runs: int, alpha: float) -> float:
    """How far above the mean of `runs` values the next one lies with probability alpha.

    That is t(1 - alpha, runs - 1) spread sqrt(1 + 1 / runs), for normal values.

    Args:
        spread: their standard deviation, ddof = 1, finite, >= 0.
        runs: at least 2.
        alpha: within (0, 1/2).
    """
    # From the lower tail, which keeps its digits if alpha is small.
    return -float(stdtrit(runs - 1, alpha)) * spread * math.sqrt(1 + 1 / runs)


def foretell(evidence: Evidence, *, confidence: float, level: float) -> Forecast | None:
    """Hold the head's run against the earlier runs; None if too few are known.

    Args:
        confidence: of the interval.
        level: of this row, one-sided: alpha / rows.
    """
    n = len(evidence.runs)
    if n < RUNS_NEEDED:
        return None
    known = moments(evidence.worse_sign * evidence.runs)
    spread = known.sd or 0.0
    head = evidence.worse_sign * float(run_value(evidence.head, len(evidence.head)))
    reach = prediction_reach(spread, n, level)
    half_width = prediction_reach(spread, n, (1 - confidence) / 2)
    detectable = finite_exp(reach + prediction_reach(spread, n, _MISSED))
    change = head - known.mean
    return Forecast(
        Estimate(
            change,
            change - half_width,
            change + half_width,
            detectable if detectable <= MOST_DETECTABLE_RATIO else None,
        ),
        head - evidence.worse_sign * float(evidence.runs[0]),
        finite_exp(reach) - 1,
        _p(change, spread, n),
    )


def is_steady(evidence: Evidence, *, confidence: float) -> bool:
    """Whether a head of equal code would be shown to be unchanged at least half of the time.

    Two things must fit into the margin together: the half-width of what is foretold, and how far
    off the head itself is half of the time.

    Args:
        confidence: of the interval that has to lie inside the margin.
    """
    n = len(evidence.runs)
    if n < RUNS_NEEDED:
        return False
    spread = moments(evidence.runs).sd or 0.0
    half_width = prediction_reach(spread, n, (1 - confidence) / 2)
    return half_width + prediction_reach(spread, n, _QUARTER) < math.log1p(evidence.margin)


def _p(change: float, spread: float, runs: int) -> float:
    """Invert `prediction_reach`; runs that are all equal leave no doubt of any change."""
    if not spread:
        return 0.0 if change else 0.5
    return float(stdtr(runs - 1, -abs(change) / (spread * math.sqrt(1 + 1 / runs))))


def calibration_of(evidence: Evidence, forecast: Forecast | None) -> Calibration | None:
    """Say for the record what is known of the runs; None for arms that were measured in turn."""
    if evidence.paired:
        return None
    n = len(evidence.runs)
    return Calibration(
        runs=n,
        spread=moments(evidence.runs).sd if n else None,
        floor=forecast.floor if forecast else None,
    )
