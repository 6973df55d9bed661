from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats import resampling
from benchgate.stats.bootstrap import (
    LaunchIntervals,
    RatioInterval,
    bootstrap_interval,
    hierarchical_intervals,
    percentile_interval,
    ratio_of_percentile,
)
from benchgate.stats.spread import nearest_rank

QUANTILES = (0.5, 0.95)
ONE_LAUNCH = "one launch: no spread between launches; take 10 or more"


def lognormal(
    launches: int, seed: int, *, between: float = 0.02, samples: int = 45
) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    levels = rng.normal(0, between, size=launches)
    return [100 * np.exp(level + rng.normal(0, 0.03, size=samples)) for level in levels]


def several(
    launches: list[np.ndarray], *, confidence: float = 0.95, seed: int = 1, resamples: int = 400
) -> LaunchIntervals:
    return hierarchical_intervals(launches, QUANTILES, confidence, seed=seed, resamples=resamples)


def ends(found: LaunchIntervals) -> np.ndarray:
    """Low and high of each quantile, shape (2, 2)."""
    intervals = [each for each in found.quantiles if each is not None]
    assert len(intervals) == 2
    assert {each.method for each in intervals} == {"hierarchical bootstrap"}
    return np.array([(each.low, each.high) for each in intervals])


def tail_ratio(
    base: list[np.ndarray],
    head: list[np.ndarray],
    *,
    paired: bool = True,
    confidence: float = 0.95,
    seed: int = 1,
    resamples: int = 400,
) -> RatioInterval:
    return ratio_of_percentile(
        base, head, 0.95, confidence, paired=paired, seed=seed, resamples=resamples
    )


def ratio_ends(found: RatioInterval) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


BASE, HEAD = lognormal(8, 1), lognormal(6, 2, samples=30)


def median_of(samples: np.ndarray) -> np.ndarray:
    return np.asarray(np.median(samples, axis=-1))


def drawn_by_hand(launches: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    named = rng.integers(len(launches), size=len(launches))
    return np.concatenate([rng.choice(launches[k], size=len(launches[k])) for k in named])


@pytest.fixture(params=[resampling._MOST_DRAWN, 0], ids=["drawn", "counted"])  # noqa: SLF001 - as for launches of thousands
def way_to_resample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_MOST_DRAWN", request.param)


@cache
def intervals_by_hand(launches: tuple[tuple[float, ...], ...]) -> np.ndarray:
    rng = np.random.default_rng(5)
    arrays = [np.array(launch) for launch in launches]
    pools = [drawn_by_hand(arrays, rng) for _ in range(6000)]
    found = [
        percentile_interval(np.array([float(nearest_rank(pool, p)) for pool in pools]), 0.95)
        for p in QUANTILES
    ]
    return np.array(found)


@cache
def ratio_by_hand() -> tuple[float, float]:
    rng = np.random.default_rng(5)
    replicates = [
        float(
            nearest_rank(drawn_by_hand(HEAD, rng), 0.95)
            / nearest_rank(drawn_by_hand(BASE, rng), 0.95)
        )
        for _ in range(5000)
    ]
    return percentile_interval(np.array(replicates), 0.95)


@pytest.mark.usefixtures("way_to_resample")
@pytest.mark.parametrize("uneven", [False, True])
def test_intervals_are_those_of_resampling_in_plain_words(uneven: bool) -> None:  # noqa: FBT001 - a table
    launches = lognormal(8, 4)
    if uneven:
        launches = [launch[: 10 + 5 * k] for k, launch in enumerate(launches)]
    by_hand = intervals_by_hand(tuple(tuple(launch.tolist()) for launch in launches))
    found = ends(several(launches, resamples=10_000))
    widths = found[:, 1] - found[:, 0]
    assert (np.abs(found - by_hand) < 0.06 * widths[:, np.newaxis]).all()


@pytest.mark.usefixtures("way_to_resample")
def test_launches_without_spread_within_are_drawn_as_values() -> None:
    """The median of 45 ones and 45 threes is a one; one draw in four has only threes."""
    launches = [np.full(45, 1.0), np.full(45, 3.0)]
    assert ends(several(launches))[0].tolist() == [1, 3]
    assert ends(several(launches, confidence=0.4))[0].tolist() == [1, 1]
    # p95 is a three unless both drawn launches are ones.
    assert ends(several(launches, confidence=0.4))[1].tolist() == [3, 3]


@pytest.mark.usefixtures("way_to_resample")
def test_a_quantile_has_the_same_interval_alone_and_beside_others() -> None:
    launches = lognormal(6, 7)
    alone = hierarchical_intervals(launches, (0.95,), 0.95, seed=3, resamples=400)
    beside = several(launches, seed=3)
    assert alone.quantiles == beside.quantiles[1:]


@pytest.mark.usefixtures("way_to_resample")
def test_where_launches_differ_it_is_wider_than_that_of_the_pooled_samples() -> None:
    launches = lognormal(12, 2)
    low, high = ends(several(launches))[0]
    pooled = bootstrap_interval(
        np.concatenate(launches), median_of, 0.95, method="percentile", seed=1
    )
    assert pooled is not None
    assert high - low > 2 * (pooled.high - pooled.low)


@pytest.mark.parametrize("n", [2, 12])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, 2.0**1000, 5e-324])
def test_equal_values_have_intervals_without_width(n: int, value: float) -> None:
    launches = [np.full(30, value)] * n
    assert (ends(several(launches, resamples=50)) == value).all()


@pytest.mark.parametrize("exponent", [-900, -3, 1, 900])
def test_intervals_follow_the_unit_to_the_last_bit(exponent: int) -> None:
    launches = lognormal(5, 3)
    scaled = [np.ldexp(launch, exponent) for launch in launches]
    np.testing.assert_array_equal(
        ends(several(scaled)), np.ldexp(ends(several(launches)), exponent)
    )


@given(st.lists(st.lists(st.integers(0, 99), min_size=11, max_size=20), min_size=2, max_size=6))
def test_intervals_follow_a_shift_and_grow_with_confidence(values: list[list[int]]) -> None:
    launches = [np.array(launch, dtype=np.float64) for launch in values]
    plain = ends(several(launches, resamples=60))
    moved = ends(several([launch + 1000 for launch in launches], resamples=60))
    np.testing.assert_allclose(moved, plain + 1000, rtol=1e-14)
    assert (plain[:, 0] <= plain[:, 1]).all()
    wider = ends(several(launches, confidence=0.99, resamples=60))
    assert (wider[:, 0] <= plain[:, 0]).all()
    assert (wider[:, 1] >= plain[:, 1]).all()


@pytest.mark.usefixtures("way_to_resample")
def test_the_same_seed_gives_the_same_intervals() -> None:
    launches = lognormal(5, 1)
    first = ends(several(launches, seed=8))
    np.testing.assert_array_equal(ends(several(launches, seed=8)), first)
    assert (ends(several(launches, seed=9)) != first).any()


def test_one_launch_has_no_interval() -> None:
    found = several(lognormal(1, 0))
    assert found == LaunchIntervals((None, None), (ONE_LAUNCH,))


@pytest.mark.parametrize(("launches", "noted"), [(2, True), (9, True), (10, False), (30, False)])
def test_few_launches_are_noted(launches: int, noted: bool) -> None:  # noqa: FBT001 - a table
    note = f"{launches} launches: intervals may be too short; 10 or more are better"
    assert several(lognormal(launches, 0)).notes == ((note,) if noted else ())
    ratio = tail_ratio(lognormal(launches, 0), lognormal(30, 1), paired=False)
    assert ratio.notes == ((note,) if noted else ())


def test_the_least_and_the_greatest_sample_have_no_interval() -> None:
    launches = lognormal(10, 0)
    found = hierarchical_intervals(launches, (0.002, 0.5, 0.999), 0.95, seed=1, resamples=100)
    assert [each is None for each in found.quantiles] == [True, False, True]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("launches", "least", "greatest"), [(3, 0.68, 0.86), (5, 0.76, 0.92), (20, 0.87, 0.98)]
)
def test_few_launches_are_covered_as_seldom_as_documented(
    launches: int, least: float, greatest: float
) -> None:
    """The true quantile is that of samples with both variations, 2 % and 3 %."""
    runs, spread = 150, np.hypot(0.02, 0.03)
    truth = 100 * np.exp(spread * stats.norm.ppf(QUANTILES))
    covered = np.zeros(2)
    for seed in range(runs):
        low, high = ends(several(lognormal(launches, 1000 * launches + seed), resamples=200)).T
        covered += (low <= truth) & (truth <= high)
    assert covered[0] / runs >= least
    assert (covered / runs <= greatest).all()


STEADY = [100.0, 101, 99, 100, 102, 98, 100, 101, 99, 100]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (range(100, 108), range(110, 118), 1.093458),
        (range(100, 108), range(103, 111), 1.028037),
        (range(110, 118), range(100, 108), 0.914530),
        (STEADY, [*STEADY[:-1], 120.0], 1.176471),
    ],
)
def test_golden_ratios_of_pooled_p95(base: list[float], head: list[float], expected: float) -> None:
    one = np.array(base, dtype=np.float64), np.array(head, dtype=np.float64)
    many = [np.array_split(arm, 4) for arm in one]
    assert tail_ratio([one[0]], [one[1]]).ratio == pytest.approx(expected, abs=5e-7)
    assert tail_ratio(*many).ratio == pytest.approx(expected, abs=5e-7)


def test_the_ratio_of_an_arm_that_is_twice_the_other_is_twice_as_high() -> None:
    base, head = lognormal(10, 1), lognormal(10, 2)
    plain = tail_ratio(base, head)
    twice = tail_ratio(base, [2 * launch for launch in head])
    assert plain.ratio is not None
    assert twice.ratio == 2 * plain.ratio
    assert ratio_ends(twice) == tuple(2 * end for end in ratio_ends(plain))
    low, high = ratio_ends(plain)
    assert low < plain.ratio < high
    assert plain.notes == ()


@pytest.mark.parametrize("paired", [False, True])
def test_the_ratio_of_arms_swapped_is_the_inverse(paired: bool) -> None:  # noqa: FBT001 - a table
    base, head = lognormal(12, 1), lognormal(12, 2)
    found = tail_ratio(base, head, paired=paired, resamples=10_000)
    swapped = tail_ratio(head, base, paired=paired, resamples=10_000)
    assert found.ratio is not None
    assert swapped.ratio == pytest.approx(1 / found.ratio, rel=1e-15)
    low, high = ratio_ends(swapped)
    assert ratio_ends(found) == pytest.approx((1 / high, 1 / low), rel=2e-3)


@pytest.mark.usefixtures("way_to_resample")
def test_the_ratio_is_that_of_resampling_in_plain_words() -> None:
    found = ratio_ends(tail_ratio(BASE, HEAD, paired=False, resamples=10_000))
    by_hand = ratio_by_hand()
    assert found == pytest.approx(by_hand, abs=0.06 * (by_hand[1] - by_hand[0]))


def test_what_rounds_share_widens_only_the_interval_of_arms_apart() -> None:
    rounds = np.exp(np.random.default_rng(3).normal(0, 0.1, size=12))
    base, head = (
        [
            level * launch
            for level, launch in zip(rounds, lognormal(12, seed, between=0), strict=True)
        ]
        for seed in (1, 2)
    )
    together = ratio_ends(tail_ratio(base, head, paired=True))
    apart = ratio_ends(tail_ratio(base, head, paired=False))
    assert apart[1] - apart[0] > 2 * (together[1] - together[0])


@given(st.integers(0, 1000))
def test_more_confidence_is_never_a_narrower_ratio(seed: int) -> None:
    base, head = lognormal(4, seed), lognormal(4, seed + 1)
    found = [
        ratio_ends(tail_ratio(base, head, confidence=confidence, resamples=100))
        for confidence in (0.5, 0.9, 0.99)
    ]
    lows, highs = zip(*found, strict=True)
    assert list(lows) == sorted(lows, reverse=True)
    assert list(highs) == sorted(highs)


def test_one_launch_in_an_arm_has_a_ratio_without_interval() -> None:
    found = tail_ratio(lognormal(1, 0), lognormal(12, 1), paired=False)
    assert found.ratio is not None
    assert found.interval is None
    assert found.notes == (ONE_LAUNCH,)


def test_a_percentile_that_is_the_maximum_has_a_ratio_without_interval() -> None:
    found = tail_ratio(lognormal(10, 0, samples=1), lognormal(10, 1))
    assert found.ratio is not None
    assert found.interval is None
    (note,) = found.notes
    assert note.startswith("the greatest of 10 samples: no interval")


@pytest.mark.parametrize("unit", [2.0**990, 2.0**-1065])
def test_huge_and_tiny_values_have_a_ratio(unit: float) -> None:
    launches = [unit * np.arange(k, k + 40.0) for k in range(1, 11)]
    found = tail_ratio(launches, [2 * launch for launch in launches], paired=False)
    assert found.ratio == 2
    low, high = ratio_ends(found)
    assert 1 < low < 2 < high < 4


@pytest.mark.parametrize(
    ("bad", "note"),
    [
        (0.0, "no ratio: values must be above 0, and one is 0"),
        (-2.5, "no ratio: values must be above 0, and one is -2.5"),
        (1e-320, "no ratio: values from 9.99989e-321 to 1e+300 are too far apart"),
    ],
)
def test_where_there_is_no_ratio(bad: float, note: str) -> None:
    good = [np.array([1.0, 1e300, 3.0])] * 10
    for base, head in ((good, [np.array([1.0, bad])] * 10), ([np.array([bad, 2.0])] * 10, good)):
        assert tail_ratio(base, head) == RatioInterval(None, None, (note,))


def test_bad_input_is_refused() -> None:
    good = lognormal(3, 0)
    for launches, p, confidence, resamples, message in (
        ([], 0.5, 0.95, 10, "empty"),
        ([np.array([])], 0.5, 0.95, 10, "is empty"),
        ([np.array([np.nan])], 0.5, 0.95, 10, "nan"),
        ([np.ones((2, 2))], 0.5, 0.95, 10, "shape"),
        (good, 0.0, 0.95, 10, "p must lie between"),
        (good, 95, 0.95, 10, "p must lie between"),
        (good, 0.5, 1.0, 10, "confidence"),
        (good, 0.5, 0.95, 0, "resamples must be at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            hierarchical_intervals(launches, (p,), confidence, seed=1, resamples=resamples)
        with pytest.raises(ValueError, match=message):
            ratio_of_percentile(
                good, launches, p, confidence, paired=False, seed=1, resamples=resamples
            )
    with pytest.raises(ValueError, match="3 and 2 launches"):
        tail_ratio(good, good[:2], paired=True)
    with pytest.raises(ValueError, match="non-negative"):
        several(good, seed=-1)
