from __future__ import annotations

import random
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats import bootstrap
from benchgate.stats.bootstrap import bca_interval, bootstrap_interval, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray
    from benchgate.stats.bootstrap import Method

TENS = np.array([10.0, 20, 30, 40, 50])
CONFIDENCES = (0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-15)
METHODS: tuple[Method, ...] = ("percentile", "BCa")
samples = st.lists(st.integers(-500, 500), min_size=2, max_size=12)
methods = st.sampled_from(METHODS)


def mean(values: FloatArray) -> FloatArray:
    reduced: FloatArray = values.mean(axis=-1)
    return reduced


def sd(values: FloatArray) -> FloatArray:
    reduced: FloatArray = values.std(axis=-1)
    return reduced


def median(values: FloatArray) -> FloatArray:
    return np.asarray(np.median(values, axis=-1))


def ends(
    values: FloatArray,
    *,
    statistic: Callable[[FloatArray], FloatArray] = mean,
    confidence: float = 0.95,
    method: Method = "BCa",
    seed: int = 1,
    resamples: int = 500,
) -> tuple[float, float]:
    interval = bootstrap_interval(
        values, statistic, confidence, method=method, seed=seed, resamples=resamples
    )
    assert interval is not None
    assert (interval.confidence, interval.method) == (confidence, f"{method} bootstrap")
    assert interval.low <= interval.high
    return interval.low, interval.high


def leave_one_out(values: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> FloatArray:
    return np.array([float(statistic(np.delete(values, k))) for k in range(len(values))])


def test_golden_interval_with_the_generator_of_the_standard_library() -> None:
    rng = random.Random(42)  # noqa: S311 - the golden number was made with it
    replicates = [sum(rng.choices(TENS.tolist(), k=5)) / 5 for _ in range(10_000)]
    assert percentile_interval(np.array(replicates), 0.95) == (18, 42)


@pytest.mark.parametrize("method", METHODS)
def test_golden_interval_with_our_generator(method: Method) -> None:
    assert ends(TENS, method=method, seed=42, resamples=10_000) == (18, 42)


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [(0.95, (25, 976)), (0.9, (50, 951)), (0.9501, (25, 976)), (0.9999, (1, 1000))],
)
def test_percentile_interval_leaves_out_the_share_it_says(
    confidence: float, expected: tuple[float, float]
) -> None:
    replicates = np.random.default_rng(0).permutation(np.arange(1.0, 1001))
    assert percentile_interval(replicates, confidence) == expected


@pytest.mark.parametrize("n", [5, 12, 40])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("statistic", [mean, sd, median])
@pytest.mark.parametrize("method", METHODS)
def test_ends_are_those_of_scipy_but_for_the_interpolation(
    n: int, seed: int, statistic: Callable[[FloatArray], FloatArray], method: Method
) -> None:
    """Our ends are replicates, SciPy's are between two: they differ by at most one place."""
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=n)
    reference = stats.bootstrap(
        (values,),
        lambda x, axis=-1: statistic(np.moveaxis(x, axis, -1)),
        n_resamples=999,
        method=method,
        rng=rng,
    )
    replicates = np.sort(reference.bootstrap_distribution)
    if method == "percentile":
        low, high = percentile_interval(replicates, 0.95)
    else:
        jackknife = leave_one_out(values, statistic)
        low, high = bca_interval(replicates, float(statistic(values)), jackknife, 0.95)
    expected = reference.confidence_interval
    for ours, theirs in ((low, expected.low), (high, expected.high)):
        first = max(0, int(np.searchsorted(replicates, ours, side="left")) - 1)
        last = min(998, int(np.searchsorted(replicates, ours, side="right")))
        assert replicates[first] <= theirs <= replicates[last]


def test_bca_by_hand() -> None:
    # 40 % below and half of 20 % equal: no bias; d = (1, 0, -1): no acceleration.
    replicates = np.repeat([1.0, 2, 3], [40, 20, 40])
    assert bca_interval(replicates, 2.0, np.array([1.0, 2, 3]), 0.3) == (1, 3)
    steps = np.arange(1.0, 1001)
    # d = (1, 1, -2): a = (1 + 1 - 8) / (6 * 6**1.5) = -1 / 6**1.5.
    z = NormalDist().inv_cdf(0.975)
    levels = [NormalDist().cdf(w / (1 + w / 6**1.5)) for w in (-z, z)]
    expected = (np.ceil(1000 * levels[0]), 1001 - np.ceil(1000 * (1 - levels[1])))
    assert bca_interval(steps, 500.5, np.array([0.0, 0, 3]), 0.95) == expected
    assert expected[0] < 25


def test_bca_without_bias_and_skewness_is_the_percentile_interval() -> None:
    steps = np.arange(1.0, 1001)
    assert bca_interval(steps, 500.5, np.array([4.0, 5, 6]), 0.95) == (25, 976)
    assert bca_interval(steps, 500.5, np.array([0.1, 0.1, 0.1]), 0.95) == (25, 976)


def test_bca_of_replicates_on_one_side_is_their_outer_end() -> None:
    steps = np.arange(1.0, 1001)
    even = np.array([4.0, 5, 6])
    low, high = bca_interval(steps, 5000.0, even, 0.95)
    assert 990 < low <= high == 1000
    assert bca_interval(steps, -5000.0, even, 0.95) == (1001 - high, 1001 - low)


def test_bca_beyond_the_pole_of_its_formula_ends_at_the_outermost_replicate() -> None:
    steps = np.arange(1.0, 1001)
    skewed = np.append(np.zeros(1000), -1.0)
    low, high = bca_interval(steps, 990.5, skewed, 1 - 1e-15)
    assert 1 < low < high == 1000


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=80),
    st.integers(-60, 60),
    st.lists(st.integers(-50, 50), min_size=1, max_size=10),
    st.sampled_from(CONFIDENCES),
)
def test_mirrored_data_have_the_mirrored_interval(
    replicates: list[int], estimate: int, jackknife: list[int], confidence: float
) -> None:
    r, j = np.array(replicates, dtype=np.float64), np.array(jackknife, dtype=np.float64)
    low, high = percentile_interval(r, confidence)
    assert percentile_interval(-r, confidence) == (-high, -low)
    low, high = bca_interval(r, estimate, j, confidence)
    assert low <= high
    assert bca_interval(-r, -estimate, -j, confidence) == (-high, -low)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=80),
    st.integers(-60, 60),
    st.lists(st.integers(-50, 50), min_size=1, max_size=10),
)
def test_more_confidence_is_never_narrower(
    replicates: list[int], estimate: int, jackknife: list[int]
) -> None:
    r, j = np.array(replicates, dtype=np.float64), np.array(jackknife, dtype=np.float64)
    for intervals in (
        [percentile_interval(r, confidence) for confidence in CONFIDENCES],
        [bca_interval(r, estimate, j, confidence) for confidence in CONFIDENCES],
    ):
        lows, highs = zip(*intervals, strict=True)
        assert list(lows) == sorted(lows, reverse=True)
        assert list(highs) == sorted(highs)


@given(samples, methods, st.integers(0, 100), st.integers(-900, 900))
def test_interval_follows_the_scale_to_the_last_bit(
    values: list[int], method: Method, seed: int, exponent: int
) -> None:
    array = np.array(values, dtype=np.float64) / 3
    low, high = ends(array, method=method, seed=seed)
    scaled = ends(np.ldexp(array, exponent), method=method, seed=seed)
    assert scaled == (np.ldexp(low, exponent), np.ldexp(high, exponent))


@given(samples, methods, st.integers(-1000, 1000))
def test_interval_follows_a_shift(values: list[int], method: Method, by: int) -> None:
    array = np.array(values, dtype=np.float64)
    moved = ends(array + by, method=method)
    np.testing.assert_allclose(moved, np.array(ends(array, method=method)) + by, atol=1e-9)


@given(samples, methods, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(
    values: list[int], method: Method, rng: random.Random
) -> None:
    shuffled = rng.sample(values, len(values))
    array, other = np.array(values) / 7, np.array(shuffled) / 7
    assert ends(array, method=method) == ends(other, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_interval_however_it_is_split(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(3).lognormal(size=33)
    first = ends(values, method=method, seed=5)
    assert ends(values, method=method, seed=6) != first
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    assert ends(values, method=method, seed=5) == first


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, 2.0**1000, 5e-324])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_equal_values_have_an_interval_without_width(method: Method, value: float, n: int) -> None:
    low, high = ends(np.full(n, value), method=method)
    assert low == high
    assert low == pytest.approx(value, rel=1e-15, abs=0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values", [[1e300, 2e300, -1e300], [5e-324, 1e-323, 0.0, 5e-324], [1e300, 5e-324, 1.0]]
)
def test_huge_and_tiny_values_have_one(method: Method, values: list[float]) -> None:
    low, high = ends(np.array(values), method=method)
    assert min(values) <= low < high <= max(values)


def test_one_value_has_none() -> None:
    for method in METHODS:
        assert bootstrap_interval(np.array([3.0]), mean, 0.95, method=method, seed=1) is None


def test_skewed_values_have_a_bca_interval_that_reaches_further_up() -> None:
    values = np.random.default_rng(8).lognormal(size=25)
    plain = ends(values, method="percentile", resamples=4000)
    corrected = ends(values, method="BCa", resamples=4000)
    assert corrected[0] > plain[0]
    assert corrected[1] > plain[1]


@pytest.mark.parametrize(("n", "covered"), [(3, 0.754), (5, 0.837), (10, 0.900)])
def test_few_values_are_covered_as_seldom_as_documented(n: int, covered: float) -> None:
    rng = np.random.default_rng(n + 100)
    hits = 0
    for _ in range(1500):
        values = rng.normal(size=n)
        low, high = percentile_interval(values[rng.integers(n, size=(600, n))].mean(axis=1), 0.95)
        hits += low <= 0 <= high
    assert stats.binomtest(hits, 1500, covered).pvalue > 0.01


@pytest.mark.parametrize(
    ("values", "confidence", "method", "resamples", "message"),
    [
        (np.array([]), 0.95, "BCa", 10, "empty"),
        (np.ones((2, 2)), 0.95, "BCa", 10, "shape"),
        (np.array([1, np.inf]), 0.95, "BCa", 10, "inf"),
        (np.array([1, 1e302]), 0.95, "BCa", 10, "within"),
        (TENS, 95, "BCa", 10, "confidence"),
        (TENS, np.nan, "BCa", 10, "confidence"),
        (TENS, 0.95, "bca", 10, "method must be percentile or BCa, and is 'bca'"),
        (TENS, 0.95, "BCa", 0, "resamples must be at least 1"),
    ],
)
def test_bad_input_is_refused(
    values: FloatArray, confidence: float, method: Method, resamples: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, mean, confidence, method=method, seed=1, resamples=resamples)


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        (np.mean, "must reduce the last axis"),
        (lambda values: values, "must reduce the last axis"),
        (lambda values: values[:, 0] * np.nan, "replicates must be finite"),
    ],
)
def test_a_bad_statistic_is_refused(
    statistic: Callable[[FloatArray], FloatArray], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(TENS, statistic, 0.95, method="BCa", seed=1, resamples=10)


def test_bad_replicates_are_refused() -> None:
    good = np.ones(3)
    for replicates, estimate, jackknife, message in (
        (np.array([]), 1.0, good, "replicates is empty"),
        (good, np.nan, good, "estimate"),
        (good, 1.0, np.array([np.inf]), "jackknife"),
        (np.ones((1, 3)), 1.0, good, "replicates must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            bca_interval(replicates, estimate, jackknife, 0.95)
    with pytest.raises(ValueError, match="replicates is empty"):
        percentile_interval(np.array([]), 0.95)
    with pytest.raises(ValueError, match="confidence"):
        percentile_interval(good, 1.0)
