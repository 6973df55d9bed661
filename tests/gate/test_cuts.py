"""Builds cut after every round; `python -m benchmarks.gate cut` has the large version."""

from __future__ import annotations

import pytest
from benchmarks.gate.cuts import LAST_CUT, replay_cuts, report_clean, report_slower, simulate_cuts
from benchmarks.gate.machines import MACHINES_CUT_SHORT, SLOWER, Truth
from benchmarks.gate.replay import Half, Question

from benchgate.config import loads

CONFIG = loads("", "defaults")
MACHINES = {machine.name: machine for machine in MACHINES_CUT_SHORT}
CUTS = range(1, LAST_CUT + 1)


@pytest.mark.parametrize(
    "name", ["lockstep", "very heavy tails", "two speeds, little else", "shared noise"]
)
def test_where_nothing_changed_no_cut_makes_an_alarm(name: str) -> None:
    """At alpha itself two or more of 12 would occur in 0.6 % of trials."""
    clean = [simulate_cuts(MACHINES[name], Truth(), CONFIG, (17, i)) for i in range(12)]
    assert max(sum(build.is_false_alarm(cut) for build in clean) for cut in CUTS) <= 1


def test_recorded_builds_raise_no_alarm_wherever_they_are_cut() -> None:
    clean = [replay_cuts(Question(Half.JUDGING), 17, i) for i in range(12)]
    assert not any(build.is_false_alarm(cut) for build in clean for cut in CUTS)
    assert "false alarms 0 of 12: 0.00%" in report_clean(clean)


def test_a_large_slowdown_is_found_wherever_it_is_cut_from_a_few_rounds_on() -> None:
    machine = MACHINES["four, hardly any noise"]
    slower = [simulate_cuts(machine, Truth(0.15), CONFIG, (17, i)) for i in range(8)]
    assert all(build.is_found(cut) for build in slower for cut in range(12, LAST_CUT + 1))
    assert not any(build.is_found(5) for build in slower)
    assert sum(build.is_found(6) for build in slower) >= 6
    assert {build.slower for build in slower} == {SLOWER}
    assert report_slower(slower).startswith("found when cut after 5: 0%, 6: ")
