from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.changepoint import EnergyScan

short = st.lists(st.integers(-8, 8), min_size=4, max_size=14)


def scaled(values: list[int]) -> np.ndarray:
    return np.array(values) / 16


def statistic(values: np.ndarray, low: int, at: int, high: int) -> float:
    """Compute Q from its definition, in mean distances of all values."""

    def mean_distance(of: np.ndarray) -> float:
        return float(np.mean([abs(a - b) for a, b in combinations(of, 2)]))

    x, y = values[low:at], values[at:high]
    across = np.mean([abs(a - b) for a in x for b in y])
    energy = 2 * across - mean_distance(x) - mean_distance(y)
    return float(len(x) * len(y) / len(values[low:high]) * energy / mean_distance(values))


def windows(n: int, least: int) -> list[tuple[int, int, int]]:
    reaches = [least * 2**k for k in range(10)]
    return [
        (max(at - reach, 0), at, min(at + reach, n))
        for at in range(least, n - least + 1)
        for reach in reaches
    ]


@given(short, st.integers(2, 5))
def test_the_best_cut_is_that_of_the_definition(values: list[int], least: int) -> None:
    z = scaled(values)
    least = min(least, len(z) // 2)
    cut = EnergyScan(len(z), least).best(z)
    if np.ptp(z) == 0:
        assert cut.statistic == 0
        return
    every = {window: statistic(z, *window) for window in windows(len(z), least)}
    best = max(every.values())
    if best > 1e-9:
        assert cut.statistic == pytest.approx(best, rel=1e-9)
        assert every[cut.low, cut.index, cut.high] == pytest.approx(best, rel=1e-9)
    else:
        assert cut.statistic < 1e-9


def test_the_statistic_agrees_with_scipys_distance() -> None:
    rng = np.random.default_rng(1)
    for m in (300, 500):
        x, y = rng.uniform(-0.5, 0, m), rng.uniform(0, 0.5, m)
        z = np.concatenate([x, y])
        cut = EnergyScan(2 * m, m).best(z)
        distances = np.abs(np.subtract.outer(z, z)).sum() / (2 * m * (2 * m - 1))
        energy = cut.statistic / (m / 2) * distances
        # SciPy's is over all pairs, including those of a value with itself.
        assert energy == pytest.approx(stats.energy_distance(x, y) ** 2, rel=0.01)


@given(short, st.integers(-60, 60))
def test_neither_place_nor_scale_matters(values: list[int], exponent: int) -> None:
    z = scaled(values)
    scan = EnergyScan(len(z), 2)
    assert scan.best(np.ldexp(z, exponent)) == scan.best(z) == scan.best(z + 0.25)


@given(short)
def test_read_backwards_the_best_is_as_good(values: list[int]) -> None:
    z = scaled(values)
    scan = EnergyScan(len(z), 2)
    assert scan.best(z[::-1]).statistic == pytest.approx(scan.best(z).statistic, abs=1e-9)


@given(st.integers(4, 40), st.data())
def test_one_outlier_alone_gives_nothing(n: int, data: st.DataObject) -> None:
    z = np.full(n, 0.125)
    z[data.draw(st.integers(0, n - 1))] = 0.75
    assert EnergyScan(n, 2).best(z).statistic < 1e-9


@given(st.integers(4, 60), st.integers(2, 5))
def test_what_is_looked_at_is_counted(n: int, least: int) -> None:
    least = min(least, n // 2)
    assert EnergyScan(n, least).looks >= len(set(windows(n, least)))


def test_a_scan_keeps_nothing_of_the_series_before() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.uniform(-1, 1, (2, 30))
    scan = EnergyScan(30, 3)
    first = scan.best(one)
    scan.best(other)
    assert scan.best(one) == first
