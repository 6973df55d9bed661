"""Tests of several groups, and p-values adjusted for many tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_vector
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.midranks import doubled_midranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray


# From this many values per group on, the chi-squared approximation is customary.
_CUSTOMARY = 5


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """The test that all groups come from one distribution.

    Attributes:
        h: the statistic, corrected for ties; 0 if all values are equal.
        df: groups - 1.
        p: from the chi-squared distribution with df degrees of freedom.
        notes: whether p is only approximate.
    """

    h: float
    df: int
    p: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairTest:
    """The Mann-Whitney test of one pair of groups.

    Attributes:
        first, second: indices of the groups; first < second.
        u: pairs of values in which the first group's is above the second's, ties counted half.
        p: two-sided, exact if `mann_whitney` is.
        p_adjusted: by Holm, over all pairs.
    """

    first: int
    second: int
    u: float
    p: float
    p_adjusted: float


def holm(p: FloatArray) -> FloatArray:
    """Adjust p-values by Holm's step-down procedure (1979), valid under any dependence.

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`. If every test with an adjusted p <= alpha is rejected,
        the chance of any false rejection among the k tests is at most alpha.
    """
    _require_p(p)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg's step-up procedure (1995).

    It is valid for independent tests, and for tests that depend on each other positively
    (Benjamini and Yekutieli, 2001).

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`, never above `holm`. If every test with an adjusted p <= q
        is rejected, on average at most a share q of the rejections is false.
    """
    _require_p(p)
    order = np.argsort(p)[::-1]
    # Dividing first leaves the greatest p unchanged, to the last digit.
    stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = stepped
    return adjusted


def kruskal_wallis(groups: Sequence[FloatArray]) -> KruskalWallis:
    """Test whether the mean ranks of the groups differ (Kruskal and Wallis, 1952).

    H = (N - 1) sum n_i (R_i - R)^2 / sum (r - R)^2, over the mid-ranks r of all N values, with R_i
    the mean rank of group i and R the mean of all ranks. This form is corrected for ties.

    Args:
        groups: two or more, each of shape (n,), finite; their lengths may differ.
    """
    _require_groups(groups)
    sizes = np.array([len(values) for values in groups])
    ranks = np.split(doubled_midranks(np.concatenate(groups)[np.newaxis])[0], sizes.cumsum()[:-1])
    n, df = int(sizes.sum()), len(groups) - 1
    # For doubled ranks, R is N + 1, and both sums are four times as large.
    between = sum(float(group.sum() - len(group) * (n + 1)) ** 2 / len(group) for group in ranks)
    within = sum(float(np.square(group - (n + 1.0)).sum()) for group in ranks)
    h = (n - 1) * between / within if within else 0.0
    few = int(sizes.min()) < _CUSTOMARY
    note = f"p is approximate: take at least {_CUSTOMARY} launches of each group"
    return KruskalWallis(h, df, float(special.chdtrc(df, h)), (note,) if few else ())


def pairwise(groups: Sequence[FloatArray]) -> tuple[PairTest, ...]:
    """Test each pair of groups by two-sided Mann-Whitney, adjusted by Holm over the pairs.

    Args:
        groups: two or more, each of shape (n,), finite; their lengths may differ.
    """
    _require_groups(groups)
    pairs = list(combinations(range(len(groups)), 2))
    tests = [mann_whitney(groups[i][np.newaxis], groups[j][np.newaxis]) for i, j in pairs]
    u = [float(test.u[0]) for test in tests]
    p = np.array([test.p_two_sided[0] for test in tests])
    columns = zip(pairs, u, p.tolist(), holm(p).tolist(), strict=True)
    return tuple(PairTest(i, j, *rest) for (i, j), *rest in columns)


def _require_p(p: FloatArray) -> None:
    require_vector("p", p)
    if p.min() < 0 or p.max() > 1:
        raise ValueError("p must lie between 0 and 1")


def _require_groups(groups: Sequence[FloatArray]) -> None:
    if len(groups) < 2:
        raise ValueError(f"at least 2 groups are needed to compare them, not {len(groups)}")
    for index, values in enumerate(groups):
        require_vector(f"group {index}", values)
