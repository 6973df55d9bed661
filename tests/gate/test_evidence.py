from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import results
from tests.gate.arms import bench, pair_of

from benchgate.gate.evidence import gather, series_of
from benchgate.model.metrics import Better, Metric
from benchgate.model.run import Tier
from benchgate.stats.differences import ratios_in_turn

SAMPLES = [*range(1, 41)]


@pytest.mark.parametrize(
    ("statistic", "value"), [("p25", 10), ("median", 20), ("p95", 38), ("mean", 20.5), ("min", 1)]
)
def test_statistics_of_a_launch(statistic: str, value: float) -> None:
    one = results.series_of([SAMPLES, SAMPLES[::-1], [2 * x for x in SAMPLES]])
    found = gather(pair_of(), one, one, statistic, margin=0.02, paired=True)
    assert found.base.tolist() == [value, value, 2 * value]
    assert found.is_tail is (statistic == "p95")
    assert found.obstacle is None


@pytest.mark.parametrize(
    ("statistic", "needed", "value"), [("p99", 200, 198), ("p99.9", 2000, 1998), ("max", 40, 40)]
)
def test_a_tail_needs_samples_enough(statistic: str, needed: int, value: float) -> None:
    enough, few = (
        results.series_of([[*range(1, needed + 1)]] * 3),
        results.series_of([[*range(1, needed)]] * 3),
    )
    found = gather(pair_of(), enough, enough, statistic, margin=0.05, paired=True)
    assert (found.obstacle, found.is_tail, found.base.tolist()) == (None, True, [value] * 3)
    found = gather(pair_of(), enough, few, statistic, margin=0.05, paired=True)
    assert found.obstacle == f"tail not tested: needs {needed} samples per launch"


def test_the_largest_of_more_samples_is_not_compared() -> None:
    base, head = results.series_of([[*range(1, 46)]] * 3), results.series_of([[*range(1, 61)]] * 3)
    found = gather(pair_of(), base, head, "max", margin=0.05, paired=True)
    assert found.obstacle == (
        "tail not tested: the largest of more samples is larger, and launches have 45 to 60"
    )


def test_launches_may_differ_in_their_samples() -> None:
    one = results.series_of([[1, 2, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12]])
    assert gather(pair_of(), one, one, "p25", margin=0.02, paired=True).base.tolist() == [1, 6]


def test_a_round_is_compared_sample_by_sample() -> None:
    base, head = np.random.default_rng(3).lognormal(0, 0.1, (2, 30, 40))
    found = gather(
        pair_of(), results.series_of(base), results.series_of(head), "p25", margin=0.02, paired=True
    )
    assert found.log_ratios() == pytest.approx(ratios_in_turn(base, head))
    assert found.taken(slice(3)).log_ratios() == pytest.approx(ratios_in_turn(base, head)[:3])
    median = gather(
        pair_of(),
        results.series_of(base),
        results.series_of(head),
        "median",
        margin=0.02,
        paired=True,
    )
    assert median.log_ratios() == pytest.approx(np.log(median.head / median.base))


def test_without_pairs_the_values_of_the_launches_are_compared() -> None:
    base, head = [[1, 2, 3, 4]] * 3, [[4, 8, 12, 16], [4, 8, 12], [4, 8, 12, 0]]
    found = gather(
        pair_of(), results.series_of(base), results.series_of(head), "p25", margin=0.02, paired=True
    )
    assert found.obstacle
    found = gather(
        pair_of(),
        results.series_of([base[0], base[1]]),
        results.series_of(head[:2]),
        "p25",
        margin=0.02,
        paired=True,
    )
    assert found.log_ratios() == pytest.approx(np.log([4, 4]))
    of_suite = replace(pair_of(), head=replace(bench("b"), tier=Tier.SUITE))
    found = gather(
        of_suite,
        results.series_of([[1, 9, 9, 9]]),
        results.series_of([[2, 9, 9, 9]]),
        "p25",
        margin=0.02,
        paired=True,
    )
    assert found.log_ratios() == pytest.approx(np.log(2))


def test_launches_of_one_round_belong_together() -> None:
    base = results.series_of([1, 2, 3], rounds=[0, 1, 3])
    head = results.series_of([20, 30, 40], rounds=[1, 3, 4])
    paired = gather(pair_of(), base, head, "p25", margin=0.02, paired=True)
    assert (paired.base.tolist(), paired.head.tolist(), paired.rounds) == ([2, 3], [20, 30], 2)
    stored = gather(pair_of(), base, head, "p25", margin=0.02, paired=False)
    assert stored.base.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("better", "sign"), [(Better.LOWER, 1), (Better.HIGHER, -1)])
def test_log_ratios_are_above_0_where_the_head_is_worse(better: Better, sign: int) -> None:
    metric = Metric("m", "", better)
    base, head = (
        results.series_of([1, 1], metric=metric),
        results.series_of([2, 0.5], metric=metric),
    )
    found = gather(pair_of(), base, head, "p25", margin=0.02, paired=True)
    assert found.worse_log_ratios() == pytest.approx(sign * np.log([2, 0.5]))


def test_a_series_without_launches_was_not_measured() -> None:
    assert series_of(bench("b", []), "time") is None
    assert series_of(bench("b", [1]), "rss") is None
    assert series_of(bench("b", [1]), "time") is not None
