"""Learns from earlier runs on the same machine how much runs of equal code differ.

If something changes on a machine between two runs, it shifts all launches of a run equally. No
test of launches can distinguish that from a change of the code; only the spread of other runs can.
A row is calibrated if enough earlier runs are known. Their mean and standard deviation then predict
the value of the next run of equal code (Hahn and Meeker, Statistical Intervals, 1991).

The prediction uses the standard deviation instead of a robust spread: an unusual run must widen the
prediction, because the head's run can be the next unusual one. Student's t is exact for it. With
the median absolute deviation of ten runs, three times as many unchanged builds fail as promised
(simulated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from benchgate.gate.estimates import MOST_DETECTABLE_RATIO, Estimate, reaches
from benchgate.model.verdict import RUNS_NEEDED, Calibration
from benchgate.stats.spread import finite_exp, moments

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence

_MISSED = 0.1
_QUARTER = 0.25


@dataclass(frozen=True, slots=True)
class Forecast:
    """What calibrated runs predict for one row, in log ratios that are > 0 if the head is worse.

    Attributes:
        estimate: the head's run against the mean of the earlier runs. The interval covers the
            change of the code, and includes the difference between runs.
        against_newest: the head's run against only the newest earlier run.
        floor: the smallest change that differences between runs do not explain, as a fraction.
        p: one-sided probability that a run of equal code lies as far off.
    """

    estimate: Estimate
    against_newest: float
    floor: float
    p: float

    def reaches(self, margin: float, sign: int) -> bool:
        """Whether it shows a change in the direction of `sign` that reaches the margin.

        The newest run must agree: it also contains changes merged since the others, which the
        head did not cause.
        """
        least = max(margin, self.floor)
        return self.estimate.reaches(least, sign) and reaches(self.against_newest, least, sign)

    def doubts(self, margin: float) -> bool:
        """Whether the newest run alone contradicts a change that would count."""
        least = max(margin, self.floor)
        return any(self.estimate.reaches(least, s) and not self.reaches(margin, s) for s in (1, -1))


def run_value(launches: FloatArray, count: int) -> FloatArray:
    """Return the value of a run: the median of the logs of its first launches.

    Args:
        launches: shape (..., n), > 0.
        count: number of launches to use, the same as the head has. A value from fewer launches
            spreads more, and the head's value must spread like the values it is compared with.

    Returns:
        Shape (...).
    """
    value: FloatArray = np.median(np.log(launches[..., :count]), axis=-1)
    return value


def prediction_reach(spread: float, runs: int, alpha: float) -> float:
    """How far above the mean of `runs` values the next one lies with probability alpha.

    It is t(1 - alpha, runs - 1) spread sqrt(1 + 1 / runs), for normal values.

    Args:
        spread: standard deviation of the values, ddof = 1, finite, >= 0.
        runs: at least 2.
        alpha: within (0, 1/2).
    """
    # From the lower tail, which is precise even if alpha is small.
    return -float(stdtrit(runs - 1, alpha)) * spread * math.sqrt(1 + 1 / runs)


def foretell(evidence: Evidence, *, confidence: float, level: float) -> Forecast | None:
    """Compare the head's run with the earlier runs; None if too few are known.

    Args:
        confidence: of the interval.
        level: one-sided level of this row's test: alpha / rows.
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
    """Whether a head of equal code would be judged unchanged at least half of the time.

    The margin must exceed the sum of two things: the half-width of the prediction interval, and the
    distance that the head itself stays within half of the time.

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
    """Invert `prediction_reach`; if all runs are equal, any change is certain."""
    if not spread:
        return 0.0 if change else 0.5
    return float(stdtr(runs - 1, -abs(change) / (spread * math.sqrt(1 + 1 / runs))))


def calibration_of(evidence: Evidence, forecast: Forecast | None) -> Calibration | None:
    """Describe the earlier runs for the verdict; None for arms that were measured in turn."""
    if evidence.paired:
        return None
    n = len(evidence.runs)
    return Calibration(
        runs=n,
        spread=moments(evidence.runs).sd if n else None,
        floor=forecast.floor if forecast else None,
    )
