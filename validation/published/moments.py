"""Certified moments, and the t table."""

from __future__ import annotations

import numpy as np

from benchgate.stats.autocorrelation import autocorrelation
from benchgate.stats.intervals import mean_interval
from benchgate.stats.spread import moments
from validation.published.case import Published

NIST = "NIST, Statistical Reference Datasets, univariate"
T_TABLE = {
    1: "12.706",
    2: "4.303",
    3: "3.182",
    4: "2.776",
    5: "2.571",
    6: "2.447",
    7: "2.365",
    8: "2.306",
    9: "2.262",
    10: "2.228",
    15: "2.131",
    20: "2.086",
    30: "2.042",
    60: "2.000",
    120: "1.980",
}


def _described(*values: float) -> list[float | None]:
    """Mean, standard deviation and lag-1 autocorrelation."""
    found, lags = moments(np.array(values)), autocorrelation(np.array(values), 1)
    return [found.mean, found.sd, None if lags is None else float(lags[0])]


def _t_points() -> list[float | None]:
    """Half the length of the interval of df + 1 values, in standard errors."""
    points: list[float | None] = []
    for df in T_TABLE:
        values = np.arange(df + 1.0)
        interval, sem = mean_interval(values, 0.95), moments(values).sem
        points.append((interval.high - interval.low) / 2 / sem if interval and sem else None)
    return points


ROWS = (
    Published(
        "mean, s, lag-1 autocorrelation: NumAcc1",
        NIST,
        ("10000002", "1.000000000000", "-0.500000000000"),
        lambda: _described(10000001.0, 10000003.0, 10000002.0),
    ),
    Published(
        "mean, s, lag-1 autocorrelation: NumAcc2",
        NIST,
        ("1.200000000000", "0.100000000000", "-0.999000000000"),
        lambda: _described(1.2, *[1.1, 1.3] * 500),
    ),
    Published(
        "mean, s, lag-1 autocorrelation: NumAcc3",
        NIST,
        ("1000000.200000000", "0.100000000", "-0.999000000"),
        lambda: _described(1000000.2, *[1000000.1, 1000000.3] * 500),
    ),
    Published(
        "mean, s, lag-1 autocorrelation: NumAcc4",
        NIST,
        ("10000000.20000000", "0.10000000", "-0.99900000"),
        lambda: _described(10000000.2, *[10000000.1, 10000000.3] * 500),
    ),
    Published(
        "t interval, two-sided 5 % points of t",
        "the tables of textbooks, 1 to 120 degrees of freedom",
        tuple(T_TABLE.values()),
        _t_points,
    ),
)
