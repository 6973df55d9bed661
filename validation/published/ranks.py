"""Critical values and worked examples of the rank tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney, mann_whitney_lower
from benchgate.stats.signed_rank import signed_rank, signed_rank_lower
from validation.published.case import Published

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

# Two-sided 5 % points, n1 and n2 from 5 to 20: a line for each n1, from n2 = n1 on. 14 v 17 is
# left out: copies of the table print 67 there, where the exact point is 69.
MANN_WHITNEY = """
2 3 5 6 7 8 9 11 12 13 14 15 17 18 19 20
5 6 8 10 11 13 14 16 17 19 21 22 24 25 27
8 10 12 14 16 18 20 22 24 26 28 30 32 34
13 15 17 19 22 24 26 29 31 34 36 38 41
17 20 23 26 28 31 34 37 39 42 45 48
23 26 29 33 36 39 42 45 48 52 55
30 33 37 40 44 47 51 55 58 62
37 41 45 49 53 57 61 65 69
45 50 54 59 63 67 72 76
55 59 64 74 78 83
64 70 75 80 85 90
75 81 86 92 98
87 93 99 105
99 106 112
113 119
127
"""

# One-sided and two-sided 5 % points of T, n from 6 to 20.
SIGNED_RANK_ONE_SIDED = "2 3 5 8 10 13 17 21 25 30 35 41 47 53 60"
SIGNED_RANK_TWO_SIDED = "0 2 3 5 8 10 13 17 21 25 29 34 40 46 52"


def _critical(lower: FloatArray, one_sided: float) -> float:
    """The greatest value of a statistic at which the test rejects."""
    return int(np.count_nonzero(lower <= one_sided)) - 1


def _mann_whitney_points() -> list[float]:
    sizes = [(n1, n2) for n1 in range(5, 21) for n2 in range(n1, 21) if (n1, n2) != (14, 17)]
    return [_critical(mann_whitney_lower(n1, n2), 0.025) for n1, n2 in sizes]


def _signed_rank_points(one_sided: float) -> list[float]:
    return [_critical(signed_rank_lower(n), one_sided) for n in range(6, 21)]


# Hamilton depression scale factor before and after a tranquilizer.
BEFORE = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
AFTER = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)

# Water permeability of the amnion at term, and at 12 to 26 weeks.
AT_TERM = (0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
EARLY = (1.15, 0.88, 0.90, 0.74, 1.21)


def _depression() -> list[float]:
    result = signed_rank(np.array([BEFORE]) - np.array([AFTER]))
    return [result.w_plus[0], result.p_greater[0]]


def _permeability() -> list[float]:
    result = mann_whitney(np.array([EARLY]), np.array([AT_TERM]))
    return [50 - result.u[0], result.p_greater[0]]


ROWS = (
    Published(
        "Mann-Whitney, two-sided 5 % points of U",
        "the tables of textbooks, n1, n2 = 5 to 20",
        tuple(MANN_WHITNEY.split()),
        _mann_whitney_points,
    ),
    Published(
        "signed rank, one-sided 5 % points of T",
        "Harvey, Chemometrics Using R, appendix 12.6, n = 6 to 20",
        tuple(SIGNED_RANK_ONE_SIDED.split()),
        lambda: _signed_rank_points(0.05),
    ),
    Published(
        "signed rank, two-sided 5 % points of T",
        "Harvey, Chemometrics Using R, appendix 12.6, n = 6 to 20",
        tuple(SIGNED_RANK_TWO_SIDED.split()),
        lambda: _signed_rank_points(0.025),
    ),
    Published(
        "signed rank, W+ and one-sided p",
        "Hollander and Wolfe, 1973, depression scale (R: `wilcox.test`)",
        ("40", "0.01953"),
        _depression,
    ),
    Published(
        "Mann-Whitney, U and one-sided p",
        "Hollander and Wolfe, 1973, permeability (R: `wilcox.test`)",
        ("35", "0.1272"),
        _permeability,
    ),
)
