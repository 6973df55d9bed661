"""The t tests, effect sizes, several groups, p adjusted for many tests, and change points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import stats
from scipy.spatial.distance import pdist, squareform

from benchgate.stats.changepoint import EnergyScan
from benchgate.stats.multiple_tests import benjamini_hochberg, kruskal_wallis, pairwise
from benchgate.stats.t_tests import TTest, effect_size, paired_t, two_sample_t
from validation.agreement.case import Agreement, Draw, Pair
from validation.agreement.describe import CONFIDENCE, varied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray

SIZES = (2, 3, 5, 10, 30, 100, 500)
LEAST_WINDOW = 5

Figures: TypeAlias = "list[float | None]"


def _figures(test: TTest) -> Figures:
    ends = [test.interval.low, test.interval.high] if test.interval else [math.nan] * 2
    return [test.t, test.df, test.p_two_sided, test.p_greater, test.p_less, *ends]


def _all_figures(tests: Sequence[TTest]) -> FloatArray:
    return np.array([_figures(test) for test in tests], dtype=np.float64)


def _paired_t(draw: Draw, n: int) -> Pair:
    d = varied(draw, n) - draw.rng.uniform(50, 150, size=(draw.rows, 1))
    ours = [paired_t(row, CONFIDENCE) for row in d]
    theirs = []
    for row in d:
        both, greater, less = (
            stats.ttest_1samp(row, 0, alternative=side) for side in ("two-sided", "greater", "less")
        )
        interval = both.confidence_interval(CONFIDENCE)
        theirs.append(
            [both.statistic, both.df, both.pvalue, greater.pvalue, less.pvalue, *interval]
        )
    return _all_figures(ours), np.array(theirs, dtype=np.float64)


def _two_sample_t(draw: Draw, n: int, *, equal_variance: bool) -> Pair:
    x, y = varied(draw, n), varied(draw, n + n // 4 + 1)
    ours, theirs = [], []
    for base, head in zip(x, y, strict=True):
        ours.append(two_sample_t(base, head, CONFIDENCE, equal_variance=equal_variance))
        both, greater, less = (
            stats.ttest_ind(head, base, equal_var=equal_variance, alternative=side)
            for side in ("two-sided", "greater", "less")
        )
        interval = both.confidence_interval(CONFIDENCE)
        theirs.append(
            [both.statistic, both.df, both.pvalue, greater.pvalue, less.pvalue, *interval]
        )
    return _all_figures(ours), np.array(theirs, dtype=np.float64)


def _student(draw: Draw, n: int) -> Pair:
    return _two_sample_t(draw, n, equal_variance=True)


def _welch(draw: Draw, n: int) -> Pair:
    return _two_sample_t(draw, n, equal_variance=False)


def _effect(draw: Draw, n: int) -> Pair:
    x, y = varied(draw, n), varied(draw, n + 1)
    found = [effect_size(base, head) for base, head in zip(x, y, strict=True)]
    ours = [(e.cliffs_delta, e.vargha_delaney_a, e.cohens_d, e.hedges_g) for e in found]
    share = stats.mannwhitneyu(y, x, axis=1).statistic / (n * (n + 1))
    t = stats.ttest_ind(y, x, axis=1).statistic
    d = t * math.sqrt(1 / n + 1 / (n + 1))
    theirs = [2 * share - 1, share, d, d * (1 - 3 / (4 * (2 * n + 1) - 9))]
    return np.array(ours, dtype=np.float64).T, theirs


def _groups(draw: Draw, n: int) -> list[list[FloatArray]]:
    """For each row three groups of unequal sizes."""
    arms = [varied(draw, k) for k in (n, n + 1, n + n // 3)]
    return [[arm[row] for arm in arms] for row in range(draw.rows)]


def _kruskal_wallis(draw: Draw, n: int) -> Pair:
    ours, theirs = [], []
    for groups in _groups(draw, n):
        found = kruskal_wallis(groups)
        ours.append([found.h, found.p])
        theirs.append(list(stats.kruskal(*groups)))
    return ours, theirs


def _pairwise(draw: Draw, n: int) -> Pair:
    """Untied values; Holm's procedure written out for three tests."""
    ours, theirs = [], []
    for groups in _groups(draw, n):
        ours.append([pair.p_adjusted for pair in pairwise(groups)])
        p = np.array(
            [
                stats.mannwhitneyu(groups[i], groups[j], method="exact").pvalue
                for i, j in ((0, 1), (0, 2), (1, 2))
            ]
        )
        least, middle, greatest = np.argsort(p)
        holm = np.empty(3)
        holm[least] = min(1.0, 3 * p[least])
        holm[middle] = max(holm[least], min(1.0, 2 * p[middle]))
        holm[greatest] = max(holm[middle], p[greatest])
        theirs.append(holm)
    return ours, theirs


def _benjamini_hochberg(draw: Draw, k: int) -> Pair:
    p = draw(k) ** 3 if draw.kind == "uniform" else np.minimum(1.0, draw(k) / 10)
    return [benjamini_hochberg(row) for row in p], stats.false_discovery_control(p, axis=1)


def _energy(draw: Draw, n: int) -> Pair:
    """The statistic where the package cuts, and of the best cut there is, from all distances."""
    ours, theirs = [], []
    for row in draw(n):
        scaled = row / (2 * row.max())
        best = EnergyScan(n, LEAST_WINDOW).best(scaled)
        distances = squareform(pdist(scaled[:, np.newaxis]))
        mean = distances.sum() / (n * (n - 1))
        ours.append(best.statistic)
        theirs.append(max(0.0, *_energies(distances)) / mean)
    return ours, theirs


def _energies(distances: FloatArray) -> list[float]:
    """Of each place and reach of windows, doubled from the least until they meet the ends."""
    n = len(distances)
    found = []
    for place in range(LEAST_WINDOW, n - LEAST_WINDOW + 1):
        reach = LEAST_WINDOW
        while True:
            before = slice(max(place - reach, 0), place)
            after = slice(place, min(place + reach, n))
            found.append(_energy_between(distances, before, after))
            if reach >= n - LEAST_WINDOW:
                break
            reach *= 2
    return found


def _energy_between(distances: FloatArray, before: slice, after: slice) -> float:
    m, n = before.stop - before.start, after.stop - after.start
    across = distances[before, after].mean()
    within = [distances[part, part].sum() / (k * (k - 1)) for part, k in ((before, m), (after, n))]
    return float(m * n / (m + n) * (2 * across - sum(within)))


ROWS = (
    Agreement("t test of pairs", "`scipy.stats.ttest_1samp`", SIZES, 1e-11, _paired_t, least=1e-3),
    Agreement("Student's t test", "`scipy.stats.ttest_ind`", SIZES, 1e-11, _student, least=1e-3),
    Agreement(
        "Welch's t test",
        "`scipy.stats.ttest_ind`, equal_var=False",
        SIZES,
        1e-11,
        _welch,
        least=1e-3,
    ),
    Agreement(
        "Cliff's delta, Vargha-Delaney A, Cohen's d, Hedges' g",
        "`scipy.stats.mannwhitneyu`, `ttest_ind`",
        SIZES,
        1e-11,
        _effect,
        least=1e-3,
    ),
    Agreement(
        "Kruskal-Wallis",
        "`scipy.stats.kruskal`",
        SIZES,
        1e-10,
        _kruskal_wallis,
        least=1e-3,
    ),
    Agreement(
        "pairs of groups, Holm",
        "`scipy.stats.mannwhitneyu`, exact; Holm by hand",
        (2, 3, 5, 10, 25),
        1e-12,
        _pairwise,
        ("normal", "skewed"),
        least=1e-6,
    ),
    Agreement(
        "Benjamini-Hochberg",
        "`scipy.stats.false_discovery_control`",
        (2, 3, 10, 100, 500),
        1e-12,
        _benjamini_hochberg,
        ("uniform", "tied"),
    ),
    Agreement(
        "energy statistic of the best change point",
        "all windows, from `scipy.spatial.distance.pdist`",
        (10, 12, 30, 60),
        1e-9,
        _energy,
        rows=5,
        least=1e-3,
    ),
)
