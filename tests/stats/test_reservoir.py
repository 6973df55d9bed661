from __future__ import annotations

import random
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.reservoir import Reservoir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.arrays import IntArray

# One correct sampler in 10,000 would fail by chance. The seeds are fixed, so this one does not.
FAIR_LEVEL = 1e-4


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - repeatable on purpose


def reservoir_of(values: Iterable[int], rng: random.Random, capacity: int) -> Reservoir:
    reservoir = Reservoir(rng, capacity)
    for value in values:
        reservoir.record(value)
    return reservoir


def assert_fair(draw: Callable[[random.Random], IntArray], n: int, trials: int) -> None:
    """Each of 0..n-1 is drawn equally often.

    How often each is drawn in simple random samples of k has a covariance of
    trials * k/n * (1 - k/n) * n/(n-1) * (I - 1/n), so that the sum of squares is chi-squared.
    """
    rng = seeded(7)
    sizes = set()
    drawn = np.zeros(n)
    for _ in range(trials):
        sample = draw(rng)
        assert len(np.unique(sample)) == len(sample)
        drawn[sample] += 1
        sizes.add(len(sample))
    share = sizes.pop() / n
    assert not sizes
    variance = trials * share * (1 - share) * n / (n - 1)
    statistic = ((drawn - trials * share) ** 2).sum() / variance
    assert stats.chi2.sf(statistic, n - 1) > FAIR_LEVEL


@pytest.mark.parametrize("at_once", [True, False])
def test_golden_sample_of_1_to_100000(at_once: bool) -> None:  # noqa: FBT001 - a table
    reservoir = Reservoir(seeded(42))
    if at_once:
        reservoir.record_many(np.arange(1, 100_001))
    else:
        for value in range(1, 100_001):
            reservoir.record(value)
    values = reservoir.values()
    assert values[:3].tolist() == [28442, 23297, 21246]
    assert values.mean() == pytest.approx(50193.08, abs=1e-9)
    assert (reservoir.count, values.shape) == (100_000, (10_000,))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=60), st.integers(1, 40), st.integers())
def test_it_keeps_values_of_the_stream_and_all_while_there_is_room(
    stream: list[int], capacity: int, seed: int
) -> None:
    reservoir = reservoir_of(stream, seeded(seed), capacity)
    kept = reservoir.values().tolist()
    assert reservoir.count == len(stream)
    assert len(kept) == min(len(stream), capacity)
    assert all(kept.count(value) <= stream.count(value) for value in kept)
    if len(stream) <= capacity:
        assert kept == stream


@given(st.integers(0, 100), st.integers(0, 10_000), st.integers(1, 200), st.integers())
def test_many_values_at_once_are_the_same_as_one_by_one(
    first: int, second: int, capacity: int, seed: int
) -> None:
    at_once = Reservoir(seeded(seed), capacity)
    at_once.record_many(np.arange(first))
    at_once.record_many(np.arange(first, first + second))
    one_by_one = reservoir_of(range(first + second), seeded(seed), capacity)
    assert at_once.count == one_by_one.count
    assert at_once.values().tolist() == one_by_one.values().tolist()


def test_what_it_gives_is_a_copy() -> None:
    reservoir = reservoir_of([1, 2, 3], seeded(1), 5)
    reservoir.values()[:] = 0
    assert reservoir.values().tolist() == [1, 2, 3]


def test_every_value_of_a_stream_is_kept_equally_often() -> None:
    assert_fair(lambda rng: reservoir_of(range(60), rng, 8).values(), n=60, trials=4000)


def merged(rng: random.Random) -> IntArray:
    """Merge streams far beyond capacity, a little beyond, below, and empty; then record more."""
    result = Reservoir(rng, 8)
    for stream in (range(50), range(50, 62), range(62, 65), range(0)):
        result.merge(reservoir_of(stream, rng, 8))
    for value in range(65, 72):
        result.record(value)
    assert result.count == 72
    return result.values()


def test_every_value_of_merged_streams_is_kept_equally_often() -> None:
    assert_fair(merged, n=72, trials=4000)


def test_how_many_come_from_each_stream_is_hypergeometric() -> None:
    rng = seeded(3)
    trials, capacity, sizes = 4000, 10, (45, 15)
    found = np.zeros(capacity + 1)
    for _ in range(trials):
        one = reservoir_of(range(sizes[0]), rng, capacity)
        one.merge(reservoir_of(range(sizes[0], sum(sizes)), rng, capacity))
        found[np.count_nonzero(one.values() >= sizes[0])] += 1
    expected = trials * stats.hypergeom(sum(sizes), sizes[1], capacity).pmf(range(capacity + 1))
    # The rare counts are one class, so that at least 5 are expected in each class.
    common = expected >= 5
    observed = [*found[common], found[~common].sum()]
    awaited = [*expected[common], expected[~common].sum()]
    assert stats.chisquare(observed, awaited).pvalue > FAIR_LEVEL


def test_a_slow_worker_weighs_as_little_as_it_did() -> None:
    fast, slow = Reservoir(seeded(1)), Reservoir(seeded(2))
    fast.record_many(np.zeros(990_000, dtype=np.int64))
    slow.record_many(np.ones(10_000, dtype=np.int64))
    fast.merge(slow)
    # 100 of 10,000 are expected, with a standard deviation of 9.9.
    assert fast.values().sum() == pytest.approx(100, abs=4 * 9.9)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=5), st.integers())
def test_what_fits_is_all_kept_and_the_others_stay_as_they_are(sizes: list[int], seed: int) -> None:
    parts = [reservoir_of(range(size), seeded(seed), 60) for size in sizes]
    result = Reservoir(seeded(seed), 60)
    for part in parts:
        result.merge(part)
    assert result.count == sum(sizes)
    assert sorted(result.values()) == sorted(value for size in sizes for value in range(size))
    assert [part.values().tolist() for part in parts] == [list(range(size)) for size in sizes]


def test_the_same_seed_merges_the_same() -> None:
    results = [merged(seeded(5)).tolist() for _ in range(2)]
    assert results[0] == results[1] != merged(seeded(6)).tolist()


def test_reservoirs_of_other_capacities_are_refused_and_nothing_changes() -> None:
    one = reservoir_of(range(20), seeded(1), 10)
    before = one.values().tolist()
    with pytest.raises(ValueError, match="one capacity can be merged, and have 10 and 11"):
        one.merge(Reservoir(seeded(2), 11))
    assert (one.count, one.values().tolist()) == (20, before)


@pytest.mark.parametrize("capacity", [0, -1])
def test_it_needs_a_slot(capacity: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1 slot, and is {capacity}"):
        Reservoir(seeded(1), capacity)


@pytest.mark.parametrize("values", [np.array([1.5]), np.array([[1]]), np.array(1)])
def test_other_arrays_are_refused(values: IntArray) -> None:
    with pytest.raises(ValueError, match=r"int64 of shape \(n,\)"):
        Reservoir(seeded(1)).record_many(values)


def test_it_takes_the_memory_that_it_says() -> None:
    values = np.arange(2**40, 2**40 + 30_000)
    rng = seeded(1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        reservoir = Reservoir(rng)
        created = tracemalloc.get_traced_memory()[0] - before
        reservoir.record_many(values)
        # numpy keeps a few small blocks for its next arrays: they are not freed with the reservoir
        held = tracemalloc.get_traced_memory()[0]
        del reservoir
        held -= tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 80_000 <= created < 80_300
    assert 80_000 <= held < 80_300
