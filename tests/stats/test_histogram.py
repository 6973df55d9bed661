from __future__ import annotations

import pickle
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats import histogram as histogram_module
from benchgate.stats.histogram import HIGHEST_NS, Histogram
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.arrays import FloatArray, IntArray

COUNTER_BYTES = 33_421 * 8
EMPTY = {"count": 0, "clamped": 0, "min": None, "max": None, "mean": None, "stdev": None}

# All magnitudes are equally likely, including exact ones and those beyond the range.
durations = st.one_of(
    st.integers(0, 3000),
    st.integers(0, 43).flatmap(lambda bits: st.integers(2**bits - 1, 2**bits + 1)),
    st.integers(0, 2 * HIGHEST_NS),
)
samples = st.lists(durations, min_size=1, max_size=50)


def histogram_of(values: Iterable[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


def facts(histogram: Histogram) -> dict[str, float | None]:
    """Everything that it answers; the percentiles of all ranks show every bucket."""
    n = histogram.count
    scalars = {name: getattr(histogram, name) for name in EMPTY}
    return scalars | {f"{k}/{n}": histogram.percentile(k / n) for k in range(n + 1) if n}


def log_uniform(seed: int, n: int, lowest: float, highest: float) -> IntArray:
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(np.log(lowest), np.log(highest), n)).astype(np.int64)


def reference_of(values: IntArray) -> HdrHistogram:
    reference = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values.tolist():
        assert reference.record_value(value)
    return reference


def reference_middles(values: IntArray) -> FloatArray:
    reference = HdrHistogram(1, HIGHEST_NS, 3)
    ends = [
        (reference.get_lowest_equivalent_value(x), reference.get_highest_equivalent_value(x))
        for x in values.tolist()
    ]
    middles: FloatArray = np.mean(ends, axis=1)
    return middles


def test_golden_figures_of_1_to_10000() -> None:
    histogram = Histogram()
    histogram.record_many(np.arange(1, 10_001))
    assert [histogram.percentile(p) for p in (0.5, 0.95, 0.99)] == [5003, 9503, 9903]
    assert histogram.mean == pytest.approx(5000.50035, abs=1e-9)
    assert histogram.stdev == pytest.approx(2886.75168, abs=5e-6)
    assert (histogram.min, histogram.max, histogram.count) == (1, 10_000, 10_000)


def test_golden_percentiles_of_one_repeated_value() -> None:
    histogram = histogram_of([1_000_001] * 10)
    assert {histogram.percentile(k / 20) for k in range(21)} == {1_000_001}
    assert (histogram.mean, histogram.stdev) == (1_000_001, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("lowest", "highest"),
    [(1, 100), (1, 5000), (3000, 1e5), (1e5, 1e7), (1e8, 1e12), (1, HIGHEST_NS)],
)
def test_it_agrees_with_hdrhistogram(seed: int, lowest: float, highest: float) -> None:
    values = log_uniform(seed, 1000, lowest, highest)
    histogram, reference = histogram_of(values.tolist()), reference_of(values)
    # Fractions of 1,000 at which both take the same rank: the reference rounds p * n.
    fractions = [k / 1000 for k in (1, 2, 250, 500, 501, 900, 950, 990, 999, 1000)]
    expected = reference.get_percentile_to_value_dict([100 * p for p in fractions])
    for p in fractions:
        assert histogram.percentile(p) == min(expected[100 * p], values.max())
    assert histogram.count == reference.get_total_count()
    # It puts the mid-point of a bucket that is wider than 1 half a ns too high.
    half = 0.5 * np.mean(values >= 2048)
    assert histogram.mean == pytest.approx(reference.get_mean_value() - half, rel=1e-12)
    if lowest >= 2048:
        assert histogram.stdev == pytest.approx(reference.get_stddev(), rel=1e-9)
    assert histogram.stdev == pytest.approx(reference_middles(values).std(), rel=1e-12)


def test_every_bucket_ends_where_hdrhistograms_does() -> None:
    reference = HdrHistogram(1, HIGHEST_NS, 3)
    edges = [2**bits + step for bits in range(42) for step in (-2, -1, 0, 1, 2**bits // 3)]
    values = [x for x in edges if 0 <= x < HIGHEST_NS]
    values += log_uniform(7, 500, 1, HIGHEST_NS).tolist()
    for value in values:
        histogram = histogram_of([value, HIGHEST_NS])
        assert histogram.percentile(0.5) == reference.get_highest_equivalent_value(value)


@given(samples, st.floats(0, 1), st.floats(0, 1))
def test_a_percentile_lies_less_than_one_part_in_1024_above_the_exact_one(
    values: list[int], p: float, q: float
) -> None:
    histogram = histogram_of(values)
    within = np.minimum(values, HIGHEST_NS)
    lower, upper = (histogram.percentile(x) for x in sorted((p, q)))
    assert lower is not None
    assert upper is not None
    assert lower <= upper
    for x, found in zip(sorted((p, q)), (lower, upper), strict=True):
        exact = int(nearest_rank(within.astype(np.float64), x))
        assert exact <= found <= within.max()
        assert 1024 * (found - exact) <= exact
    assert histogram.percentile(0) == histogram.min == within.min()
    assert histogram.percentile(1) == histogram.max == within.max()


@given(samples)
def test_mean_and_stdev_are_within_half_a_bucket_of_the_exact_ones(values: list[int]) -> None:
    histogram = histogram_of(values)
    within = np.minimum(values, HIGHEST_NS)
    assert histogram.min is not None
    assert histogram.max is not None
    assert histogram.mean is not None
    assert histogram.min <= histogram.mean <= histogram.max
    assert histogram.mean == pytest.approx(within.mean(), rel=1 / 2048)
    assert histogram.stdev == pytest.approx(within.std(), abs=within.max() / 2048)


@given(samples)
def test_many_values_at_once_are_the_same_as_one_by_one(values: list[int]) -> None:
    histogram = Histogram()
    histogram.record_many(np.array(values, dtype=np.int64))
    assert facts(histogram) == facts(histogram_of(values))


def test_so_are_more_values_than_it_takes_at_a_time() -> None:
    values = log_uniform(3, 20_000, 1, 2 * HIGHEST_NS)
    histogram = Histogram()
    histogram.record_many(values[::-1])
    one_by_one = histogram_of(values.tolist())
    assert histogram.clamped == np.count_nonzero(values > HIGHEST_NS) > 0
    assert [getattr(histogram, name) for name in EMPTY] == [
        getattr(one_by_one, name) for name in EMPTY
    ]
    np.testing.assert_array_equal(histogram.counts(), one_by_one.counts())


@given(st.lists(st.lists(durations, max_size=20), min_size=1, max_size=5))
def test_split_and_merged_is_the_same_as_recorded_together(parts: list[list[int]]) -> None:
    merged = Histogram()
    for part in parts:
        merged.merge(histogram_of(part))
    assert facts(merged) == facts(histogram_of(value for part in parts for value in part))


def test_merging_leaves_the_other_alone() -> None:
    one, other = histogram_of([5]), histogram_of([7, 2 * HIGHEST_NS])
    before = facts(other)
    one.merge(other)
    one.record(6)
    assert facts(other) == before


def test_counts_beyond_what_a_sum_of_64_bits_holds_are_no_trouble() -> None:
    histogram = histogram_of([HIGHEST_NS, HIGHEST_NS - 2**33])
    for _ in range(40):
        histogram.merge(histogram)
    assert histogram.count == 2**41
    assert histogram.mean == pytest.approx(HIGHEST_NS - 2**32, rel=1 / 2048)
    assert histogram.stdev == pytest.approx(2**32, rel=1e-12)
    assert histogram.percentile(1) == HIGHEST_NS


def test_nothing_recorded_has_no_figures() -> None:
    histogram = Histogram()
    histogram.record_many(np.array([], dtype=np.int64))
    histogram.merge(Histogram())
    assert {name: getattr(histogram, name) for name in EMPTY} == EMPTY
    assert [histogram.percentile(p) for p in (0, 0.5, 1)] == [None] * 3


@pytest.mark.parametrize("value", [0, 1, 2047, 2048, 2049, 1_000_001, HIGHEST_NS - 1, HIGHEST_NS])
def test_one_value_is_all_of_its_figures(value: int) -> None:
    histogram = histogram_of([value])
    assert {histogram.percentile(p) for p in (0, 0.01, 0.5, 1)} == {value}
    assert (histogram.min, histogram.max, histogram.mean) == (value, value, value)
    assert (histogram.count, histogram.clamped, histogram.stdev) == (1, 0, 0)


@pytest.mark.parametrize("value", [HIGHEST_NS + 1, 2**42, 2**62, 10**30])
def test_more_than_an_hour_counts_as_an_hour_and_is_told(value: int) -> None:
    histogram = histogram_of([value, 1000, value])
    assert histogram.clamped == 2
    expected = facts(histogram_of([HIGHEST_NS, 1000, HIGHEST_NS]))
    assert facts(histogram) == expected | {"clamped": 2}


def test_a_negative_duration_is_refused_and_nothing_is_recorded() -> None:
    histogram = histogram_of([5])
    with pytest.raises(ValueError, match="0 ns or more, and is -1"):
        histogram.record(-1)
    with pytest.raises(ValueError, match="0 ns or more, and is -3"):
        histogram.record_many(np.array([4, -3, HIGHEST_NS + 1]))
    assert facts(histogram) == facts(histogram_of([5]))


def test_a_fraction_of_a_ns_is_refused_and_nothing_is_recorded() -> None:
    histogram = Histogram()
    with pytest.raises(AttributeError):
        histogram.record(2.5)  # type: ignore[arg-type]
    assert histogram.min is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, 2.0]), r"float64 of shape \(2,\)"),
        (np.array([1, 2], dtype=np.uint8), r"uint8 of shape \(2,\)"),
        (np.array([[1, 2]]), r"int64 of shape \(1, 2\)"),
        (np.array(1), r"int64 of shape \(\)"),
    ],
)
def test_other_arrays_are_refused(values: IntArray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Histogram().record_many(values)


@pytest.mark.parametrize("values", [[], [1, 2, 3]])
@pytest.mark.parametrize("p", [-0.01, 1.01, 95, np.nan])
def test_a_percentile_takes_a_fraction(values: list[int], p: float) -> None:
    with pytest.raises(ValueError, match="p must be a fraction from 0 to 1"):
        histogram_of(values).percentile(p)


def test_a_copy_from_another_process_goes_on_by_itself() -> None:
    histogram = histogram_of([1, 5000])
    copy = pickle.loads(pickle.dumps(histogram))  # noqa: S301 - our own
    assert facts(copy) == facts(histogram)
    copy.record(10**6)
    copy.record_many(np.array([10**7]))
    assert facts(copy) == facts(histogram_of([1, 5000, 10**6, 10**7]))
    assert facts(histogram) == facts(histogram_of([1, 5000]))


def _allocated_by_histograms() -> int:
    """The memory in use that their module has allocated; other threads allocate, too."""
    own = tracemalloc.Filter(inclusive=True, filename_pattern=histogram_module.__file__)
    traces = tracemalloc.take_snapshot().filter_traces([own])
    return sum(one.size for one in traces.statistics("filename"))


def test_it_takes_the_memory_that_it_says() -> None:
    values = log_uniform(1, 20_000, 1, HIGHEST_NS)
    one_by_one = values.tolist()
    Histogram().record_many(values)  # what numpy allocates at the first use is not ours
    tracemalloc.start()
    try:
        histogram = Histogram()
        created = _allocated_by_histograms()
        for value in one_by_one:
            histogram.record(value)
        histogram.record_many(values)
        recorded = _allocated_by_histograms()
    finally:
        tracemalloc.stop()
    said = f"{COUNTER_BYTES // 8:,} counters of 8 bytes, {COUNTER_BYTES:,} bytes"
    assert said in str(Histogram.__doc__)
    free_ints_bytes = 100 * 32  # which Python keeps for later, since 3.14
    assert COUNTER_BYTES <= created <= recorded < COUNTER_BYTES + 300 + free_ints_bytes


@pytest.mark.parametrize("n", [1000, 100_000, 2_000_000])
def test_many_values_at_once_take_little_memory_beside_them(n: int) -> None:
    values = log_uniform(1, n, 1, 2 * HIGHEST_NS)
    histogram = Histogram()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        histogram.record_many(values)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
