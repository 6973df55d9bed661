from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.load.launches import SCENARIO, order_in

from benchgate.load.scenario_file import read_scenario
from benchgate.load.schedule import SHORTEST_NS, STRETCH, Timetable, TurnOrder, plan_of, turn_ns

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.load.schedule import LoadPhase

MS = 1_000_000
S = 1000 * MS


def order(place: int, turn: int = 20 * MS) -> TurnOrder:
    return TurnOrder(place=place, turn_ns=turn, meeting="/nowhere")


def tables(length_ns: int, turn: int = 20 * MS, begin_ns: int = 5 * S) -> list[Timetable]:
    return [Timetable.of(begin_ns, length_ns, order(place, turn)) for place in (0, 1)]


@pytest.mark.parametrize("length_ns", [S, 500 * MS, 333 * MS, 20 * MS, 7 * MS])
def test_turns_do_not_overlap_and_take_as_long_as_the_load(length_ns: int) -> None:
    parts = [(*part, one.place) for one in tables(length_ns) for part in one.parts_ns(0, length_ns)]
    in_order = sorted(parts)
    assert in_order[0][0] == 5 * S
    for (_, end_ns, _), (begin_ns, _, _) in itertools.pairwise(in_order):
        assert end_ns <= begin_ns
    for place in (0, 1):
        mine = [end_ns - begin_ns for begin_ns, end_ns, of in parts if of == place]
        assert sum(mine) == pytest.approx(length_ns, abs=len(mine))
    over_ns = {one.over_ns(length_ns) for one in tables(length_ns)}
    assert max(over_ns) - min(over_ns) == 0
    assert in_order[-1][1] <= max(over_ns) <= 5 * S + round(length_ns * STRETCH) + 1


def test_each_launch_is_first_in_every_second_pair_of_turns() -> None:
    parts = [(*part, one.place) for one in tables(80 * MS) for part in one.parts_ns(0, 80 * MS)]
    assert [place for _, _, place in sorted(parts)] == [0, 1, 1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("place", [0, 1])
def test_the_time_of_the_load_stands_still_between_turns(place: int) -> None:
    table = tables(S)[place]
    for passed_ns in range(0, S, 3_333_333):
        assert table.passed_ns(table.at_ns(passed_ns)) == pytest.approx(passed_ns, abs=2)
    clocks = range(5 * S - MS, table.over_ns(S) + 50 * MS, MS)
    passed = [table.passed_ns(now_ns) for now_ns in clocks]
    assert passed == sorted(passed)
    assert (passed[0], passed[-1]) == (0, S)
    assert table.at_ns(S) == table.parts_ns(0, S)[-1][1]


def test_a_part_of_the_load_has_its_part_of_the_turns() -> None:
    table = tables(100 * MS, begin_ns=0)[0]
    assert table.parts_ns(10 * MS, 30 * MS) == [(10 * MS, 20 * MS), (66 * MS, 76 * MS)]


def test_a_launch_that_runs_alone_has_all_the_time() -> None:
    table = Timetable.of(5 * S, S, None)
    assert table.parts_ns(0, S) == [(5 * S, 6 * S)]
    assert (table.at_ns(MS), table.passed_ns(5 * S + MS)) == (5 * S + MS, MS)
    assert table.over_ns(S) == 6 * S


def phases(folder: Path, turns: TurnOrder | None, **load: object) -> list[LoadPhase]:
    launch = order_in(folder, {**SCENARIO, "load": {"duration": "1s", **load}})
    path = folder / launch.shown
    plan = plan_of(read_scenario(path, launch.shown), 0, turns)
    return [phase for phase in (plan.warm_up, plan.measured) if phase is not None]


def test_both_launches_warm_up_before_both_are_measured(tmp_path: Path) -> None:
    both = [phases(tmp_path, order(place), warmup="100ms", concurrency=2) for place in (0, 1)]
    warm_ups = [phase.working_times_ns(0) for phase, _ in both]
    measured = [phase.working_times_ns(1) for _, phase in both]
    assert max(part[1] for each in warm_ups for part in each) <= min(
        part[0] for each in measured for part in each
    )
    assert {len(each) for each in measured} == {50}


def test_operations_of_an_open_loop_are_due_in_turns(tmp_path: Path) -> None:
    for place in (0, 1):
        [phase] = phases(tmp_path, order(place), warmup="0s", rate=500)
        turns = phase.times.parts_ns(0, S)
        due = [phase.due_ns(index) for index in range(500)]
        for due_ns in due:
            assert due_ns is not None
            at_ns = phase.times.at_ns(due_ns)
            assert any(begin_ns <= at_ns < end_ns for begin_ns, end_ns in turns)
        assert phase.due_ns(500) is None


def test_a_ramp_goes_on_from_turn_to_turn(tmp_path: Path) -> None:
    stages = [{"duration": "1s", "concurrency": 11}]
    [phase] = phases(tmp_path, order(0), warmup="0s", concurrency=1, stages=stages)
    alone = phases(tmp_path, None, warmup="0s", concurrency=1, stages=stages)[0]
    for worker in range(11):
        works = sum(end - begin for begin, end in phase.working_times_ns(worker))
        worked = sum(end - begin for begin, end in alone.working_times_ns(worker))
        assert works == pytest.approx(worked, abs=100)


@pytest.mark.parametrize(
    ("latency_s", "duration_s", "expected"),
    [
        (0.0001, 0.5, SHORTEST_NS),
        (0.005, 0.5, 50 * MS),
        (0.0125, 0.5, 125 * MS),
        (0.013, 0.5, None),
        (1.0, 10.0, None),
        (1.0, 40.0, 10 * S),
        (0.0001, 0.05, None),
    ],
)
def test_several_operations_fit_into_a_turn_or_there_are_none(
    latency_s: float, duration_s: float, expected: int | None
) -> None:
    assert turn_ns(latency_s, duration_s) == expected


def test_the_time_is_divided_evenly() -> None:
    table = Timetable.of(0, 50 * MS, order(0))
    assert table.count == 3
    assert replace(table, place=1).over_ns(50 * MS) == table.over_ns(50 * MS)
