"""The chart of the changes of a benchmark."""

from __future__ import annotations

from dataclasses import replace

from tests.report.conftest import changed

from benchgate.model.policy import Outcome
from benchgate.page.plots import change_plot


def test_a_value_that_fell_to_zero_is_no_missing_change() -> None:
    gone = changed("gone", Outcome.IMPROVED, 0.0, interval=(0.0, 0.0))
    (plot,) = change_plot([gone])
    assert plot.chart.series[0].y == (-100.0,)


def test_one_label_names_all_margins() -> None:
    typical = changed("parse", Outcome.REGRESSED, 1.2)
    (plot,) = change_plot([typical, replace(typical, statistic="p95", margin=0.05)])
    labels = [mark.label for mark in plot.chart.horizontal if mark.label]
    assert labels == ["no change", "margin 2 %, 5 %"]
