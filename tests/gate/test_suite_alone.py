"""A single launch of a side, and sides that measured nothing but zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import bench, judged

from benchgate.model.metrics import THROUGHPUT, TIME, Better, Kind, Metric
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from benchgate.model.row import Row

SUMMARY = Metric("time", "s", kind=Kind.SUMMARY)
RATE = Metric("throughput", "1/s", Better.HIGHER, Kind.SUMMARY)
ERRORS = Metric("error_ratio", "", kind=Kind.SUMMARY)
P25 = '[gate]\nstatistics = ["p25"]'
QUEUED = Metric("queued", "")
QUEUED_P25 = f'{P25}\nmetrics = ["queued"]'


def compare(metric: Metric, base: list[float], head: list[float], toml: str = P25) -> Row:
    """Compare stored launches of one metric."""
    sides = [bench("b", each, metric=metric) for each in (base, head)]
    (row,) = judged([sides[0]], [sides[1]], toml, paired=False).rows
    return row


@pytest.mark.parametrize(
    ("metric", "base", "head", "outcome"),
    [
        (SUMMARY, 1.0, 1.9, Outcome.NOT_TESTED),
        (SUMMARY, 1.0, 2.0, Outcome.REGRESSED),
        (SUMMARY, 1.0, 0.5, Outcome.IMPROVED),
        (RATE, 1.0, 0.5, Outcome.REGRESSED),
        (RATE, 1.0, 2.0, Outcome.IMPROVED),
        (TIME, 1.0, 1.9, Outcome.NOT_TESTED),
        (TIME, 1.0, 3.0, Outcome.REGRESSED),
    ],
)
def test_one_launch_is_compared_by_a_threshold_and_is_advisory(
    metric: Metric, base: float, head: float, outcome: Outcome
) -> None:
    row = compare(metric, [base], [head])
    assert (row.outcome, row.test, row.advisory) == (outcome, "threshold", True)
    label = "no samples" if metric.kind is Kind.SUMMARY else "one launch"
    assert row.notes[0].startswith(f"{label}: run-to-run noise is unknown, so only a change by a ")
    assert row.ratio == pytest.approx(head / base)


def test_the_margin_counts_if_it_is_larger_than_the_noise_floor() -> None:
    row = compare(SUMMARY, [1.0], [3.0], '[gate]\nmargin = "300%"')
    assert row.outcome is Outcome.NOT_TESTED
    assert "a factor of 4 counts" in row.notes[0]


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        ([0.0], [0.0], Outcome.UNCHANGED),
        ([0.0], [0.1], Outcome.REGRESSED),
        ([0.1], [0.0], Outcome.IMPROVED),
        ([0.0] * 8, [0.1] * 8, Outcome.REGRESSED),
        ([0.0] * 8, [0.0] * 8, Outcome.UNCHANGED),
        ([0.0] * 8, [0.0] * 7 + [0.1], Outcome.NOT_TESTED),
    ],
)
def test_an_error_ratio_may_be_zero(base: list[float], head: list[float], outcome: Outcome) -> None:
    row = compare(ERRORS, base, head)
    assert row.outcome is outcome
    assert row.advisory or outcome is Outcome.NOT_TESTED


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        ([0.0] * 5, [3.0] * 5, Outcome.REGRESSED),
        ([3.0] * 5, [0.0] * 5, Outcome.IMPROVED),
        ([0.0] * 4, [3.0] * 4, Outcome.NOT_TESTED),
        ([0.0] * 5, [0.0, 3.0, 3.0, 3.0, 3.0], Outcome.NOT_TESTED),
    ],
)
def test_rounds_of_nothing_but_zeros_decide(
    base: list[float], head: list[float], outcome: Outcome
) -> None:
    sides = [bench("b", each, metric=QUEUED) for each in (base, head)]
    (row,) = judged([sides[0]], [sides[1]], QUEUED_P25).rows
    assert (row.outcome, row.advisory) == (outcome, False)


@pytest.mark.parametrize(
    ("head", "outcome"), [([0.0] * 8, Outcome.NOT_TESTED), ([5.0] * 8, Outcome.IMPROVED)]
)
def test_a_throughput_of_0_on_both_sides_measured_nothing(
    head: list[float], outcome: Outcome
) -> None:
    sides = [bench("b", each, metric=THROUGHPUT) for each in ([0.0] * 8, head)]
    rows = judged([sides[0]], [sides[1]], 'gate.metrics = ["throughput"]').rows
    assert rows[0].outcome is outcome


@pytest.mark.parametrize("zeros", [8, 1])
def test_times_of_zero_decide_nothing(zeros: int) -> None:
    times = [0.0] * zeros + [0.1] * (8 - zeros)
    for base, head in ((times, [0.2] * 8), ([0.2] * 8, times), (times, times)):
        sides = [bench("b", each) for each in (base, head)]
        for paired in (True, False):
            (row,) = judged([sides[0]], [sides[1]], P25, paired=paired).rows
            assert row.outcome is Outcome.NOT_TESTED
            why = "times are 0: the clock is too coarse, or nothing was measured"
            assert row.notes[0] == why
