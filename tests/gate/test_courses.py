from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.results import arm, bench

from benchgate.config.load import loads
from benchgate.gate.courses import courses, with_courses
from benchgate.gate.suite import Design, judge_suite
from benchgate.model.metrics import Kind, Metric
from benchgate.model.result import MOST_RECENT, Course

if TYPE_CHECKING:
    from benchgate.model.run import Run

CONFIG = loads('[gate]\nstatistics = ["p25"]\n', "benchgate.toml")


def run_of(value_s: float, day: int) -> Run:
    return replace(arm({"a": value_s}), started=f"2026-01-{day:02}T00:00:00Z")


def test_the_oldest_is_first_whatever_the_order() -> None:
    earlier = [run_of(2e-3, 2), run_of(3e-3, 3), run_of(1e-3, 1)]
    (found,) = courses(earlier, arm({"a": 5e-3}), CONFIG)
    assert (found.benchmark, found.metric, found.statistic) == ("a", "time", "p25")
    assert [a < b for a, b in zip(found.values, found.values[1:], strict=False)] == [True, True]


def test_only_the_newest_are_kept() -> None:
    earlier = [run_of(day * 1e-3, day) for day in range(1, 31)]
    (found,) = courses(earlier, arm({"a": 5e-3}), CONFIG)
    assert len(found.values) == MOST_RECENT
    assert min(found.values) > 10e-3


def test_other_work_under_the_same_name_is_left_out() -> None:
    other = replace(run_of(1e-3, 1), benchmarks=(replace(bench("a", 1e-3), workload="other"),))
    assert courses([other], arm({"a": 1e-3}), CONFIG) == ()


def test_counts_have_a_course_too() -> None:
    def counted(value: float, day: int) -> Run:
        run = run_of(value, day)
        (one,) = run.benchmarks
        (series,) = one.series
        exact = replace(series, metric=Metric("allocations", "", kind=Kind.EXACT))
        return replace(run, benchmarks=(replace(one, series=(exact,)),))

    found = courses([counted(7.0, 1), counted(8.0, 2)], counted(9.0, 3), CONFIG)
    assert [(one.metric, one.statistic) for one in found] == [("allocations", "exact")]
    assert len(found[0].values) == 2


def test_a_row_gets_the_values_of_its_own_statistic() -> None:
    base, head = arm({"a": 1e-3, "b": 1e-3}), arm({"a": 1e-3, "b": 1e-3})
    judged = judge_suite(base, head, CONFIG, Design(paired=True))
    known = (Course("a", "time", "p25", (1.0, 2.0)), Course("b", "time", "p95", (3.0,)))
    rows = with_courses(judged, known).rows
    assert {row.benchmark: row.recent for row in rows} == {"a": (1.0, 2.0), "b": ()}
