"""The figure of the evidence, and what outliers do to axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import changed, tail
from tests.results import of_benchmarks, of_series, series_of

from benchgate.describe.figures import figures
from benchgate.model.policy import Outcome
from benchgate.model.run import Run, Tier
from benchgate.page.plots import plots, round_chart
from benchgate.report import words

if TYPE_CHECKING:
    from benchgate.model.figures import SeriesFigures

ROW = changed("parse", Outcome.REGRESSED, 1.2)


def run(values: list[float]) -> Run:
    return of_benchmarks(of_series("parse", series_of(values, samples=40)))


def compared(head: list[float], base: list[float]) -> SeriesFigures:
    (found,) = figures(run(head), run(base)).values()
    return found.series[0]


def test_a_point_is_the_change_of_one_round() -> None:
    chart = round_chart(ROW, compared([1.2, 2.4, 3.0, 5.0], [1.0, 2.0, 2.0]))
    assert chart is not None
    points, estimate = chart.series
    assert points.x == (1.0, 2.0, 3.0), "of the rounds that both sides have"
    assert points.y == pytest.approx((20.0, 20.0, 50.0))
    assert estimate.y == pytest.approx((20.0, 20.0))
    assert (*estimate.low, *estimate.high) == pytest.approx((17.7, 17.7, 22.3, 22.3))
    assert [(one.at, one.to) for one in chart.horizontal] == [(-2.0, 2.0), (0.0, None)]
    assert "+20.0 % (95 % interval +17.7 to +22.3 %)" in chart.caption


@pytest.mark.parametrize(
    "more", [{"tier": Tier.STORED}, {"tier": None}, {"ratio": None}, {"test": "limit"}]
)
def test_what_was_not_measured_in_rounds_has_no_such_figure(more: dict[str, object]) -> None:
    assert round_chart(replace(ROW, **more), compared([1.0] * 3, [1.0] * 3)) is None  # type: ignore[arg-type]


def test_a_value_that_fell_to_zero_is_no_missing_change() -> None:
    gone = replace(ROW, ratio=0.0, interval=(0.0, 0.0))
    chart = round_chart(gone, compared([0.0] * 3, [1.0] * 3))
    assert chart is not None
    assert chart.series[0].y == (-100.0,) * 3
    assert round_chart(ROW, compared([1.0] * 3, [0.0] * 3)) is None


def test_an_outlier_is_named_and_not_in_the_first_view() -> None:
    chart = round_chart(ROW, compared([1.2] * 11 + [9.0], [1.0] * 12))
    assert chart is not None
    assert chart.view_y == pytest.approx((-2.0, 22.3))
    assert "1 round lies beyond the axis, at up to +800.0 %" in chart.caption


@pytest.mark.parametrize("rounds", [2, 3])
def test_two_rounds_are_enough_for_figures(rounds: int) -> None:
    (found,) = figures(run([1.0, 3.0, 9.0][:rounds]), run([1.0] * rounds)).values()
    assert plots(found, str, (ROW,))


def test_a_tail_is_folded_unless_its_outcome_differs() -> None:
    (found,) = figures(run([1.2] * 12), run([1.0] * 12)).values()
    open_ = tail(ROW, Outcome.NOT_SETTLED)
    same, other = tail(ROW, Outcome.REGRESSED), tail(ROW, Outcome.UNCHANGED)
    typical = replace(other, metric="time", statistic="median")
    for row, is_main in ((open_, False), (same, False), (other, True), (typical, False)):
        first, second = (one for one in plots(found, str, (ROW, row)) if "round" in one.chart.title)
        assert (first.main, first.minor) == (True, False)
        assert (second.main, second.minor) == (is_main, not is_main)
        assert words.statistic(row) in second.chart.title
