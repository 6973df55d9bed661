"""The simulation of lanes in benchmarks/gate: real scheduling, simulated time."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from benchmarks.gate.lanes import Check, Costs, later_rounds_s
from benchmarks.gate.lanes_page import lanes_text

from benchgate.model.run import CANARY_ID

if TYPE_CHECKING:
    from pathlib import Path

FOUR = ("a", "b", "c", "d")


def check_with(*rounds: tuple[str, ...], lanes: int = 1) -> Check:
    return Check(lanes, seed=7, serial_s=2.0, first_s=4.0, later_s=8.0, rounds=rounds)


@pytest.mark.parametrize(("lanes", "expected_s"), [(1, 8.0), (2, 4.0), (4, 2.0), (8, 2.0)])
def test_equal_benchmarks_fill_the_lanes(lanes: int, expected_s: float) -> None:
    costs = Costs(0.0, dict.fromkeys(FOUR, 1.0))
    assert later_rounds_s(check_with(FOUR, FOUR, FOUR), costs, lanes) == pytest.approx(expected_s)


@pytest.mark.parametrize(("lanes", "expected_s"), [(1, 4.5), (2, 2.5), (4, 1.5)])
def test_each_task_starts_its_own_processes(lanes: int, expected_s: float) -> None:
    costs = Costs(0.5, dict.fromkeys(FOUR, 1.0))
    # The first benchmark of the first round seems to cost more, which moves no cut here.
    assert later_rounds_s(check_with(FOUR, FOUR), costs, lanes) == pytest.approx(expected_s)


def test_a_round_of_one_benchmark_takes_as_long_in_any_number_of_lanes() -> None:
    costs = Costs(0.5, dict.fromkeys(FOUR, 1.0))
    check = check_with(FOUR, ("a",), ("a",))
    assert {later_rounds_s(check, costs, lanes) for lanes in (1, 2, 4)} == {3.0}


def test_the_canary_has_a_lane_of_its_own() -> None:
    costs = Costs(0.0, {"a": 1.0, CANARY_ID: 0.5})
    check = check_with(("a", CANARY_ID), ("a", CANARY_ID), ("a",))
    assert later_rounds_s(check, costs, 1) == 2.5
    assert later_rounds_s(check, costs, 2) == 2.0


def test_the_simulated_time_does_not_depend_on_which_thread_runs_first() -> None:
    costs = Costs(0.1, {id_: 0.1 * (index + 1) for index, id_ in enumerate(FOUR)})
    check = check_with(*[FOUR] * 10)
    assert len({later_rounds_s(check, costs, 3) for _ in range(20)}) == 1


def test_the_page_tells_measured_and_simulated_times(tmp_path: Path) -> None:
    place = tmp_path / "lanes.json.gz"
    assert lanes_text(place) == ""
    checks = [asdict(check_with(FOUR, FOUR, FOUR, lanes=lanes)) for lanes in (1, 2)]
    costs = asdict(Costs(0.0, dict.fromkeys(FOUR, 1.0)))
    document = {"load": 0.5, "costs": costs, "checks": checks}
    place.write_bytes(gzip.compress(json.dumps(document).encode()))
    text = " ".join(lanes_text(place).split())
    assert "14.0 s in one lane (simulated: 14.0 s)" in text
    assert "14.0 s in 2 lanes (simulated: 10.0 s)" in text
    assert "In 4 lanes it would take 8.0 s." in text
    assert "No number of lanes shortens 6.0 s of that" in text
