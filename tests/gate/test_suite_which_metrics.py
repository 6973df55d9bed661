"""Which metrics of a benchmark decide, and which are only shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from tests.gate.arms import bench, judged
from tests.results import series_of

from benchgate.config import loads
from benchgate.gate.conclusion import VerdictTerms, conclude
from benchgate.gate.shown_rows import ONLY_SHOWN, deciding
from benchgate.gate.waivers import apply_waivers
from benchgate.model.metrics import CPU_TIME, ERROR_RATIO, INSTRUCTIONS, TIME, Better, Metric
from benchgate.model.policy import Outcome
from benchgate.model.row_order import by_benchmark
from benchgate.model.run import BenchmarkResult, Tier
from benchgate.model.verdict import Decision, compared_benchmarks, partly_compared

RATE = Metric("throughput", "1/s", Better.HIGHER)
SIZE = Metric("B/op", "B")


def having(*metrics: Metric, tier: Tier = Tier.STORED, value: float = 1.0) -> BenchmarkResult:
    """Make a benchmark that another tool measured, with these metrics."""
    values = [value * (1 + k / 10_000) for k in range(8)]
    each = [bench("b", values, metric=metric) for metric in metrics]
    return replace(each[0], tier=tier, series=tuple(one.series[0] for one in each))


@pytest.mark.parametrize(
    ("names", "metrics", "chosen"),
    [
        (["time"], [TIME, RATE], ("time",)),
        (["time", "throughput"], [TIME, RATE], ("time", "throughput")),
        (["time", "throughput"], [TIME], ("time",)),
        (["time"], [RATE, SIZE], ("throughput", "B/op")),
        (["B/op"], [RATE], ("B/op",)),
        (["time", "instructions"], [TIME], ("time", "instructions")),
    ],
)
def test_what_the_configuration_names_decides_or_else_what_there_is(
    names: list[str], metrics: list[Metric], chosen: tuple[str, ...]
) -> None:
    side = having(*metrics)
    assert deciding(names, side, side) == chosen


def test_other_metrics_are_shown_and_do_not_stand_for_the_benchmark() -> None:
    base, head = having(TIME, RATE), having(TIME, RATE)
    slow = replace(head.series[1], launches=having(RATE, value=0.5).series[0].launches)
    head = replace(head, series=(head.series[0], slow))
    rows = judged([base], [head], '[gate]\nstatistics = ["p25"]', paired=False).rows
    shown, time = sorted(rows, key=lambda row: row.decides)
    assert (shown.metric, shown.outcome, shown.ratio) == ("throughput", "not tested", 0.5)
    assert f"{ONLY_SHOWN}throughput" in shown.notes
    assert by_benchmark(rows)["b"] is time


def test_benchgate_s_own_metrics_are_not_shown_beside_its_own_benchmarks() -> None:
    for tier, shown in ((Tier.LOCKSTEP, []), (Tier.STORED, ["cpu_time"])):
        side = having(TIME, CPU_TIME, tier=tier)
        rows = judged([side], [side], paired=False).rows
        assert [row.metric for row in rows if not row.decides] == shown


@pytest.mark.parametrize("gone", [TIME, SIZE])
def test_a_metric_that_the_head_no_longer_reports_is_missed(gone: Metric) -> None:
    kept = SIZE if gone is TIME else TIME
    toml = '[gate]\nmetrics = ["time", "B/op"]\nstatistics = ["p25"]'
    rows = judged([having(TIME, SIZE)], [having(kept)], toml, paired=False).rows
    row = next(row for row in rows if row.metric == gone.name)
    assert (row.outcome, row.launches) == (Outcome.INCOMPARABLE, (8, 0))
    assert row.notes == (f"{gone.name} was measured only on the base",)
    assert compared_benchmarks(rows) == partly_compared(rows) == {"b"}
    for needed, decision, code in ((1, Decision.NO_VERDICT, 4), (0, Decision.PASS, 0)):
        found = conclude(rows, VerdictTerms(("regressed",), needed))
        assert (found.decision, found.exit_code) == (decision, code)


def test_a_metric_that_changed_its_unit_is_missed_and_one_that_is_new_is_not() -> None:
    toml = '[gate]\nmetrics = ["time", "B/op"]'
    other = having(TIME, replace(SIZE, unit="kB"))
    rows = judged([having(TIME, SIZE)], [other], toml, paired=False).rows
    assert partly_compared(rows) == {"b"}
    rows = judged([having(TIME)], [having(TIME, SIZE)], toml, paired=False).rows
    assert [row.outcome for row in rows if row.metric == "B/op"] == [Outcome.INCOMPARABLE]
    assert partly_compared(rows) == set()


def test_errors_that_only_the_base_counts_are_missed() -> None:
    rows = judged([having(TIME, ERROR_RATIO)], [having(TIME)], paired=False).rows
    assert partly_compared(rows) == {"b"}


def test_a_waiver_covers_a_metric_that_is_gone() -> None:
    toml = """gate.metrics = ["time", "B/op"]
waive = [{benchmark = "b", outcome = "incomparable", until = 2030-01-01, reason = "x"}]"""
    rows = judged([having(TIME, SIZE)], [having(TIME)], toml, paired=False).rows
    waived = apply_waivers(rows, loads(toml, "x"), date(2026, 1, 1))
    assert conclude(waived, VerdictTerms(("regressed",), 1)).decision is Decision.PASS


def test_a_metric_that_nobody_measured_names_those_that_there_are() -> None:
    side = having(TIME, RATE)
    toml = '[gate]\nmetrics = ["B/op"]'
    row = next(row for row in judged([side], [side], toml, paired=False).rows if row.decides)
    assert row.notes == ("B/op was not measured; there is time, throughput: name it in `metrics`",)


@pytest.mark.parametrize(
    ("sides", "unit", "test"),
    [
        (([2.0] * 5, [100.0] * 5), "", "exact"),
        (([200.0, 201.0] * 3, [900.0] * 6), "B", "exact"),
        (([2.0] * 5, [2.0, 3.0, 2.0, 2.0, 2.0]), "", None),
        (([2.0] * 5, [100.0] * 5), "s", None),
    ],
)
def test_a_metric_that_does_not_vary_is_marked_although_it_does_not_decide(
    sides: tuple[list[float], list[float]], unit: str, test: str | None
) -> None:
    arms = [
        BenchmarkResult(
            "b",
            "w",
            Tier.STORED,
            (series_of([1.0] * 5), series_of(values, metric=Metric("allocs/op", unit))),
        )
        for values in sides
    ]
    rows = judged([arms[0]], [arms[1]], paired=False).rows
    (row,) = (row for row in rows if row.metric == "allocs/op")
    assert (row.decides, row.test) == (False, test)


@pytest.mark.parametrize(
    ("counter", "shown"), [("perf", True), ("valgrind", True), ("auto", False)]
)
def test_instructions_are_shown_if_somebody_asked_for_them(counter: str, *, shown: bool) -> None:
    base, head = (
        having(TIME, INSTRUCTIONS, tier=Tier.LOCKSTEP, value=value) for value in (1e6, 1.5e6)
    )
    measure = f'[gate]\nstatistics = ["p25"]\n[measure]\ncounter = "{counter}"\n'
    rows = [row for row in judged([base], [head], measure).rows if not row.decides]
    assert [(row.metric, row.ratio, row.notes) for row in rows] == (
        [("instructions", 1.5, ())] if shown else []
    )
