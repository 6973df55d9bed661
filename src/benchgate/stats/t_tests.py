"""Student's t tests and effect sizes, beside the rank tests that decide.

Every difference is head minus base. The callers pass logarithms, so a difference is a log ratio,
and exp of the estimate is the ratio of the geometric means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_fraction, require_vector
from benchgate.stats.intervals import t_interval
from benchgate.stats.midranks import doubled_midranks
from benchgate.stats.spread import moments

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval


_ONE_LAUNCH = "one launch: no spread between launches; take at least 2 of each side"
_NO_SPREAD = "no spread between launches: the difference cannot be tested"

# Romano, Kromrey, Coraggio and Skowronek (2006), from Cohen's d of 0.2, 0.5 and 0.8.
_MAGNITUDES = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))


@dataclass(frozen=True, slots=True)
class TTest:
    """A t test. Fields that need a spread are None for one launch, and if there is no spread.

    Attributes:
        estimate: the mean difference, in the unit of the data.
        interval: around the estimate; also None if an end is beyond the largest float.
        t: the estimate in its standard errors.
        df: degrees of freedom, a whole number except for Welch's test.
        p_two_sided: against any difference. All p are 1 if nothing differs at all.
        p_greater: one-sided, against a head that is greater than the base.
        p_less: one-sided, against a head that is less than the base.
        notes: why a value is None.
    """

    estimate: float
    interval: Interval | None = None
    t: float | None = None
    df: float | None = None
    p_two_sided: float | None = None
    p_greater: float | None = None
    p_less: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How far y (the head) is from x (the base); positive if the head is greater.

    Attributes:
        cliffs_delta: P(y > x) - P(y < x) over all pairs of values, from -1 to 1.
        vargha_delaney_a: P(y > x) + P(y = x) / 2, from 0 to 1: (delta + 1) / 2.
        cohens_d: difference of the means in pooled standard deviations; None if there is no
            spread, and for one value in an arm.
        hedges_g: d, corrected for its bias in small samples; None if d is None.
        magnitude: of delta: "negligible" below 0.147, "small" below 0.33, "medium" below
            0.474, otherwise "large".
        notes: why a value is None.
    """

    cliffs_delta: float
    vargha_delaney_a: float
    cohens_d: float | None
    hedges_g: float | None
    magnitude: str
    notes: tuple[str, ...]


def paired_t(d: FloatArray, confidence: float) -> TTest:
    """Test whether the mean of paired differences is 0: t = mean sqrt(n) / s (Student, 1908).

    Args:
        d: shape (n,), head minus base, finite.
        confidence: of the interval, e.g. 0.95.
    """
    require_fraction("confidence", confidence)
    require_vector("d", d)
    found = moments(d)
    if found.sem is None:
        return TTest(found.mean, notes=(_ONE_LAUNCH,))
    return _t_test(found.mean, found.sem, found.n - 1, confidence, "t")


def two_sample_t(x: FloatArray, y: FloatArray, confidence: float, *, equal_variance: bool) -> TTest:
    """Test whether the means of y (the head) and x (the base) differ.

    Student's t (1908) takes the standard error from the pooled variance, with n1 + n2 - 2 degrees
    of freedom. Welch's (1947) takes it from each arm's own, s1^2 / n1 + s2^2 / n2, with degrees of
    freedom by Satterthwaite (1946).

    Args:
        x: shape (n1,), finite.
        y: shape (n2,), finite.
        confidence: of the interval, e.g. 0.95.
        equal_variance: True is Student's form, False is Welch's.
    """
    require_fraction("confidence", confidence)
    require_vector("x", x)
    require_vector("y", y)
    base, head = moments(x), moments(y)
    difference = head.mean - base.mean
    if base.sem is None or base.sd is None or head.sem is None or head.sd is None:
        return TTest(difference, notes=(_ONE_LAUNCH,))
    n1, n2 = base.n, head.n
    if equal_variance:
        error = pooled_sd(base.sd, n1, head.sd, n2) * math.sqrt(1 / n1 + 1 / n2)
        return _t_test(difference, error, n1 + n2 - 2, confidence, "t")
    error = math.hypot(base.sem, head.sem)
    # Only shares are squared: the square of anything else could overflow or vanish.
    of_base, of_head = (sem / error if error else 0.5 for sem in (base.sem, head.sem))
    df = 1 / (of_base**4 / (n1 - 1) + of_head**4 / (n2 - 1))
    return _t_test(difference, error, df, confidence, "Welch t")


def pooled_sd(sd1: float, n1: int, sd2: float, n2: int) -> float:
    """Return sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)), the spread within two arms."""
    return math.hypot(sd1 * math.sqrt(n1 - 1), sd2 * math.sqrt(n2 - 1)) / math.sqrt(n1 + n2 - 2)


def effect_size(x: FloatArray, y: FloatArray) -> EffectSize:
    """Compute effect sizes by ranks (Cliff, 1993; Vargha and Delaney, 2000) and by moments.

    d = (mean y - mean x) / s with s^2 = ((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)
    (Cohen, 1988), and g = d (1 - 3 / (4 (n1 + n2) - 9)) (Hedges and Olkin, 1985).

    Args:
        x: shape (n1,), finite.
        y: shape (n2,), finite.
    """
    require_vector("x", x)
    require_vector("y", y)
    n1, n2 = len(x), len(y)
    ranks = doubled_midranks(np.concatenate([x, y])[np.newaxis])[0]
    # Twice the pairs in which y is above x, ties counted half. Doubled, they are whole numbers.
    doubled_u = int(ranks[n1:].sum()) - n2 * (n2 + 1)
    delta = (doubled_u - n1 * n2) / (n1 * n2)
    d, notes = _cohens_d(x, y)
    return EffectSize(
        cliffs_delta=delta,
        vargha_delaney_a=doubled_u / (2 * n1 * n2),
        cohens_d=d,
        hedges_g=None if d is None else d * (1 - 3 / (4 * (n1 + n2) - 9)),
        magnitude=next(name for limit, name in _MAGNITUDES if abs(delta) < limit),
        notes=notes,
    )


def _t_test(estimate: float, error: float, df: float, confidence: float, method: str) -> TTest:
    t = estimate / error if error else math.inf
    if not math.isfinite(t):
        p = None if estimate else 1.0
        return TTest(estimate, p_two_sided=p, p_greater=p, p_less=p, notes=(_NO_SPREAD,))
    return TTest(
        estimate=estimate,
        interval=t_interval(estimate, error, df, confidence, method),
        t=t,
        df=df,
        p_two_sided=min(1.0, 2 * float(special.stdtr(df, -abs(t)))),
        p_greater=float(special.stdtr(df, -t)),
        p_less=float(special.stdtr(df, t)),
    )


def _cohens_d(x: FloatArray, y: FloatArray) -> tuple[float | None, tuple[str, ...]]:
    base, head = moments(x), moments(y)
    if base.sd is None or head.sd is None:
        return None, ("one launch: d and g need a spread; take at least 2 of each side",)
    sd = pooled_sd(base.sd, base.n, head.sd, head.n)
    d = (head.mean - base.mean) / sd if sd else math.inf
    if not math.isfinite(d):
        return None, ("no spread within the sides: d and g do not exist; delta shows the order",)
    return d, ()
