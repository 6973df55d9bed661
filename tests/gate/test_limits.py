"""Absolute limits: what the head must not exceed, whatever the base measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import bench, judged

from benchgate.gate.conclusion import Conclusion, VerdictTerms, conclude
from benchgate.model.metrics import ERROR_RATIO, Better, Kind, Metric
from benchgate.model.policy import Outcome
from benchgate.model.row_order import by_benchmark
from benchgate.model.run import BenchmarkResult, Status, Tier
from benchgate.model.verdict import Decision, Reason

if TYPE_CHECKING:
    from benchgate.model.row import Row

SIZE = Metric("size", "B", kind=Kind.EXACT)
RATE = Metric("throughput", "1/s", Better.HIGHER)
STEADY = [19.0e-3, 19.1e-3, 19.2e-3, 19.3e-3, 19.4e-3, 19.5e-3, 19.6e-3]


def limited(limit: str, values: list[float] | list[list[float]], metric: Metric) -> Row | None:
    """Judge a head by a limit; the base is the same."""
    side = bench("api/users", values, metric=metric)
    toml = f'[[limit]]\nbenchmark = "api/*"\nmetric = "{metric.name}"\n{limit}'
    rows = judged([side], [side], toml).rows
    return next((row for row in rows if row.is_limit), None)


TIME = Metric("time", "s")


@pytest.mark.parametrize(
    ("limit", "values", "metric", "outcome"),
    [
        ('max = "20ms"', STEADY, TIME, Outcome.WITHIN_LIMIT),
        ('max = "19.6ms"', STEADY, TIME, Outcome.WITHIN_LIMIT),
        ('max = "19.55ms"', STEADY, TIME, Outcome.NOT_SETTLED),
        ('max = "19.0ms"', STEADY, TIME, Outcome.NOT_SETTLED),
        ('max = "18.9ms"', STEADY, TIME, Outcome.OVER_LIMIT),
        ("max = 0.02", STEADY, TIME, Outcome.WITHIN_LIMIT),
        ('min = "18ms"', STEADY, TIME, Outcome.WITHIN_LIMIT),
        ('max = "18ms"', STEADY[:5], TIME, Outcome.NOT_TESTED),
        ('max = "1MB"', STEADY, TIME, Outcome.NOT_TESTED),
        ('max = "20ms"', [0.0] * 7, TIME, Outcome.NOT_TESTED),
        ('min = "1000/s"', [900.0, 901, 902, 903, 904, 905], RATE, Outcome.OVER_LIMIT),
        ('min = "900/s"', [900.0, 901, 902, 903, 904, 905], RATE, Outcome.WITHIN_LIMIT),
        ('max = "64 KiB"', [65536.0], SIZE, Outcome.WITHIN_LIMIT),
        ('max = "64 kB"', [65536.0], SIZE, Outcome.OVER_LIMIT),
        ('max = "1 %"', [0.02], ERROR_RATIO, Outcome.OVER_LIMIT),
        ("max = 0", [0.0], ERROR_RATIO, Outcome.WITHIN_LIMIT),
        ("max = 0", [0.01], ERROR_RATIO, Outcome.OVER_LIMIT),
        ("max = 0", [0.0] * 6 + [0.01], ERROR_RATIO, Outcome.NOT_SETTLED),
    ],
)
def test_the_interval_decides(
    limit: str, values: list[float], metric: Metric, outcome: Outcome
) -> None:
    row = limited(limit, values, metric)
    assert row is not None
    assert row.outcome is outcome
    assert row.notes[0].startswith("the limit is at ")


def test_the_row_tells_the_limit_the_value_and_the_interval() -> None:
    row = limited('statistic = "p95"\nmax = "10ms"', [[x, 2 * x] for x in STEADY], TIME)
    assert row is not None
    assert (row.statistic, row.base, row.head) == ("p95 limit", 0.01, 2 * STEADY[3])
    assert row.ratio == pytest.approx(3.86)
    assert row.interval == pytest.approx((3.8, 3.92))


def test_what_has_no_such_metric_has_no_row() -> None:
    side = bench("api/users", STEADY)
    other = bench("db/users", STEADY)
    broken = BenchmarkResult("api/gone", "w", Tier.LOCKSTEP, (), Status.FAILED, "boom")
    arm = [side, other, broken]
    toml = '[[limit]]\nbenchmark = "api/*"\nmetric = "size"\nmax = 1'
    assert not any(row.is_limit for row in judged(arm, arm, toml).rows)
    toml = '[[limit]]\nbenchmark = "api/*"\nmax = "1s"'
    rows = judged(arm, arm, toml).rows
    assert [row.benchmark for row in rows if row.is_limit] == ["api/users"]


def test_the_last_limit_counts() -> None:
    side = bench("api/users", STEADY)
    limits = '[[limit]]\nbenchmark = "*"\nmax = "1ms"\n[[limit]]\nbenchmark = "api/*"\nmax = "1s"'
    rows = [row for row in judged([side], [side], limits).rows if row.is_limit]
    assert [row.outcome for row in rows] == [Outcome.WITHIN_LIMIT]


@pytest.mark.parametrize(
    ("limit", "decision", "code"), [("1ms", Decision.FAIL, 3), ("1s", Decision.NO_VERDICT, 4)]
)
def test_a_limit_fails_a_new_benchmark_and_stands_for_no_comparison(
    limit: str, decision: Decision, code: int
) -> None:
    toml = f'[[limit]]\nbenchmark = "*"\nmax = "{limit}"'
    found = conclude(judged([], [bench("new", STEADY)], toml).rows, VerdictTerms(("regressed",), 0))
    assert (found.decision, found.exit_code) == (decision, code)
    reported = conclude(judged([], [bench("new", STEADY)], toml).rows, VerdictTerms((), 0))
    assert reported.decision is Decision.NO_VERDICT


@pytest.mark.parametrize(("fail_on", "code"), [(("regressed",), 4), ((), 0)])
def test_a_limit_that_cannot_be_tested_lets_no_build_pass(
    fail_on: tuple[str, ...], code: int
) -> None:
    side = bench("api/users", STEADY)
    rows = judged([side], [side], '[[limit]]\nbenchmark = "*"\nmax = "1 MB"').rows
    found = conclude(rows, VerdictTerms(fail_on, 0))
    assert found == Conclusion(Decision.NO_VERDICT, code, Reason.LIMIT_UNTESTED)


def test_a_limit_of_what_the_head_no_longer_reports_cannot_be_tested() -> None:
    sized, timed = bench("api/users", [9.0], metric=SIZE), bench("api/users", STEADY)
    both = replace(timed, series=(*timed.series, *sized.series))
    toml = '[[limit]]\nbenchmark = "*"\nmetric = "size"\nmax = 500'
    rows = judged([both], [timed], toml).rows
    (row,) = (one for one in rows if one.is_limit)
    assert (row.outcome, row.base, row.unit) == (Outcome.NOT_TESTED, 500, "B")
    assert row.notes == ("the limit is at most 500", "size was measured only on the base")
    assert by_benchmark(rows)["api/users"] is row
    found = conclude(rows, VerdictTerms(("regressed",), 1))
    assert found == Conclusion(Decision.NO_VERDICT, 4, Reason.LIMIT_UNTESTED)


def test_a_limit_of_what_this_machine_cannot_measure_cannot_be_tested() -> None:
    side = bench("api/users", STEADY, notes=("instructions: no counters",))
    toml = '[[limit]]\nbenchmark = "*"\nmetric = "instructions"\nmax = 500'
    (row,) = (one for one in judged([side], [side], toml).rows if one.is_limit)
    assert row.outcome is Outcome.NOT_TESTED
    assert row.notes[-1] == "instructions was not measured: no counters"
