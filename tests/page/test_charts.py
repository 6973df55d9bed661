"""The chart of a trend: which points it has, and what it marks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.histories import MACHINE, history_of, runs_of, sha_of, trend_of

from benchgate.model.history_document import Trend, TrendPoint
from benchgate.page.charts import (
    HEIGHT,
    MOST_POINTS,
    WIDTH,
    Chart,
    Draw,
    axis_of,
    chart_of,
    points_per_chart,
    spark,
    thinned,
)
from benchgate.report.history_table import view_history


def charted(trend: Trend) -> Chart:
    history = history_of(trend)
    view = view_history(history).machines[0].benchmarks[0].first
    return chart_of(
        view, axis_of(history.runs, "https://github.com/octo-org/hello"), range(len(trend.points))
    )


def test_values_stand_in_the_unit_of_the_axis_over_their_run() -> None:
    chart = charted(trend_of([(8, 0.010), (8, 0.012)]))
    assert chart.y.label == "time (ms)"
    values = chart.series[0]
    assert values.x == tuple(range(16))
    assert values.y[0] == pytest.approx(9.95)
    assert (values.low[0], values.high[0]) == pytest.approx((9.8505, 10.149))
    assert values.band


def test_the_axis_has_commits_that_can_be_opened() -> None:
    axis = axis_of(runs_of(2), "https://github.com/octo-org/hello")
    assert axis.names[0] == "0000cba Change number 0 (A. Developer), 2026-01-01"
    assert axis.ticks[1] == ("1000cba", "2026-01-02")
    assert axis.links[1] == f"https://github.com/octo-org/hello/commit/{sha_of(1)}"
    assert axis_of(runs_of(2), "").links == ()


def test_a_change_is_marked_where_the_new_level_begins() -> None:
    chart = charted(trend_of([(8, 0.010), (8, 0.012)]))
    (mark,) = chart.vertical
    assert (mark.at, mark.strong) == (8, True)
    assert mark.label == "slower +20.0 %"
    level = chart.series[1]
    assert level.draw is Draw.STEP
    assert (level.x, level.y) == ((0, 8, 15), (10.0, 12.0, 12.0))


def test_marks_of_several_changes_are_short() -> None:
    chart = charted(trend_of([(8, 0.010), (8, 0.012), (8, 0.009)]))
    assert [mark.label for mark in chart.vertical] == ["+20.0 %", "-25.0 %"]


def test_a_trend_of_single_launches_has_no_band() -> None:
    trend = trend_of([(8, 0.010)])
    points = tuple(replace(one, low=one.value, high=one.value) for one in trend.points)
    (values,) = charted(replace(trend, points=points)).series
    assert values.low == values.high == ()
    assert not values.band


def test_a_short_trend_is_drawn_whole() -> None:
    trend = trend_of([(40, 0.010)])
    assert thinned(trend, 40) == tuple(range(40))


def test_a_thinned_trend_keeps_changes_outliers_and_the_newest_runs() -> None:
    trend = trend_of([(700, 0.010), (300, 0.012)])
    points = list(trend.points)
    points[333] = TrendPoint(333, 0.05, 0.05, 0.05)
    points[500] = TrendPoint(500, 0.001, 0.001, 0.001)
    shown = thinned(replace(trend, points=tuple(points)), 200)
    assert len(shown) <= 210
    assert {333, 500, 0, 999, *range(695, 705), *range(970, 1000)} <= set(shown)
    assert list(shown) == sorted(set(shown))


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_thinning_ends_with_few_points_even_if_everything_is_to_be_kept(limit: int) -> None:
    trend = trend_of([(20, 0.010 + 0.002 * (index % 2)) for index in range(50)])
    shown = thinned(trend, limit)
    assert 0 in shown
    assert len(shown) <= 30 + 49 * 10 + limit + 3


def test_the_page_has_a_limit_and_every_chart_a_part_of_it() -> None:
    assert points_per_chart(1) == MOST_POINTS
    assert points_per_chart(400) == 250
    assert points_per_chart(100_000) == 100
    assert points_per_chart(0) == MOST_POINTS


def test_values_that_no_unit_fits_leave_a_gap() -> None:
    trend = trend_of([(8, 1.0)], display_unit="ns")
    points = (TrendPoint(0, 1e305, 1e305, 1e305), *trend.points[1:])
    chart = charted(replace(trend, points=points))
    assert chart.series[0].y[0] is None


def test_the_axis_names_runs_whatever_is_known_of_them() -> None:
    runs = runs_of(1, sha="", subject="\x1b[31m<b>\n", author="", machine=MACHINE)
    axis = axis_of(runs, "https://github.com/octo-org/hello")
    assert (axis.names, axis.links) == (("<b>, 2026-01-01",), ())


@pytest.mark.parametrize(
    "values", [[1.0], [0.0, 0.0], [1e300, -1e300], [5e-324, 1.0], [1.0, 1.001] * 400]
)
def test_a_spark_stays_in_its_box(values: list[float]) -> None:
    path, x, y = spark(values)
    points = [tuple(map(float, point.split())) for point in path.removeprefix("M").split("L")]
    assert points[-1] == (x, y)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    assert len(points) <= 60


def test_noise_is_drawn_small() -> None:
    path, *_ = spark([1.0, 1.002, 0.999, 1.001])
    heights = [float(point.split()[1]) for point in path.removeprefix("M").split("L")]
    assert max(heights) - min(heights) < HEIGHT / 8
