"""Rates with a known truth; `python -m benchmarks.gate simulate` has the large version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks.gate.machines import MACHINES, SLOWER, Truth
from benchmarks.gate.simulate import simulate
from benchmarks.gate.tally import rate, with_bounds

from benchgate.config import loads
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from benchmarks.gate.replayed_builds import ReplayedBuild

BUILDS = 12
CONFIG = loads("", "defaults")
UNCHANGED = Truth()


def builds(machine: int, truth: Truth = UNCHANGED, count: int = BUILDS) -> list[ReplayedBuild]:
    return [simulate(MACHINES[machine], truth, CONFIG, (17, machine, i)) for i in range(count)]


def test_clean_builds_pass_with_every_location_unchanged() -> None:
    clean = builds(0)
    assert not any(build.regressed for build in clean)
    locations = [row for build in clean for row in build.rows if row.statistic == "p25"]
    assert sum(row.outcome == "unchanged" for row in locations) >= 0.98 * len(locations)
    assert sum(build.rounds for build in clean) / BUILDS / 10 < 12


@pytest.mark.parametrize("machine", [1, 2, 3])
def test_heavy_tails_drift_and_wide_spreads_raise_no_alarm(machine: int) -> None:
    alarms = sum(bool(build.regressed) for build in builds(machine))
    assert alarms <= 1  # at alpha itself, two or more occur in 0.6 % of trials


@pytest.mark.parametrize("change", [0.03, 0.05])
def test_a_change_from_one_and_a_half_margins_up_is_found_and_nothing_else(change: float) -> None:
    slower = builds(0, Truth(change, change))
    assert sum(build.regressed == {SLOWER} for build in slower) >= BUILDS - 1


@pytest.mark.parametrize("machine", [0, 3])
def test_looking_after_every_round_does_not_spoil_unchanged(machine: int) -> None:
    at_margin = builds(machine, Truth(0.02, 0.05, everywhere=True), 50)
    rows = [row for build in at_margin for row in build.rows if row.ratio is not None]
    wrong = sum(row.outcome == "unchanged" for row in rows)
    assert wrong <= 0.05 * len(rows)


@pytest.mark.parametrize(
    ("truth", "outcome"),
    [(UNCHANGED, Outcome.UNCHANGED), (Truth(0.025, everywhere=True), Outcome.REGRESSED)],
)
def test_where_time_does_not_matter_every_row_is_decided(truth: Truth, outcome: Outcome) -> None:
    config = loads("measure.until_decided = true", "x")
    found = [simulate(MACHINES[3], truth, config, (17, i)) for i in range(4)]
    rows = [row for build in found for row in build.rows if row.ratio is not None]
    assert [row.outcome for row in rows] == [outcome] * 40
    assert max(build.most_rounds for build in found) > 30


@pytest.mark.parametrize(
    ("hits", "trials", "text"),
    [
        (0, 300, "0 of 300: 0.00% (at most 0.99%)"),
        (5, 100, "5 of 100: 5.00% (1.64% to 11.28%)"),
        (20, 20, "20 of 20: 100.00% (83.16% to 100.00%)"),
    ],
)
def test_a_rate_has_its_bounds(hits: int, trials: int, text: str) -> None:
    assert with_bounds(rate([True] * hits + [False] * (trials - hits))) == text
