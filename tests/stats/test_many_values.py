"""Ranks of as many values as pooled samples can have, whose squares do not fit into int64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import kruskal, mannwhitneyu

from benchgate.stats.mann_whitney import mann_whitney_classical
from benchgate.stats.multiple_tests import kruskal_wallis
from benchgate.stats.t_tests import effect_size

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

N = 1_600_000


@pytest.fixture(scope="module")
def arms() -> tuple[FloatArray, FloatArray]:
    """Two arms that hardly differ, with ties."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(0, 1, N), rng.normal(0.002, 1, N)
    return np.round(x, 3), np.round(y, 3)


def test_mann_whitney_agrees_with_scipy(arms: tuple[FloatArray, FloatArray]) -> None:
    x, y = arms
    expected = mannwhitneyu(y, x, use_continuity=False, method="asymptotic")
    assert 1e-6 < expected.pvalue < 0.9
    found = mann_whitney_classical(x[np.newaxis], y[np.newaxis])
    assert found[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert effect_size(x, y).vargha_delaney_a == pytest.approx(expected.statistic / N**2, rel=1e-12)


def test_kruskal_wallis_agrees_with_scipy(arms: tuple[FloatArray, FloatArray]) -> None:
    found = kruskal_wallis(arms)
    expected = kruskal(*arms)
    assert found.h == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
