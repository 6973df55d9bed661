"""Values in the order measured: how they resemble earlier ones, have a trend, and settle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_vector
from benchgate.stats.rank_tests import rank_sum_ways
from benchgate.stats.spread import binary_scaled, deviations, moments

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

Weights: TypeAlias = Literal["plain", "bartlett"]

# The trend test rejects one steady window in twenty, which costs one more sample.
_TREND_LEVEL = 0.05
# With fewer values, 2 / n!, the least p of n values, is above that level.
_LEAST_WINDOW = 5
# For more values, the normal approximation is within 0.001 of p.
_EXACT_TREND = 100


@dataclass(frozen=True, slots=True)
class CorrectedError:
    """The standard error of the mean of a series whose values depend on each other.

    Attributes:
        sem: corrected, in the unit of the data, never below `naive_sem`; None for n = 1 and for
            equal values.
        naive_sem: s / sqrt(n), right only for independent values; None for n = 1.
        effective_n: how many independent values would give `sem`: n (naive_sem / sem)**2, from
            1 to n; None as `sem`.
        lag_one: the autocorrelation of neighbors, from -1 to 1; None as `sem`.
        notes: why a value is None, or that the correction was left out.
    """

    sem: float | None
    naive_sem: float | None
    effective_n: float | None
    lag_one: float | None
    notes: tuple[str, ...]


def autocorrelation(values: FloatArray, max_lag: int) -> FloatArray | None:
    """r_k = g_k / g_0, g_k = 1/n sum_{i <= n-k} (x_i - mean) (x_{i+k} - mean).

    The divisor n at every lag, rather than n - k, keeps the series of r positive definite (Box
    and Jenkins, 1970).

    Args:
        values: shape (n,), in the order measured, finite.
        max_lag: from 1 to n - 1; 1 for n = 1.

    Returns:
        Shape (max_lag,): r_1, r_2, ..., from -1 to 1. None for n = 1 and for equal values,
        which have no variance to divide by.
    """
    require_vector("values", values)
    longest = max(1, len(values) - 1)
    if not 1 <= max_lag <= longest:
        raise ValueError(f"max_lag must be from 1 to {longest}, and is {max_lag}")
    g = _autocovariance(binary_scaled(values)[0], max_lag)
    return g[1:] / g[0] if g[0] > 0 else None


def corrected_sem(values: FloatArray, weights: Weights = "plain") -> CorrectedError:
    """The standard error of the mean with the autocovariances of the first sqrt(n) lags.

    sqrt(1/n (g_0 + 2 sum_{k=1}^{L} w_k g_k)), L = floor(sqrt(n)), g_k as in `autocorrelation`.
    Plain weights are the w_k = 1 - k/n of the exact variance of a mean (Flyvbjerg and Petersen,
    1989), cut off at L; their sum may be too small, even below 0. Bartlett's w_k = 1 - k/(L + 1)
    never give less than 0, but their correction is too small (Newey and West, 1987). The series
    must not have a trend. A result below s / sqrt(n) is raised to that value: if a few neighbors
    seem to balance each other, that must not make a mean look better.

    Args:
        values: shape (n,), in the order measured, finite.
        weights: "plain" or "bartlett".
    """
    if weights not in {"plain", "bartlett"}:
        raise ValueError(f"weights must be plain or bartlett, and are {weights!r}")
    require_vector("values", values)
    scaled, exponent = binary_scaled(values)
    naive = moments(scaled).sem
    if not naive:
        which = "one value" if naive is None else "all values are equal"
        return CorrectedError(None, naive, None, None, (f"{which}: no autocorrelation",))
    n = len(values)
    lags = math.isqrt(n)
    g = _autocovariance(scaled, lags)
    width = n if weights == "plain" else lags + 1
    variance = float(g[0] + 2 * ((1 - np.arange(1, lags + 1) / width) * g[1:]).sum()) / n
    floored = variance < naive**2
    sem = naive if floored else math.sqrt(variance)
    return CorrectedError(
        sem=math.ldexp(sem, exponent),
        naive_sem=math.ldexp(naive, exponent),
        effective_n=max(1.0, n * (naive / sem) ** 2),
        lag_one=float(g[1] / g[0]),
        notes=("neighbors would lower the error, so the naive error is kept",) if floored else (),
    )


def settled_index(values: FloatArray, window: int = 10, cv_limit: float = 0.05) -> int | None:
    """Return the index of the first steady window of values.

    A window is steady if its coefficient of variation (ddof = 1) is below `cv_limit`, and the exact
    two-sided Mann-Kendall test of a trend has p > 0.05. The first condition alone would accept a
    slow ramp: 1 % per step has a coefficient of variation of 3 % over 10 values.

    Args:
        values: shape (n,), times in the order measured, finite and >= 0.
        window: values in a window, >= 5.
        cv_limit: a fraction, > 0.

    Returns:
        The index of the window's first value, or None if no window is steady.
    """
    require_vector("values", values)
    if values.min() < 0:
        raise ValueError("values must be times, and one is negative")
    if window < _LEAST_WINDOW:
        raise ValueError(f"window must be at least {_LEAST_WINDOW} values, and is {window}")
    if not 0 < cv_limit < math.inf:
        raise ValueError(f"cv_limit must be above 0 and finite, and is {cv_limit}")
    if len(values) < window:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, window)
    quiet = np.flatnonzero(_are_quiet(windows, cv_limit))
    return next((int(k) for k in quiet if trend_p(windows[k]) > _TREND_LEVEL), None)


def trend_p(values: FloatArray) -> float:
    """Return the two-sided p of the Mann-Kendall test of a trend (Mann, 1945; Kendall, 1975).

    The statistic is the number of inversions: pairs in which the later value is the lower one. Up
    to 100 values, p is exact, even with ties. Beyond, it is the normal approximation, corrected for
    ties and for continuity.

    Args:
        values: shape (n,), in the order measured, finite.

    Returns:
        From 0 to 1; 1 if all values are equal.
    """
    require_vector("values", values)
    n = len(values)
    inversions = sum(int(np.count_nonzero(values[k + 1 :] < values[k])) for k in range(n - 1))
    ties = tuple(sorted(np.unique(values, return_counts=True)[1].tolist()))
    if n > _EXACT_TREND:
        return _asymptotic_trend_p(inversions, n, ties)
    lower, upper = _inversion_tails(ties)
    return float(min(1.0, 2 * min(lower[inversions], upper[inversions])))


def _autocovariance(values: FloatArray, max_lag: int) -> FloatArray:
    """g_0 .. g_max_lag, by the power spectrum: n log n steps however many lags."""
    n = len(values)
    # Zeros after the series prevent its end from wrapping around to its beginning.
    size = 1 << (n + max_lag - 1).bit_length()
    spectrum = np.fft.rfft(deviations(values), size)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    g: FloatArray = np.fft.irfft(power, size)[: max_lag + 1] / n
    return g


def _are_quiet(windows: FloatArray, cv_limit: float) -> BoolArray:
    """Return which rows have a coefficient of variation below the limit, or equal values."""
    # Scaling each window to near 1 keeps its squares from overflowing or vanishing.
    exponents = np.frexp(windows.max(axis=1, keepdims=True))[1]
    scaled = np.ldexp(windows, -exponents)
    sd = scaled.std(axis=1, ddof=1)
    quiet: BoolArray = (sd < cv_limit * scaled.mean(axis=1)) | (sd == 0)
    return quiet


@lru_cache(maxsize=64)
def _inversion_tails(ties: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return P(I <= i) and P(I >= i) of the inversions I of a random order, given its ties.

    It builds the order up by one group of equal values at a time. The inversions that a group adds
    are a Mann-Whitney U against all values before it, independent of the inversions among these.
    """
    mass = np.ones(1)
    placed = 0
    for group in ties:
        placed += group
        ways = rank_sum_ways(tuple(range(placed)), group)
        mass = np.convolve(mass, ways / math.comb(placed, group))
    lower, upper = np.cumsum(mass), np.cumsum(mass[::-1])[::-1]
    lower.flags.writeable = False
    upper.flags.writeable = False
    return lower, upper


def _asymptotic_trend_p(inversions: int, n: int, ties: tuple[int, ...]) -> float:
    def weigh(k: int) -> int:
        return k * (k - 1) * (2 * k + 5)

    pairs = (n * (n - 1) - sum(k * (k - 1) for k in ties)) / 2
    variance = (weigh(n) - sum(map(weigh, ties))) / 72
    if variance == 0:
        return 1.0
    excess = abs(inversions - pairs / 2) - 0.5
    return float(min(1.0, 2 * special.ndtr(-excess / math.sqrt(variance))))
