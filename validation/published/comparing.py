"""Worked examples of the t tests, several groups, many tests, and a change in a history."""

from __future__ import annotations

import itertools

import numpy as np

from benchgate.stats.changepoint import change_points
from benchgate.stats.multiple_tests import benjamini_hochberg, holm, kruskal_wallis
from benchgate.stats.t_tests import TTest, paired_t, two_sample_t
from validation.published.case import Published

# Hours of sleep gained with two drugs (Cushny and Peebles; Student, 1908).
FIRST_DRUG = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SECOND_DRUG = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])

# Daily output of three machines for bottle caps.
MACHINES = [
    np.array([340.0, 345, 330, 342, 338]),
    np.array([339.0, 333, 344]),
    np.array([347.0, 343, 349, 355]),
]

# The p of 15 comparisons of two treatments of a heart attack.
HEART_P = (
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
)

# Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 cubic meters.
NILE = """
1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140
1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969
831 726 456 824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759
781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890
744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740
"""


def _t_figures(test: TTest) -> list[float | None]:
    ends = [test.interval.low, test.interval.high] if test.interval else []
    return [test.t, test.df, test.p_two_sided, *ends]


def _kruskal_wallis_tails() -> list[float]:
    """How often H of 3 v 3 v 3 is at least as great as each of the values tabulated."""
    ranks = set(range(9))
    found = []
    for first in itertools.combinations(sorted(ranks), 3):
        for second in itertools.combinations(sorted(ranks - {*first}), 3):
            third = sorted(ranks - {*first} - {*second})
            groups = [np.array(group, dtype=np.float64) for group in (first, second, third)]
            found.append(kruskal_wallis(groups).h)
    h = np.array(found)
    return [float((h >= least - 5e-4).mean()) for least in (7.2, 6.489, 5.689, 5.6, 5.067, 4.622)]


def _rejected() -> list[float]:
    """How many of the heart attack's tests Benjamini-Hochberg and Holm report at 5 %."""
    p = np.array(HEART_P)
    return [float((adjust(p) <= 0.05).sum()) for adjust in (benjamini_hochberg, holm)]


def _nile() -> list[float]:
    """The last year before each change."""
    flow = np.array(NILE.split(), dtype=np.float64)
    return [1871.0 + change.index - 1 for change in change_points(flow)]


ROWS = (
    Published(
        "t of pairs: t, df, p, 95 % interval",
        "Student, 1908, sleep (R: `t.test`, paired)",
        ("4.0621", "9", "0.002833", "0.7001142", "2.4598858"),
        lambda: _t_figures(paired_t(SECOND_DRUG - FIRST_DRUG, 0.95)),
    ),
    Published(
        "Welch's t: t, df, p, 95 % interval",
        "Student, 1908, sleep (R: `t.test`)",
        ("1.8608", "17.776", "0.07939", "-0.2054832", "3.3654832"),
        lambda: _t_figures(two_sample_t(FIRST_DRUG, SECOND_DRUG, 0.95, equal_variance=False)),
    ),
    Published(
        "Kruskal-Wallis, H",
        "Kruskal and Wallis, 1952, bottle caps",
        ("5.656",),
        lambda: [kruskal_wallis(MACHINES).h],
    ),
    Published(
        "Kruskal-Wallis, P(H >= 7.200, 6.489, 5.689, 5.600, 5.067, 4.622) of 3 v 3 v 3",
        "Kruskal and Wallis, 1952, exact table",
        ("0.004", "0.011", "0.029", "0.050", "0.086", "0.100"),
        _kruskal_wallis_tails,
    ),
    Published(
        "Benjamini-Hochberg and Holm, reports of 15 at 5 %",
        "Benjamini and Hochberg, 1995, heart attacks",
        ("4", "3"),
        _rejected,
    ),
    Published(
        "change points, the last year before",
        "Cobb, 1978, the flow of the Nile",
        ("1898",),
        _nile,
    ),
)
