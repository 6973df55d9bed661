"""How small a difference some launches can show, and how many launches show one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_finite, require_fraction
from benchgate.stats.mann_whitney import least_p_mann_whitney
from benchgate.stats.signed_rank import least_p_signed_rank
from benchgate.stats.spread import require_launches

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray

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
