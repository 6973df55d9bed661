from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.bootstrap import blocks
from benchgate.stats.resampling import Pool, ResampleDraw, affordable_resamples, generator
from benchgate.stats.spread import nearest_rank

UNEVEN = [np.array([10.0, 11, 12]), np.array([20.0]), np.array([30.0, 31, 31, 33, 34])]


def rows_of(draw: ResampleDraw) -> list[list[float]]:
    sizes = draw.sizes.tolist()
    return [draw.values[draw.ranks[k, :n]].tolist() for k, n in enumerate(sizes)]


def test_samples_are_drawn_from_the_launches_named_as_many_as_these_have() -> None:
    named = np.array([[0, 0, 0], [1, 1, 1], [2, 1, 0], [2, 2, 2]])
    draw = Pool.of("launches", UNEVEN).draw(named, generator(1))
    assert draw.sizes.tolist() == [9, 3, 9, 15]
    for row, launches in zip(rows_of(draw), named.tolist(), strict=True):
        assert row == sorted(row)
        for k, launch in enumerate(UNEVEN):
            drawn = [value for value in row if value in launch]
            assert len(drawn) == launches.count(k) * len(launch)


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.25, 0.5, 0.95, 1.0]))
def test_quantiles_are_those_of_the_samples_drawn(seed: int, p: float) -> None:
    rng = generator(seed)
    draw = Pool.of("launches", UNEVEN).draw(rng.integers(3, size=(7, 3)), rng)
    rows = [np.array(row) for row in rows_of(draw)]
    assert draw.quantile(p).tolist() == [float(nearest_rank(row, p)) for row in rows]


@pytest.mark.parametrize("n", [2, 7, 45, 300, 70_000])
def test_each_sample_of_a_launch_is_drawn_equally_often(n: int) -> None:
    other = np.array([-1.0, -2.0])
    pool = Pool.of("launches", [other, np.arange(float(n))])
    draw = pool.draw(np.ones((max(1, 20_000 // n), 1), dtype=np.int64), generator(n))
    drawn = draw.values[draw.ranks]
    assert drawn.min() >= 0
    tenths = np.bincount((drawn * min(n, 10) // n).astype(np.int64).ravel())
    expected = np.bincount(np.arange(n) * min(n, 10) // n) * (drawn.size / n)
    assert stats.chisquare(tenths, expected).pvalue > 0.001


@pytest.mark.parametrize(
    ("samples", "resamples"),
    [(1, 10_000), (400, 10_000), (800, 5_000), (4_000, 1_000), (10**9, 1_000)],
)
def test_many_samples_are_drawn_less_often(samples: int, resamples: int) -> None:
    assert affordable_resamples(samples) == resamples


@given(st.integers(1, 5000), st.integers(1, 1_000_000))
def test_blocks_take_every_resample_once(resamples: int, per_resample: int) -> None:
    places = np.arange(resamples)
    parts = [places[rows] for rows in blocks(resamples, per_resample)]
    assert np.concatenate(parts).tolist() == places.tolist()
    assert all(len(part) * per_resample <= 1 << 17 or len(part) == 1 for part in parts)


@pytest.mark.parametrize(
    ("launches", "message"),
    [
        ([], "launches is empty"),
        ([np.ones(2), np.array([])], r"launches\[1\] is empty"),
        ([np.ones((2, 2))], r"launches\[0\] must have shape"),
        ([np.array([1, np.nan])], "nan"),
        ([np.array([1e302])], "within"),
    ],
)
def test_bad_launches_are_refused(launches: list[np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool.of("launches", launches)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        blocks(0, 5)
    with pytest.raises(ValueError, match="non-negative"):
        generator(-1)
