"""Intervals from Student's t, around the mean of one sample and around any estimate."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from benchgate.interval import Interval
from benchgate.stats.checks import require_fraction, require_vector
from benchgate.stats.moments import moments
from benchgate.stats.outliers import winsorized_sem

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.stats.outliers import TrimmedSample


def mean_interval(values: FloatArray, confidence: float) -> Interval | None:
    """Return the t interval of the mean: mean +- t(n - 1) s / sqrt(n) (Student, 1908).

    It is right for independent values that are not skewed. For 10 values of a skewed distribution,
    a nominal 95 % covers about 84 %: see `log_mean_interval`.

    Args:
        values: shape (n,), finite.
        confidence: e.g. 0.95.

    Returns:
        None for n = 1, which shows no spread, and if an end is beyond the largest float.

    Raises:
        ValueError: on NaN, infinity, no value, another shape, or a confidence out of range.
    """
    require_fraction("confidence", confidence)
    described = moments(values)
    if described.sem is None:
        return None
    return t_interval(described.mean, described.sem, described.n - 1, confidence, "t")


def trimmed_mean_interval(trimmed: TrimmedSample, confidence: float) -> Interval | None:
    """Return the t interval of a trimmed mean: mean of h kept values +- t(h - 1) Winsorized SEM.

    The plain standard error of the kept values would ignore that others were dropped (Tukey and
    McLaughlin, 1963; Yuen, 1974). The theory assumes that a fixed share is dropped at both ends. If
    fences decide what is dropped, the interval is an approximation.

    Args:
        trimmed: from `trim`.
        confidence: e.g. 0.95.

    Returns:
        None if one value is kept, and if an end is beyond the largest float.

    Raises:
        ValueError: on a confidence outside (0, 1).
    """
    require_fraction("confidence", confidence)
    kept = moments(trimmed.kept)
    sem = winsorized_sem(trimmed)
    if sem is None:
        return None
    return t_interval(kept.mean, sem, kept.n - 1, confidence, "Winsorized t")


def log_mean_interval(values: FloatArray, confidence: float) -> Interval | None:
    """Return the t interval of the geometric mean, computed on logarithms.

    Args:
        values: shape (n,), finite, > 0.
        confidence: e.g. 0.95.

    Returns:
        In the unit of the values. None for n = 1, which shows no spread, and if the upper end, or
        its ratio to the geometric mean, is beyond the largest float.

    Raises:
        ValueError: on NaN, infinity, values <= 0, no value, another shape, or a confidence out of
            range.
    """
    require_fraction("confidence", confidence)
    require_vector("values", values)
    if values.min() <= 0:
        raise ValueError(f"values must be above 0 to have a logarithm, and one is {values.min()}")
    logs = moments(np.log(values))
    if logs.sem is None:
        return None
    reach = _t(logs.n - 1, confidence) * logs.sem
    if reach > math.log(sys.float_info.max):
        return None
    # exp(log(x)) may differ from x in the last digit; equal values keep theirs.
    center = float(np.clip(math.exp(logs.mean), values.min(), values.max()))
    return _finite(center * math.exp(-reach), center * math.exp(reach), confidence, "t on logs")


def t_interval(
    estimate: float, standard_error: float, df: float, confidence: float, method: str
) -> Interval | None:
    """Return the interval estimate +- t(df) standard errors.

    Args:
        estimate, standard_error: finite, in one unit.
        df: degrees of freedom of the standard error, > 0.
        confidence: within (0, 1).
        method: the interval's name.

    Returns:
        None if an end is beyond the largest float.
    """
    reach = _t(df, confidence) * standard_error
    return _finite(estimate - reach, estimate + reach, confidence, method)


def _t(df: float, confidence: float) -> float:
    # The lower tail keeps its digits if the confidence is near 1.
    return -float(stdtrit(df, (1 - confidence) / 2))


def _finite(low: float, high: float, confidence: float, method: str) -> Interval | None:
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return Interval(low, high, confidence, method)
