"""How two arms differ, beside the rank tests, and which changes a number of launches can show.

Every difference is head minus base. For the t tests, the callers pass logarithms, so a difference
is a log ratio, and exp of the estimate is the ratio of the geometric means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_finite, require_fraction, require_vector
from benchgate.stats.intervals import t_interval
from benchgate.stats.rank_tests import doubled_midranks, least_p_mann_whitney, least_p_signed_rank
from benchgate.stats.spread import moments, nearest_rank, require_launches

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray
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


_KEPT_PAIRS = 0.75


def ratios_in_turn(base: FloatArray, head: FloatArray) -> FloatArray:
    """Return log(head / base) of launches whose samples were taken in turn, shape (m,).

    Two estimates are weighted: the ratio of p25 for samples that vary by themselves, and the median
    ratio of the pairs of samples, without the slowest quarter of them, for a machine whose speed
    changes. If it does, the samples of both sides rise and fall together: the weight of the pairs
    is twice Spearman's rank correlation, within 0 and 1.

    Swapping base and head changes nothing but the sign.

    Args:
        base, head: shape (m, n), times > 0; the same place is a pair.
    """
    before, after = np.log(base), np.log(head)
    kept = math.ceil(_KEPT_PAIRS * before.shape[1])
    fastest = np.argsort(before + after, axis=1, kind="stable")[:, :kept]
    of_pairs = np.median(np.take_along_axis(after - before, fastest, 1), axis=1)
    of_p25 = nearest_rank(after, 0.25) - nearest_rank(before, 0.25)
    weights = np.clip(2 * _rank_correlations(before, after), 0, 1)
    ratios: FloatArray = weights * of_pairs + (1 - weights) * of_p25
    return ratios


def _rank_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation of each row, shape (m,); 0 if a side does not vary."""
    mean_rank = x.shape[1] + 1.0  # the products of whole numbers would overflow
    u, v = (doubled_midranks(values) - mean_rank for values in (x, y))
    scale = np.sqrt(np.sum(u * u, axis=1) * np.sum(v * v, axis=1))
    correlations: FloatArray = np.sum(u * v, axis=1) / np.maximum(scale, 1)
    return correlations


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


MOST_COUNTED = 1000
"""Nobody takes more launches, so a larger number is not worth computing."""

Test: TypeAlias = Literal["wilcoxon", "mann-whitney"]


def detectable_ratio(spread: FloatArray, n: int, alpha: float, power: float = 0.9) -> FloatArray:
    """Return the smallest ratio that n pairs would find: exp((t(1-alpha) + t(power)) s / sqrt(n)).

    Args:
        spread: shape (m,), of the log ratios, >= 0.
        n: pairs, >= 2; t has n - 1 degrees of freedom.
        alpha: one-sided level of one row, already divided by the number of rows.
        power: chance to find a change of that ratio.

    Returns:
        Shape (m,), >= 1 if alpha < 1/2; inf if it is beyond the largest float.
    """
    require_launches(n)
    return _detectable(spread, 1 / n, n - 1, alpha, power)


def detectable_ratio_two_sample(
    spread: FloatArray, n1: int, n2: int, alpha: float, power: float = 0.9
) -> FloatArray:
    """Return the smallest ratio that n1 v n2 launches would find if they share no rounds.

    As `detectable_ratio`, but `spread` is the standard deviation of log values within an arm, the
    standard error is s sqrt(1/n1 + 1/n2), and t has n1 + n2 - 2 degrees of freedom.
    """
    require_launches(min(n1, n2))
    return _detectable(spread, 1 / n1 + 1 / n2, n1 + n2 - 2, alpha, power)


def launches_needed(
    spread: FloatArray, half_width: FloatArray | float, confidence: float, limit: int
) -> IntArray:
    """Return the least n whose t interval is narrow enough.

    Its half width is t((1 + confidence) / 2, n-1) s / sqrt(n). A rank interval also needs
    `least_launches((1 - confidence) / 2, ...)` to be finite at all.

    Args:
        spread: shape (m,), >= 0.
        half_width: the wanted half width, in the unit of `spread`; one number or shape (m,).
        confidence: of the two-sided interval.
        limit: the largest n to consider, >= 2.

    Returns:
        Shape (m,), from 2 to `limit`; limit + 1 if `limit` is not enough, for example if
        half_width <= 0.
    """
    _require_spread(spread)
    wanted = _one_or_each("half_width", half_width, spread)
    require_fraction("confidence", confidence)
    require_launches(limit)
    return _least_n(spread, _half_widths(confidence, limit), wanted, 2)


def launches_to_detect(
    spread: FloatArray,
    ratio: FloatArray | float,
    alpha: float,
    power: float,
    limit: int,
    *,
    test: Test = "wilcoxon",
) -> IntArray:
    """Return the fewest launches per arm with which a change of `ratio` would be found.

    This is the least n with `detectable_ratio` <= `ratio`, or for "mann-whitney" with
    `detectable_ratio_two_sample` <= `ratio` for n v n launches. It is never below
    `least_launches`, with which the rank test can reach alpha at all.

    Args:
        spread: shape (m,), as those functions take it, >= 0.
        ratio: > 0, one number or shape (m,); 1 / ratio needs as many as `ratio`.
        alpha: one-sided level of one row, already divided by the number of rows.
        power: chance to find the change, e.g. 0.8.
        limit: the largest n to consider, >= 2.
        test: "wilcoxon" for pairs of launches, "mann-whitney" for launches that share no rounds.

    Returns:
        Shape (m,), from 2 to `limit`; limit + 1 if `limit` is not enough, for example if the
        ratio is 1.
    """
    _require_spread(spread)
    ratios = _one_or_each("ratio", ratio, spread)
    if ratios.min() <= 0:
        raise ValueError(f"ratio must be above 0, and is {ratios.min()}")
    least = least_launches(alpha, test)
    require_launches(limit)
    n = np.arange(2, limit + 1)
    paired = test == "wilcoxon"
    per_spread = _reach(1 / n if paired else 2 / n, n - 1 if paired else 2 * n - 2, alpha, power)
    # A rounding error must not raise n if n launches detect exactly this ratio.
    return _least_n(spread, per_spread, np.abs(np.log(ratios)) * (1 + 1e-12), least)


def least_launches(alpha: float, test: Test) -> int:
    """Return the fewest launches per arm with which the one-sided p of `test` can reach alpha."""
    require_fraction("alpha", alpha)
    if test not in {"wilcoxon", "mann-whitney"}:
        raise ValueError(f"test must be wilcoxon or mann-whitney, and is {test!r}")
    n = 1
    while _least_p(n, test) > alpha:
        n += 1
    return n


def _least_p(n: int, test: Test) -> float:
    return least_p_signed_rank(n) if test == "wilcoxon" else least_p_mann_whitney(n, n)


def _detectable(
    spread: FloatArray, inverse_n: float, df: int, alpha: float, power: float
) -> FloatArray:
    _require_spread(spread)
    with np.errstate(over="ignore"):
        ratio: FloatArray = np.exp(spread * _reach(inverse_n, df, alpha, power))
    return ratio


def _reach(
    inverse_n: FloatArray | float, df: IntArray | int, alpha: float, power: float
) -> FloatArray:
    """Return the log ratio that would be found, in spreads."""
    require_fraction("alpha", alpha)
    require_fraction("power", power)
    reach: FloatArray = (_t(df, alpha) + _t(df, 1 - power)) * np.sqrt(inverse_n)
    return reach


def _t(df: IntArray | int, upper: float) -> FloatArray:
    """Return the value that Student's t exceeds with probability `upper`."""
    # The lower tail keeps its digits; stdtrit is wrong below 1e-200.
    return -np.asarray(special.stdtrit(df, max(upper, 1e-200)), dtype=np.float64)


@lru_cache(maxsize=16)
def _half_widths(confidence: float, limit: int) -> FloatArray:
    """Return half the width of the t interval with 2, 3, ..., `limit` launches, in spreads."""
    n = np.arange(2, limit + 1)
    widths: FloatArray = _t(n - 1, (1 - confidence) / 2) / np.sqrt(n)
    widths.flags.writeable = False
    return widths


def _least_n(
    spread: FloatArray, per_spread: FloatArray, wanted: FloatArray, least: int
) -> IntArray:
    """Return the first n >= `least` with spread * per_spread[n - 2] <= wanted."""
    n = np.arange(2, len(per_spread) + 2)
    with np.errstate(over="ignore"):
        enough = spread[:, np.newaxis] * per_spread <= wanted[..., np.newaxis]
    enough &= (wanted[..., np.newaxis] > 0) & (n >= least)
    first: IntArray = np.where(enough.any(axis=1), 2 + enough.argmax(axis=1), len(n) + 2)
    return first


def _require_spread(spread: FloatArray) -> None:
    require_finite("spread", spread)
    if spread.ndim != 1 or spread.min() < 0:
        raise ValueError("spread must have shape (m,) and no negative value")


def _one_or_each(name: str, value: FloatArray | float, spread: FloatArray) -> FloatArray:
    values = np.asarray(value, dtype=np.float64)
    require_finite(name, values)
    if values.shape not in {(), spread.shape}:
        raise ValueError(f"{name} must be a number or {spread.shape}, and is {values.shape}")
    return values
