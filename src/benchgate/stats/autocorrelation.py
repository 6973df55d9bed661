"""How much values depend on those before them, and what that does to the error of their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.spread import binary_scaled, deviations, moments

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

Weights: TypeAlias = Literal["plain", "bartlett"]


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


def _autocovariance(values: FloatArray, max_lag: int) -> FloatArray:
    """g_0 .. g_max_lag, by the power spectrum: n log n steps however many lags."""
    n = len(values)
    # Zeros after the series prevent its end from wrapping around to its beginning.
    size = 1 << (n + max_lag - 1).bit_length()
    spectrum = np.fft.rfft(deviations(values), size)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    g: FloatArray = np.fft.irfft(power, size)[: max_lag + 1] / n
    return g
