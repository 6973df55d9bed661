from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.gate.estimates import RowStage
from benchgate.gate.suite import Need
from benchgate.gate.waves import WaveSettings
from benchgate.measure.processes.budget import Budget
from benchgate.session.rounds import FixedRounds, RoundLoop, ScreenAndConfirm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.world import World

    from benchgate.session.rounds import Planner
    from benchgate.session.session import Session

WAVES = WaveSettings(alpha=0.01, screen_rounds=5, confirm_rounds=12, max_rounds=30)


def measure(
    world: World, session: Session, planner: Planner, budget_s: float
) -> tuple[tuple[str, ...], list[int]]:
    saves: list[int] = []
    still_open = RoundLoop(
        session,
        planner,
        budget_s=budget_s,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=lambda: saves.append(1),
    ).measure()
    return still_open, saves


def left_s(world: World) -> list[float | None]:
    """The estimate at the start of each round."""
    told = world.progress
    return [
        state.ends_s and round(state.ends_s - now_s, 6)
        for state, now_s in zip(told.started, told.started_s, strict=True)
    ]


def screening(
    session: Session, judge: Callable[[], Sequence[Need]], once: frozenset[str] = frozenset()
) -> ScreenAndConfirm:
    return ScreenAndConfirm(session, WAVES, judge, once)


def test_fixed_rounds_measure_everything_so_often(world: World) -> None:
    session, engine = world.open({"a": world.fake(), "b": world.fake()})
    still_open, saves = measure(world, session, FixedRounds(session, 3), 100)
    assert still_open == ()
    assert engine.rounds == [("a", "b")] * 3
    assert len(saves) == 3


def test_a_benchmark_may_have_a_number_of_rounds_of_its_own(world: World) -> None:
    session, engine = world.open({"a": world.fake(), "b": world.fake()})
    planner = FixedRounds(session, 3, {"b": 1})

    assert planner.numbers() == {1, 3}
    assert planner.ahead("ab", 1) == {"a": 2, "b": 1}
    measure(world, session, planner, 100)

    assert engine.rounds == [("a", "b"), ("a",), ("a",)]


def test_time_left_is_that_of_the_rounds_to_come(world: World) -> None:
    session, _ = world.open({"a": world.fake(cost_s=2.0), "b": world.fake(cost_s=3.0)})
    measure(world, session, FixedRounds(session, 3), 100)
    assert left_s(world) == [None, 10.0, 5.0], "at first, nothing is known"
    assert {one.what() for one in world.progress.started} == {
        f"measuring 2, round {number} of 3" for number in (1, 2, 3)
    }


def test_time_left_counts_what_a_round_takes_besides_its_benchmarks(world: World) -> None:
    session, _ = world.open({"a": world.fake(cost_s=2.0)})

    def save() -> None:
        world.clock.now_s += 3.0

    RoundLoop(
        session,
        FixedRounds(session, 4),
        budget_s=100,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=save,
    ).measure()
    # The first round also starts everything, so only the later ones tell.
    assert left_s(world) == [None, 6.0, 10.0, 5.0]


def test_time_left_is_no_longer_than_the_budget(world: World) -> None:
    session, _ = world.open({"a": world.fake(cost_s=2.0)})
    measure(world, session, FixedRounds(session, 100), 7)
    assert left_s(world) == [None, 5.0, 3.0]


def test_what_the_budget_left_out_is_named_though_the_rest_went_on(world: World) -> None:
    session, engine = world.open({"quick": world.fake(cost_s=1.0), "slow": world.fake(cost_s=5.0)})
    still_open, _ = measure(world, session, FixedRounds(session, 4), 10)
    assert engine.rounds == [("quick", "slow"), ("quick",), ("quick",), ("quick",)]
    assert still_open == ("slow",)


def test_no_round_begins_after_the_budget(world: World) -> None:
    session, engine = world.open({"a": world.fake(cost_s=4.0)})
    still_open, _ = measure(world, session, FixedRounds(session, 10), 4.5)
    assert len(engine.rounds) == 1
    assert still_open == ("a",)


def test_the_budget_bounds_what_is_measured_and_nothing_later(world: World) -> None:
    session, _ = world.open({"a": world.fake(cost_s=4.0)})
    session.budget = Budget(world.clock)
    limits = []

    def save() -> None:
        limits.append(session.budget.limit(100))

    RoundLoop(
        session,
        FixedRounds(session, 2),
        budget_s=20,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=save,
        spent_s=3,
    ).measure()
    assert limits == [(20 - 3 - 4 + 10, 20), (20 - 3 - 8 + 10, 20)]
    assert session.budget.limit(100) == (100, None), "observing has a limit of its own"


def test_a_benchmark_that_fails_is_not_measured_again(world: World) -> None:
    session, engine = world.open({"good": world.fake(), "bad": world.fake(fails_in=1)})
    measure(world, session, FixedRounds(session, 4), 100)
    assert engine.rounds == [("bad", "good"), ("bad", "good"), ("good",), ("good",)]


def test_the_loop_ends_when_everything_failed(world: World) -> None:
    session, engine = world.open({"bad": world.fake(fails_in=0)})
    still_open, saves = measure(world, session, FixedRounds(session, 4), 100)
    assert engine.rounds == [("bad",)]
    assert (still_open, len(saves)) == ((), 1)


def test_what_one_side_alone_has_takes_one_round(world: World) -> None:
    session, engine = world.open({"new": world.fake(base_s=None)})
    measure(world, session, screening(session, list, frozenset({"new"})), 100)
    assert engine.rounds == [("new",)]
    assert [one.what() for one in world.progress.started] == ["looking at 1"]


def test_time_left_follows_what_each_benchmark_needs(world: World) -> None:
    session, _ = world.open({"a": world.fake(), "b": world.fake(cost_s=2.0)})
    needs = [
        [Need("a", RowStage.SCREEN, 0.1, 16 - done), Need("b", RowStage.SCREEN, 0.1, 6 - done)]
        for done in range(1, 5)
    ]
    needs += [[Need("a", RowStage.CONFIRM, 0.1, 12), Need("b", RowStage.SETTLE, 0.1, 1)]]
    needs += [[Need("a", RowStage.CONFIRM, 0.1, 2)], [Need("a", RowStage.DONE, 0.1, 0)]]
    measure(world, session, screening(session, lambda: needs.pop(0)), 100)
    assert left_s(world) == [None, 25.0, 22.0, 19.0, 16.0, 14.0, 2.0]


def test_after_the_screen_only_what_is_open_is_measured(world: World) -> None:
    session, engine = world.open({name: world.fake() for name in "abc"})
    answers = [
        *[[]] * 4,
        [
            Need("a", RowStage.CONFIRM, 0.1),
            Need("b", RowStage.SETTLE, 0.2),
            Need("c", RowStage.DONE, 0.0),
        ],
        [
            Need("a", RowStage.CONFIRM, 0.1),
            Need("b", RowStage.DONE, 0.0),
            Need("c", RowStage.DONE, 0.0),
        ],
        [
            Need("a", RowStage.DONE, 0.1),
            Need("b", RowStage.DONE, 0.0),
            Need("c", RowStage.DONE, 0.0),
        ],
    ]
    still_open, _ = measure(world, session, screening(session, lambda: answers.pop(0)), 100)
    assert engine.rounds == [("a", "b", "c")] * 5 + [("a", "b"), ("a",)]
    assert still_open == ()
    told = world.progress
    assert [one.what() for one in told.started] == [
        *["looking at all 3"] * 5,
        "making sure of 1, narrowing down 1",
        "making sure of 1",
    ]
    assert [one.decided for one in told.started] == [0] * 5 + [1, 2]


def test_where_all_is_to_be_decided_rows_are_looked_at_ever_more_rarely(world: World) -> None:
    session, engine = world.open({"a": world.fake()})
    looked: list[int] = []

    def judge() -> Sequence[Need]:
        looked.append(len(engine.rounds))
        return [Need("a", RowStage.SETTLE if len(engine.rounds) < 240 else RowStage.DONE, 0.1, 9)]

    planner = ScreenAndConfirm(session, replace(WAVES, until_decided=True), judge, frozenset())
    still_open, _ = measure(world, session, planner, math.inf)
    assert looked == [*range(1, 31), 60, 120, 240]
    assert still_open == ()
    assert left_s(world)[100] == 20.0, "until the next look"


def test_suspects_come_first_when_the_budget_is_short(world: World) -> None:
    session, engine = world.open({name: world.fake(cost_s=1.0) for name in "ab"})
    needs = [Need("a", RowStage.SETTLE, 9.0), Need("b", RowStage.CONFIRM, 0.1)]
    still_open, _ = measure(world, session, screening(session, lambda: needs), 13.5)
    assert engine.rounds[5:] == [("a", "b"), ("b",)]
    assert set(still_open) == {"a", "b"}


def test_a_benchmark_of_one_arm_is_measured_once(world: World) -> None:
    session, engine = world.open({"both": world.fake(), "new": world.fake(base_s=None)})
    planner = screening(session, list, once=frozenset({"new"}))
    measure(world, session, planner, 100)
    assert engine.rounds == [("both", "new")] + [("both",)] * 4


def test_needs_of_what_has_failed_are_not_pursued(world: World) -> None:
    session, engine = world.open({"a": world.fake(), "bad": world.fake(fails_in=5)})
    needs = [Need("bad", RowStage.CONFIRM, 0.1)]
    measure(world, session, screening(session, lambda: needs), 100)
    assert engine.rounds[5:] == [("bad",)]


def test_the_first_round_leaves_out_what_could_not_get_enough_rounds(world: World) -> None:
    session, engine = world.open({name: world.fake(cost_s=2.0) for name in "abcdefgh"})
    planner = screening(session, lambda: [Need(id_, RowStage.SETTLE, 1.0) for id_ in session.ids])
    began_s = world.clock()
    measure(world, session, planner, 40)
    # Three take 2 s in each of 6 rounds; a slowdown of one of four shows after 6 rounds, too.
    (first, *later) = engine.rounds
    assert len(session.left_out) == 5
    assert {one.decided for one in world.progress.started} == {0}
    assert [len(ids) for ids in later] == [3, 3, 3, 3, 3, 2]
    assert sorted({*later[0], *session.left_out}) == list("abcdefgh")
    assert world.clock() - began_s <= 40
    assert len(first) == 8, "the engine was asked for all of them"
    for arm in session.arms:
        noted = {one.id: one.notes for one in session.results()[arm]}
        assert {noted[id_] for id_ in session.left_out} == {
            ("time: the budget has no time for it",)
        }
        assert {noted[id_] for id_ in later[0]} == {()}


def test_a_later_round_ends_with_the_budget(world: World) -> None:
    costs_s = [1.0, 1.0]
    session, engine = world.open({name: world.fake(cost_s=1.0) for name in "ab"})
    planner = FixedRounds(session, 4)

    def slow(_: str) -> None:
        world.clock.now_s += costs_s[0] if len(engine.rounds) < 3 else 100.0

    world.progress.measured = slow  # type: ignore[method-assign, assignment]
    measure(world, session, planner, 14)
    launches = {one.id: len(one.series[0].launches) for one in session.results()[session.arms[0]]}
    assert sorted(launches.values()) == [2, 3], "the third round ends after its first benchmark"


def test_one_benchmark_is_measured_however_short_the_budget_is(world: World) -> None:
    session, engine = world.open({name: world.fake(cost_s=2.0) for name in "abc"})
    still_open, _ = measure(world, session, FixedRounds(session, 4), 0.001)
    assert len(engine.rounds) == 1
    assert len(session.left_out) == 2
    assert sorted({*still_open, *session.left_out}) == ["a", "b", "c"]


@pytest.mark.parametrize("until_decided", [False, True])
@pytest.mark.parametrize("full_rounds", [0, 1, 5, 6, 31, 60, 61, 200])
def test_a_planner_that_goes_on_looks_when_it_would_have_looked(
    world: World, full_rounds: int, *, until_decided: bool
) -> None:
    waves = replace(WAVES, max_rounds=1000, until_decided=until_decided)
    session, _ = world.open({"a": world.fake()})
    looks: list[int] = []
    rounds = 0

    def judge() -> list[Need]:
        if rounds >= WAVES.screen_rounds:  # before that, it is only for the display
            looks.append(rounds)
        return []

    whole = ScreenAndConfirm(session, waves, judge, frozenset())
    for rounds in range(300):
        whole.plan(rounds, math.inf)
    expected, looks = looks, []

    def judge_after(earlier: int) -> list[Need]:
        looks.append(earlier)
        return []

    rest = ScreenAndConfirm(session, waves, judge, frozenset())
    rest.go_on(full_rounds, judge_after)
    for rounds in range(full_rounds, 300):
        rest.plan(rounds, math.inf)
    last_before = [look for look in expected if look < full_rounds][-1:]
    assert looks == last_before + [look for look in expected if look >= full_rounds]
