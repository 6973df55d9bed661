from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.model.result import Phase, PhaseTime
from benchgate.session.phases import Phases

if TYPE_CHECKING:
    from tests.world import World


def test_phases_follow_each_other_without_gaps(world: World) -> None:
    phases = Phases(world.clock, world.clock() - 0.5)
    world.clock.now_s += 1
    for phase, seconds in (
        (Phase.CHECK_OUT, 2.0),
        (Phase.LATER_ROUNDS, 4.0),
        (Phase.SAVE, 8.0),
        (Phase.LATER_ROUNDS, 16.0),
    ):
        phases.begin(phase)
        world.clock.now_s += seconds
    assert phases.taken() == (
        PhaseTime(Phase.START, 1, 1.5),
        PhaseTime(Phase.CHECK_OUT, 1, 2.0),
        PhaseTime(Phase.LATER_ROUNDS, 2, 20.0),
        PhaseTime(Phase.SAVE, 1, 8.0),
    )


def test_the_phase_that_has_not_ended_counts_until_now(world: World) -> None:
    phases = Phases(world.clock)
    phases.begin(Phase.BUILD)
    world.clock.now_s += 1
    assert phases.taken()[-1] == PhaseTime(Phase.BUILD, 1, 1.0)
    world.clock.now_s += 2
    assert phases.taken()[-1] == PhaseTime(Phase.BUILD, 1, 3.0)


def test_a_part_of_a_phase_may_be_another_one(world: World) -> None:
    phases = Phases(world.clock)
    phases.begin(Phase.FIRST_ROUND)
    world.clock.now_s += 5
    phases.assign(Phase.COUNT, 0.0)
    assert [one.phase for one in phases.taken()] == [Phase.START, Phase.FIRST_ROUND]
    phases.assign(Phase.COUNT, 2.0)
    assert phases.taken()[1:] == (
        PhaseTime(Phase.FIRST_ROUND, 1, 3.0),
        PhaseTime(Phase.COUNT, 1, 2.0),
    )


def test_what_several_threads_do_is_no_phase_of_its_own(world: World) -> None:
    phases = Phases(world.clock)
    phases.begin(Phase.LATER_ROUNDS)
    with phases.beside(Phase.START_WORKERS), phases.beside(Phase.START_WORKERS):
        world.clock.now_s += 3
    with pytest.raises(ValueError, match="gone"), phases.beside(Phase.START_WORKERS):
        raise ValueError("gone")
    assert phases.taken()[1:] == (
        PhaseTime(Phase.LATER_ROUNDS, 1, 3.0),
        PhaseTime(Phase.START_WORKERS, 3, 6.0),
    )
