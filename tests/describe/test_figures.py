"""What figures show is what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.loads import load_launch, measured_step
from tests.results import arm, bench

from benchgate.describe.figures import MOST_POINTS, figures, figures_of, load_figures, points_for
from benchgate.model.launch_table import Launch
from benchgate.model.load import Windows
from benchgate.model.metrics import Metric
from benchgate.model.result import Result, Screening
from benchgate.model.run import CANARY_ID, NEW_VERSION, BenchmarkResult, Series, Tier


def benchmark(samples: np.ndarray, *, rounds: int = 2, id_: str = "a") -> BenchmarkResult:
    launches = tuple(Launch(r, 0, samples, np.full(3, 9.0)) for r in range(rounds))
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, (Series(Metric("time", "s"), 1, launches),))


def test_few_samples_are_all_there() -> None:
    run = replace(arm({}), benchmarks=(benchmark(np.array([3.0, 1.0, 2.0]), rounds=1),))
    (found,) = figures(run).values()
    head = found.series[0].head
    assert head is not None
    assert head.values == (1.0, 2.0, 3.0)
    assert head.shares == pytest.approx((1 / 3, 2 / 3, 1))
    assert not head.thinned
    assert found.series[0].base is None


def test_many_samples_are_thinned_to_measured_values() -> None:
    samples = np.random.default_rng(1).lognormal(size=1000)
    run = replace(arm({}), benchmarks=(benchmark(samples),))
    (found,) = figures(run, run).values()
    head = found.series[0].head
    assert head is not None
    assert head.thinned
    assert len(head.values) == MOST_POINTS
    assert set(head.values) <= set(samples)
    assert (head.values[0], head.values[-1]) == (samples.min(), samples.max())
    for value, share in zip(head.values, head.shares, strict=True):
        assert np.mean(samples <= value) == pytest.approx(share, abs=0.002)


def test_new_versions_have_no_figures() -> None:
    version = bench(f"a{NEW_VERSION}", 2.0, new_version_of="a")
    run = replace(arm({"a": 1.0}), benchmarks=(bench("a", 1.0), version))
    assert list(figures(run, run)) == ["a"]


def test_a_histogram_has_both_arms_on_the_same_edges() -> None:
    samples = np.linspace(1.0, 2.0, 100)
    base = replace(arm({}), benchmarks=(benchmark(samples),))
    head = replace(arm({}), benchmarks=(benchmark(samples + 1),))
    (found,) = figures(head, base).values()
    (series,) = found.series
    assert series.base is not None
    assert series.head is not None
    assert len(series.edges) == len(series.base.bars) + 1 == len(series.head.bars) + 1
    assert sum(series.base.bars) == pytest.approx(1)
    assert sum(series.head.bars) == pytest.approx(1 - 2 * series.beyond, abs=0.001)
    assert series.greatest == 3.0


def test_launches_and_warmup_are_in_order() -> None:
    run = replace(arm({}), benchmarks=(benchmark(np.arange(1.0, 9.0), rounds=3),))
    (found,) = figures(run).values()
    head = found.series[0].head
    assert head is not None
    assert head.launches.rounds == (0, 1, 2)
    assert head.launches.values["p25"] == (2.0, 2.0, 2.0)
    assert head.launches.values["p75"] == (6.0, 6.0, 6.0)
    assert head.launches.values["max"] == (8.0, 8.0, 8.0)
    assert head.launches.values["mean"] == (4.5, 4.5, 4.5)
    assert head.warmup == (9.0, 9.0, 9.0, *np.arange(1.0, 9.0))
    assert head.discarded == 3


def test_canaries_have_no_figures_and_aliases_join() -> None:
    head = replace(arm({"new": 1.0}), benchmarks=(bench("new", 1.0), bench(CANARY_ID, 1.0)))
    base = arm({"old": 1.0, "gone": 1.0})
    found = list(figures(head, base, {"old": "new"}).values())
    assert [one.benchmark for one in found] == ["new", "gone"]
    assert found[0].series[0].base is not None
    assert found[1].series[0].head is None


def test_what_stored_runs_decided_has_figures_of_the_head() -> None:
    screening = Screening(arm({"a": 1.0, "b": 1.0}), ())
    found = figures_of(Result(head=arm({"a": 1.0}), base=arm({"a": 1.0}), screening=screening))
    assert [(id_, one.series[0].base is None) for id_, one in found.items()] == [
        ("a", False),
        ("b", True),
    ]


def test_more_benchmarks_get_fewer_points() -> None:
    assert points_for(2) == MOST_POINTS
    assert points_for(0) == MOST_POINTS
    assert points_for(10**6) == 24


def test_the_course_of_a_step() -> None:
    step = measured_step(np.random.default_rng(1), rounds=6)
    found = load_figures("a", step.load, step.load, MOST_POINTS, seed=1)
    assert found is not None
    assert found.head is not None
    assert found.head.at_s == (0.5, 1.5, 2.5, 3.5, 4.5)
    assert found.head.ops_per_s == pytest.approx([100] * 5, rel=0.15)
    assert [bar.name for bar in found.head.latencies] == ["p50", "p95", "p99"]
    values = [bar.value_s for bar in found.head.latencies]
    assert values == sorted(values)
    for bar in found.head.latencies:
        assert bar.low_s is not None
        assert bar.high_s is not None
        assert bar.low_s <= bar.value_s <= bar.high_s


def test_a_long_course_is_thinned() -> None:
    step = measured_step(np.random.default_rng(1), rounds=2)
    found = load_figures("a", None, step.load, 2, seed=1)
    assert found is not None
    assert found.base is None
    assert found.head is not None
    assert found.window_s == 3.0
    assert found.head.at_s == (1.5, 4.0)


def test_launches_of_one_window_stand_in_line() -> None:
    one = Windows(1.0, 1.0, (3,), (0,), (10**6,), (2 * 10**6,), (3 * 10**6,))
    step = measured_step(np.random.default_rng(1), rounds=2)
    assert step.load is not None
    histogram = step.load.launches[0].histogram
    ops = step.load.launches[0].ops
    windows = replace(one, ops=(ops,))
    launches = tuple(
        load_launch(
            r,
            duration_s=1.0,
            ops=ops,
            errors=0,
            kept_errors=(),
            windows=windows,
            histogram=histogram,
        )
        for r in range(3)
    )
    found = load_figures("a", None, replace(step.load, launches=launches), MOST_POINTS, seed=1)
    assert found is not None
    assert found.head is not None
    assert found.in_line
    assert found.head.at_s == (0.5, 1.5, 2.5)
    assert found.head.p95_s == (0.002,) * 3
