"""Ranks, rank tests, and adjusted p-values."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from benchgate.stats.mann_whitney import mann_whitney, mann_whitney_classical
from benchgate.stats.midranks import doubled_midranks
from benchgate.stats.multiple_tests import holm
from benchgate.stats.signed_rank import signed_rank
from benchgate.stats.trend import trend_p
from validation.agreement.case import Agreement, Draw, Pair

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

UNTIED = ("normal", "skewed")
TIED = ("tied",)


def _ranks(draw: Draw, n: int) -> Pair:
    values = draw(n)
    return doubled_midranks(values) / 2, stats.rankdata(values, axis=1)


def _two_arms(draw: Draw, n: int) -> tuple[FloatArray, FloatArray]:
    """A base of n values, and a head of more that is sometimes slower."""
    return draw(n), draw(n + n // 4) + draw.rng.integers(0, 3, size=(draw.rows, 1))


def _mann_whitney(draw: Draw, n: int, *, method: Literal["exact", "asymptotic"]) -> Pair:
    x, y = _two_arms(draw, n)
    ours = mann_whitney(x, y, method)
    # SciPy's alternatives are about its first argument.
    theirs = [
        stats.mannwhitneyu(y, x, alternative=side, method=method, axis=1).pvalue
        for side in ("greater", "less", "two-sided")
    ]
    return np.stack([ours.p_greater, ours.p_less, ours.p_two_sided]), np.stack(theirs)


def _mann_whitney_tied(draw: Draw, n: int) -> Pair:
    x, y = _two_arms(draw, n)
    deals = math.comb(x.shape[1] + y.shape[1], n)
    theirs = stats.mannwhitneyu(
        y,
        x,
        alternative="greater",
        method=stats.PermutationMethod(n_resamples=deals),
        axis=1,
    )
    return mann_whitney(x, y).p_greater, theirs.pvalue


def _classical(draw: Draw, n: int) -> Pair:
    x, y = _two_arms(draw, n)
    theirs = stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=False, axis=1)
    return mann_whitney_classical(x, y), theirs.pvalue


def _signed_rank(draw: Draw, n: int) -> Pair:
    d = draw(n) - draw(n) * draw.rng.uniform(0.9, 1.1, size=(draw.rows, 1))
    ours = signed_rank(d)
    theirs = [
        stats.wilcoxon(d, alternative=side, method="exact", axis=1).pvalue
        for side in ("greater", "less", "two-sided")
    ]
    return np.stack([ours.p_greater, ours.p_less, ours.p_two_sided]), np.stack(theirs)


def _signed_rank_tied(draw: Draw, n: int) -> Pair:
    d = draw(n) - draw(n)
    d[:, 0] = np.where(d.any(axis=1), d[:, 0], 1.0)  # SciPy takes no row of zeros
    every = stats.PermutationMethod(n_resamples=2**n)
    theirs = [
        stats.wilcoxon(row, alternative="greater", zero_method="pratt", method=every).pvalue
        for row in d
    ]
    return signed_rank(d).p_greater, np.array(theirs)


def _trend(draw: Draw, n: int) -> Pair:
    series = draw(n) + draw.rng.uniform(0, 2, size=(draw.rows, 1)) * np.arange(n)
    theirs = [stats.kendalltau(np.arange(n), row, method="exact").pvalue for row in series]
    return np.array([trend_p(row) for row in series]), np.array(theirs)


def _trend_asymptotic(draw: Draw, n: int) -> Pair:
    """Compute p with SciPy's standard deviation; its p has no continuity correction."""
    series = draw(n) + draw.rng.uniform(0.01, 0.05, size=(draw.rows, 1)) * np.arange(n)
    if draw.kind == "tied":
        series = np.round(series / 10)
    theirs = []
    for row in series:
        score = abs(np.sign(row - row[:, np.newaxis])[np.triu_indices(n, k=1)].sum())
        p = stats.kendalltau(np.arange(n), row, method="asymptotic").pvalue
        sd = score / stats.norm.isf(p / 2)
        theirs.append(min(1.0, 2 * stats.norm.sf((score - 1) / sd)))
    return [trend_p(row) for row in series], theirs


def _trend_tied(draw: Draw, n: int) -> Pair:
    """Count the orders of the values with at most, and with at least, as many inversions."""
    series = draw(n)
    orders = np.array(list(itertools.permutations(range(n))))
    first, second = np.triu_indices(n, k=1)
    theirs = []
    for row in series:
        inversions = (row[orders][:, second] < row[orders][:, first]).sum(axis=1)
        observed = inversions[0]
        tails = (inversions <= observed).mean(), (inversions >= observed).mean()
        theirs.append(min(1.0, 2 * min(tails)))
    return np.array([trend_p(row) for row in series]), np.array(theirs)


def _holm(draw: Draw, k: int) -> Pair:
    """Holm's procedure is the closure of Bonferroni's: every intersection is tested."""
    p = draw(k) ** 3 if draw.kind == "uniform" else np.minimum(1.0, draw(k) / 10)
    subsets = [list(s) for r in range(1, k + 1) for s in itertools.combinations(range(k), r)]
    closed = np.zeros_like(p)
    for subset in subsets:
        bonferroni = np.minimum(1.0, len(subset) * p[:, subset].min(axis=1))
        closed[:, subset] = np.maximum(closed[:, subset], bonferroni[:, np.newaxis])
    return np.stack([holm(row) for row in p]), closed


ROWS = (
    Agreement("mid-ranks", "`scipy.stats.rankdata`", (2, 5, 20, 100, 500), 0.0, _ranks),
    Agreement(
        "Mann-Whitney, exact, without ties",
        "`scipy.stats.mannwhitneyu`, exact",
        (2, 3, 5, 8, 12, 30, 60, 80),
        1e-12,
        partial(_mann_whitney, method="exact"),
        UNTIED,
        least=1e-6,
    ),
    Agreement(
        "Mann-Whitney, exact, with ties",
        "`scipy.stats.mannwhitneyu`, all permutations",
        (2, 3, 4, 5, 6),
        1e-12,
        _mann_whitney_tied,
        TIED,
    ),
    Agreement(
        "Mann-Whitney, asymptotic",
        "`scipy.stats.mannwhitneyu`, asymptotic",
        (2, 5, 8, 20, 100, 500),
        1e-12,
        partial(_mann_whitney, method="asymptotic"),
    ),
    Agreement(
        "Mann-Whitney, classical",
        "`scipy.stats.mannwhitneyu`, without continuity correction",
        (2, 5, 8, 20, 100, 500),
        1e-12,
        _classical,
    ),
    Agreement(
        "signed rank, without ties",
        "`scipy.stats.wilcoxon`, exact",
        (2, 3, 5, 8, 12, 20, 50, 200, 500),
        1e-9,
        _signed_rank,
        UNTIED,
        least=1e-6,
    ),
    Agreement(
        "signed rank, with ties and zeros",
        "`scipy.stats.wilcoxon` (Pratt), all permutations",
        (2, 3, 5, 8, 10),
        1e-12,
        _signed_rank_tied,
        TIED,
        rows=12,
    ),
    Agreement(
        "Mann-Kendall trend, without ties",
        "`scipy.stats.kendalltau`, exact",
        (5, 8, 10, 20, 50, 100),
        1e-12,
        _trend,
        UNTIED,
        least=1e-6,
    ),
    Agreement(
        "Mann-Kendall trend, with ties", "all orders counted", (2, 5, 7), 1e-12, _trend_tied, TIED
    ),
    Agreement(
        "Mann-Kendall trend, asymptotic",
        "`scipy.stats.kendalltau`, and a continuity correction",
        (101, 200, 500),
        1e-9,
        _trend_asymptotic,
    ),
    Agreement(
        "Holm",
        "every intersection tested (closed Bonferroni)",
        (2, 3, 6, 10),
        1e-12,
        _holm,
        ("uniform", "tied"),
    ),
)
