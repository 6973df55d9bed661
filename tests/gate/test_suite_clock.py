"""Rows whose clock is too coarse for the margin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import bench, judged

from benchgate.model.metrics import Better, Metric
from benchgate.model.policy import Outcome
from benchgate.model.row_order import missing_rounds
from benchgate.model.run import Tier
from benchgate.model.verdict import compared_benchmarks, partly_compared

if TYPE_CHECKING:
    from benchgate.model.row import Row

NS = 1e-9
RATE = Metric("time", "1/s", Better.HIGHER)


def ticks(value: float, *, clock: float, seed: int, launches: int = 20) -> list[list[float]]:
    """Samples of a clock: a time begins at any moment between two ticks."""
    random = np.random.default_rng(seed)
    shape = (launches, 40)
    exact = value * (1 + 0.01 * abs(random.standard_normal(shape)))
    begun = random.random(shape) * clock
    read = np.floor((begun + exact) / clock) * clock - np.floor(begun / clock) * clock
    return [[float(each) for each in launch] for launch in read]


def compare(
    base: list[list[float]] | list[float],
    head: list[list[float]] | list[float],
    *,
    toml: str = "",
    paired: bool = False,
    tier: Tier = Tier.STORED,
    metric: Metric | None = None,
) -> Row:
    about = {} if metric is None else {"metric": metric}
    sides = [replace(bench("b", each, **about), tier=tier) for each in (base, head)]
    toml = f'[gate]\nstatistics = ["p25"]\n{toml}'
    (row,) = judged([sides[0]], [sides[1]], toml, paired=paired).rows
    return row


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("rule", ["launch", "classical"])
@pytest.mark.parametrize(
    "case",
    [
        (1.0, 10, Outcome.NOT_TESTED),
        (1.05, 10, Outcome.NOT_TESTED),
        (1.6, 10, Outcome.REGRESSED),
        (0.5, 10, Outcome.IMPROVED),
        (1.0, 0.05, Outcome.UNCHANGED),
    ],
)
def test_what_the_clock_hides_is_not_called_unchanged(
    case: tuple[float, float, Outcome],
    rule: str,
    paired: bool,  # noqa: FBT001 - a parameter
) -> None:
    change, clock, outcome = case
    base, head = (
        ticks(value * NS, clock=clock * NS, seed=seed)
        for seed, value in enumerate((74, 74 * change), start=1)
    )
    row = compare(base, head, toml=f'rule = "{rule}"', paired=paired)
    assert row.outcome is outcome
    if outcome is Outcome.NOT_TESTED:
        assert row.notes == ("the clock shows steps of 14.3 % of the value",)
        assert (row.ratio, row.interval, row.p) == (None, None, None)


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        ([7.0] * 10, [7.0] * 10, Outcome.NOT_TESTED),  # all rounded alike
        ([70.0] * 10, [70.0] * 10, Outcome.NOT_TESTED),
        ([1234.0] * 10, [1234.0] * 10, Outcome.NOT_TESTED),
        ([1234.0] * 10, [1300.0] * 10, Outcome.REGRESSED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [5.0] * 10, Outcome.NOT_TESTED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [6.0] * 10, Outcome.NOT_TESTED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [9.0] * 10, Outcome.REGRESSED),
    ],
)
def test_numbers_that_a_tool_rounds(base: list[float], head: list[float], outcome: Outcome) -> None:
    assert compare(base, head).outcome is outcome
    assert compare(head, base).outcome is (
        Outcome.IMPROVED if outcome is Outcome.REGRESSED else outcome
    )


def test_rates_have_clocks_and_counts_have_none() -> None:
    values = [5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5]
    assert compare(values, [5.0] * 10, metric=RATE).outcome is Outcome.NOT_TESTED
    assert compare([5.0] * 10, [5.0] * 10, metric=Metric("time", "B")).outcome is Outcome.UNCHANGED


def test_rows_of_a_coarse_clock_get_no_rounds_for_nothing() -> None:
    arms = [bench("b", ticks(74 * NS, clock=10 * NS, seed=seed)) for seed in (1, 2)]
    (need,) = judged([arms[0]], [arms[1]], '[gate]\nstatistics = ["p25"]').needs
    assert need.stage == "done"


MS = 1e-3
FINE = [MS * (12.5 + k / 1000) for k in range(10)]


@pytest.mark.parametrize("tier", [Tier.STORED, Tier.SUITE])
@pytest.mark.parametrize(
    ("base", "head", "note"),
    [
        ([12.5371 * MS] * 10, [12.5371 * MS] * 10, "it reported exactly 12.5371 ms in all 20 runs"),
        ([50 * MS] * 10, [50 * MS] * 10, "always 50 ms: too coarse to tell; print more digits"),
        ([57 * MS] * 10, [57 * MS] * 10, "always 57 ms: too coarse to tell; print more digits"),
        (FINE, [12.5 * MS] * 10, "the head reported exactly 12.5 ms in all 10 runs"),
        (FINE, [11.1 * MS] * 10, "the head reported exactly 11.1 ms in all 10 runs"),
        ([12.5 * MS] * 10, FINE, "the base reported exactly 12.5 ms in all 10 runs"),
    ],
)
def test_what_is_the_same_in_all_runs_measures_nothing(
    base: list[float], head: list[float], note: str, tier: Tier
) -> None:
    row = compare(base, head, tier=tier, paired=tier is Tier.SUITE)
    assert (row.outcome, row.ratio) == (Outcome.NOT_TESTED, None)
    assert row.notes[0].startswith(note)
    assert row.is_no_measurement
    # More rounds have the same values.
    assert missing_rounds([row], 100) == {}


def test_the_same_samples_in_all_runs_measure_nothing() -> None:
    varied = [[value * (1 + run / 7000) for value in FINE] for run in range(10)]
    row = compare(varied, [FINE] * 10)
    assert (row.outcome, row.is_no_measurement) == (Outcome.NOT_TESTED, True)
    assert row.notes[0].startswith("the head reported the same 10 samples in all 10 runs")
    slower = [[value * 1.3 for value in FINE]] * 10
    assert compare(varied, slower).outcome is Outcome.REGRESSED
    coarse = [[50 * MS, 51 * MS, 50 * MS]] * 10
    assert "steps of 2 %" in compare(coarse, coarse).notes[0]


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        (FINE, [14 * MS] * 10, Outcome.REGRESSED),
        ([12 * MS] * 10, [14 * MS] * 10, Outcome.REGRESSED),
        ([14 * MS] * 10, [12 * MS] * 10, Outcome.IMPROVED),
        ([14 * MS] * 10, FINE, Outcome.IMPROVED),
        ([50 * MS, 50.1 * MS] * 5, [50 * MS] * 10, Outcome.UNCHANGED),
        ([50 * MS] * 2, [50 * MS] * 2, Outcome.NOT_TESTED),
    ],
)
def test_what_changed_or_varies_is_a_measurement(
    base: list[float], head: list[float], outcome: Outcome
) -> None:
    row = compare(base, head)
    assert (row.outcome, row.is_no_measurement) == (outcome, False)


def test_a_rate_has_no_clock_and_a_clock_of_our_own_is_believed() -> None:
    same = [2000.0] * 10
    assert compare(same, same, metric=RATE).notes[0].startswith("always 2000/s: too coarse")
    steps = [5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5]
    assert compare(steps, [5.0] * 10, metric=RATE).notes == (
        "its values show steps of 20 % of the value",
    )
    assert compare([50 * MS] * 10, [50 * MS] * 10, tier=Tier.LOCKSTEP).outcome is Outcome.UNCHANGED


def test_a_size_does_not_stand_for_a_time_that_measures_nothing() -> None:
    time, size = bench("b", [0.0125371] * 10), bench("b", [9.0] * 10, metric=Metric("size", "B"))
    side = replace(time, tier=Tier.STORED, series=(*time.series, *size.series))
    toml = 'gate.metrics = ["time", "size"]'
    rows = judged([side], [side], toml, paired=False).rows
    assert compared_benchmarks(rows) == partly_compared(rows) == {"b"}
