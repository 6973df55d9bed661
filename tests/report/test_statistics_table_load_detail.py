"""What `show` prints of a step of a scenario."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from tests.report.conftest import golden, printed

from benchgate.interval import Interval
from benchgate.model.environment import Environment
from benchgate.model.load import Loop
from benchgate.model.run import Source
from benchgate.model.statistics import (
    ErrorCount,
    LaunchCourse,
    LoadDetail,
    LoadMetric,
    LoadPercentile,
    LoadStatistics,
    Mean,
    ResultStatistics,
    RunStatistics,
    SeriesStatistics,
)
from benchgate.report.load_statistics import drawn
from benchgate.report.statistics_table import render_result


def metric(name: str, unit: str, mean: float, sd: float) -> LoadMetric:
    ends = Interval(mean - sd, mean + sd, 0.95, "t on logs")
    described = Mean(5, mean, sd, sd / mean if mean else None, sd / 2, ends, geometric=True)
    return LoadMetric(name, unit, described, mean - 2 * sd, mean + 2 * sd)


COURSES = (
    LaunchCourse(0, 12_340, 2, 1.9e-4, 3e-4, 5e-4, 0.9, (1000, 2000, 0, 4000), 0.97, 0.001, 0.002),
    LaunchCourse(1, 0, 3, None, None, None, None, (0, 0), 0.1, 0.001, None),
)
LOOKUP = LoadStatistics(
    benchmark="orders/lookup[\x1b[2J]",
    scenario="orders",
    target="postgresql",
    step="lookup",
    loop=Loop.OPEN,
    workers=4,
    rate=5000.0,
    launches=2,
    duration_s=10.0,
    ops=12_340,
    errors=5,
    unfinished=7,
    metrics=(
        metric("ops", "", 12_340.0, 12.0),
        metric("throughput", "1/s", 1234.0, 12.5),
        metric("time_p50", "s", 0.00019, 0.00001),
        metric("error_ratio", "", 0.02, 0.001),
    ),
    error_texts=(ErrorCount("the database is locked", 4), ErrorCount("gone\x1b[31m", 1)),
    window_s=1.0,
    windows=6,
    empty_windows=3,
    server={"version": "16.1", "shared_buffers": "128MB"},
    notes=("the load generator may have been the limit in 1 of 2 launches: it was busy",),
    detail=LoadDetail(
        (LoadPercentile("p50", 0.5, 1.9e-4), LoadPercentile("max", 1.0, 0.9)), 2e-4, 1e-5, COURSES
    ),
)
PLAIN = SeriesStatistics("json/dumps", "time", "s", 12, 45, 16, 1.21e-5, 1.23e-5, 1.4e-5, 0.021)
UNDER_LOAD = SeriesStatistics(
    LOOKUP.benchmark, "throughput", "1/s", 2, 1, 1, 1234.0, 1234.0, None, 0.01
)


def result(*series: SeriesStatistics) -> ResultStatistics:
    run = RunStatistics(
        arm="head",
        source=Source(sha="e4f5a6b7c8d9"),
        started="2026-11-21T07:29:04Z",
        complete=True,
        environment=Environment(cpu_model="AMD EPYC 7763", cpu_count=4),
        series=series,
        loads=(LOOKUP,),
    )
    return ResultStatistics(runs=(run,), duration_s=42.0)


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
def test_a_step_looks_as_it_did(width: int | None) -> None:
    text = printed(partial(render_result, result(UNDER_LOAD)), width)
    assert max(map(len, text.splitlines())) <= (width or 200)
    assert "\x1b" not in text
    golden(f"load-{width or 'pipe'}.txt", text)


def test_other_benchmarks_keep_their_lines_and_their_legend() -> None:
    text = printed(partial(render_result, result(UNDER_LOAD, PLAIN)), None)
    assert "json/dumps" in text
    assert "loops: operations in one sample" in text
    assert text.count("throughput") == 1


def test_launches_of_one_window_have_no_course() -> None:
    courses = tuple(replace(course, window_ops=(7,)) for course in COURSES)
    short = replace(LOOKUP, detail=LoadDetail((), 2e-4, 1e-5, courses))
    (run,) = result(UNDER_LOAD).runs
    shown = replace(result(UNDER_LOAD), runs=(replace(run, loads=(short,)),))
    assert "over time" in printed(partial(render_result, result(UNDER_LOAD)), None)
    assert "over time" not in printed(partial(render_result, shown), None)


@pytest.mark.parametrize(
    ("counts", "drawing"),
    [
        ((), ""),
        ((0, 0), ".."),
        ((1000, 2000, 0, 4000), "▃▅.█"),
        ((1, 1000), "▁█"),
        ((5,) * 80, "█" * 40),
    ],
)
def test_a_course_is_drawn_from_zero(counts: tuple[int, ...], drawing: str) -> None:
    assert drawn(counts) == drawing


def test_it_says_how_long_the_sides_took_turns() -> None:
    courses = (replace(COURSES[0], turn_s=0.02), COURSES[1])
    step = replace(LOOKUP, detail=LoadDetail((), 2e-4, 1e-5, courses))
    (run,) = result(UNDER_LOAD).runs
    shown = replace(result(UNDER_LOAD), runs=(replace(run, loads=(step,)),))
    text = printed(partial(render_result, shown), None)
    assert "base and head took turns of 20.00 ms in 1 of 2 launches" in text
    assert "took turns" not in printed(partial(render_result, result(UNDER_LOAD)), None)
