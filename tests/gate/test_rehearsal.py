from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binomtest

from benchgate.config import loads
from benchgate.gate.replayed_builds import (
    ReplayedBuild,
    ReplayedRow,
    judge_as_check,
    replay,
    shuffled,
    summed_up,
)
from benchgate.gate.sensitivity import slowed
from benchgate.gate.suite import gather_rows
from benchgate.model.environment import Environment
from benchgate.model.metrics import Better, Metric
from benchgate.model.policy import Outcome
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import WaveSettings
    from benchgate.model.run import BenchmarkResult

CONFIG = loads("", "defaults")


@pytest.fixture
def rows(bench: Callable[..., BenchmarkResult]) -> list[Evidence]:
    """Two benchmarks that nothing was done to; of the second there are fewer rounds."""
    rng = np.random.default_rng(4)
    arms = [
        (
            bench("a", rng.lognormal(0, 0.005, 30).tolist(), samples=40),
            bench("b", rng.lognormal(0, 0.005, 20).tolist(), samples=40),
        )
        for _ in "bh"
    ]
    runs = [Run(Source(), "", Environment(), arm) for arm in arms]
    return gather_rows(runs[0], runs[1], CONFIG, paired=True)[1]


def test_one_order_of_rounds_for_all_rows(rows: list[Evidence]) -> None:
    drawn = shuffled(rows, np.random.default_rng(1))
    orders = []
    for before, after in zip(rows, drawn, strict=True):
        order = [before.base.tolist().index(value) for value in after.base]
        assert sorted(order) == list(range(before.rounds))
        assert after.head.tolist() == before.head[order].tolist()
        orders.append(order)
    long, same, short, _ = orders
    assert long == same != sorted(long)
    assert short == [index for index in long if index < 20]
    again, other = (shuffled(rows, np.random.default_rng(seed)) for seed in (1, 2))
    assert again[0].base.tolist() == drawn[0].base.tolist() != other[0].base.tolist()


def test_nothing_can_be_shuffled_too() -> None:
    assert shuffled([], np.random.default_rng(1)) == []


def test_one_benchmark_is_made_slower_by_one_and_a_half_of_its_least_margin(
    rows: list[Evidence],
) -> None:
    changed = slowed(rows, "b")
    factors = [
        float(np.median(new.head / old.head)) for new, old in zip(changed, rows, strict=True)
    ]
    assert factors == pytest.approx([1, 1, 1.03, 1.03])
    assert all(new.base is old.base for new, old in zip(changed, rows, strict=True))


def test_where_more_is_better_slower_is_less(bench: Callable[..., BenchmarkResult]) -> None:
    metric = Metric("time", "", Better.HIGHER)
    arm = bench("a", [5.0] * 9, samples=40, metric=metric)
    runs = [Run(Source(), "", Environment(), (arm,)) for _ in "bh"]
    evidences = gather_rows(runs[0], runs[1], CONFIG, paired=True)[1]
    assert slowed(evidences, "a")[0].head == pytest.approx(5 / 1.03)


class TestJudging:
    def test_as_a_check_does(self, rows: list[Evidence], waves: WaveSettings) -> None:
        build = judge_as_check(rows, CONFIG, None)
        assert build == replay(rows, waves, CONFIG.gate.confidence)
        assert judge_as_check(rows, loads("[measure]\nuntil_decided = true", "x"), None) == build

    def test_what_was_made_slower_is_found(self, rows: list[Evidence]) -> None:
        assert judge_as_check(rows, CONFIG, None).regressed == set()
        assert judge_as_check(slowed(rows, "a"), CONFIG, None).regressed == {"a"}

    def test_a_fixed_number_of_rounds(self, rows: list[Evidence]) -> None:
        build = judge_as_check(slowed(rows, "a"), CONFIG, 12)
        assert build.regressed == {"a"}
        assert (build.rounds, build.most_rounds, build.unfinished) == (24, 12, ())

    def test_fewer_rounds_than_are_asked_for(self, rows: list[Evidence]) -> None:
        assert judge_as_check(rows, CONFIG, 25).unfinished == ("b",)


def build(*regressed: str, unfinished: tuple[str, ...] = ()) -> ReplayedBuild:
    rows = tuple(ReplayedRow(id_, "time", "p25", Outcome.REGRESSED) for id_ in regressed)
    return ReplayedBuild(rows, 10, 10, unfinished)


def test_what_many_builds_say() -> None:
    clean = [build(), build("a"), build("b", "a"), build(unfinished=("c",))]
    slower = [("a", build("a", "b")), ("b", build("a")), ("b", build()), ("c", build("c"))]
    found = summed_up(clean, slower)
    assert (found.clean, found.alarms, found.blamed) == (4, 2, ("a", "b"))
    assert (found.slower, found.found, found.missed) == (4, 2, ("b",))
    assert found.cut_short == 1


@pytest.mark.parametrize("alarms", [0, 1, 7, 20])
def test_the_bounds_are_exact(alarms: int) -> None:
    clean = [build("a")] * alarms + [build()] * (20 - alarms)
    found = summed_up(clean, [("a", one) for one in clean])
    test = binomtest(alarms, 20)
    assert found.alarms_at_most == pytest.approx(test.proportion_ci(0.9).high)
    assert found.found_at_least == pytest.approx(test.proportion_ci(0.9).low)
