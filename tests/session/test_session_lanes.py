"""Rounds of a session whose engine can be divided; see test_session.py for the others."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.world import BOTH, FakeEngine

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import Division, Task, ignore
from benchgate.measure.contract.found import Definition, Discovery
from benchgate.measure.contract.observation import Observation
from benchgate.measure.trees.checkouts import two_arms
from benchgate.model.metrics import Metric
from benchgate.model.run import CANARY_ID, Series, Tier
from benchgate.session.conditions import Conditions
from benchgate.session.recorder import UNTRIED, BaseTrial, Lesson
from benchgate.session.rounds import FixedRounds, RoundLoop
from benchgate.session.session import Session

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.world import World

    from benchgate.git.repository import Git
    from benchgate.measure.trees.ground import Ground
    from benchgate.session.outlook import BudgetForecast

IDS = ("a", "b", "c", "d")


@dataclass
class Divisible:
    """Measures each benchmark in a task of its own; `ratios` are those of head and base."""

    ids: Sequence[str] = IDS
    ratios: dict[str, list[float]] = field(default_factory=dict)
    peak_bytes: int = 0
    act: Callable[[str, int], None] = lambda _id, _round: None
    asked: list[tuple[list[str], float]] = field(default_factory=list)
    drawn: list[float] = field(default_factory=list)

    def discover(self) -> Discovery:
        found = tuple(Definition(id_, "hash", Tier.LOCKSTEP) for id_ in self.ids)
        return Discovery(dict.fromkeys(ArmName, found))

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        for task in self.tasks(ids, rng, round_index, Division()):
            yield from task.run(None, starting)

    def tasks(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        division: Division,
    ) -> Sequence[Task]:
        self.asked.append((list(ids), division.share_s))
        self.drawn.append(rng.random())

        def of(id_: str) -> Task:
            def run(_cpu: int | None, starting: Callable[[str], None]) -> Iterator[Observation]:
                starting(id_)
                self.act(id_, round_index)
                ratio = self.ratios.get(id_, [1.0] * 99)[round_index]
                for order, arm in enumerate(ArmName):
                    value = np.array([ratio if arm is ArmName.HEAD else 1.0])
                    measured = Series.of_launch(Metric("time", "s"), value, np.empty(0))
                    yield Observation(arm, id_, order, (measured,))

            return Task((id_,), run, lambda: None)

        return [of(id_) for id_ in ids]

    def close(self) -> None:
        pass


class OwnTimes(threading.local):
    """A clock that stands still, except for the thread that spends time."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def make(
    engine: Divisible,
    lanes: int = 2,
    told: Callable[[str], None] = ignore,
    *,
    tried: BaseTrial = UNTRIED,
    ground: Ground | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> Session:
    session = Session(
        [engine],
        list(ArmName),
        7,
        clock,
        Conditions(tried=tried, ground=ground, lane_cpus=[None] * lanes, tell=told),
    )
    session.discover()
    return session


def trial(
    ran: Sequence[str] = IDS, written: tuple[str, ...] = (), pair_bytes: int = 0
) -> BaseTrial:
    return BaseTrial({}, lesson=Lesson(frozenset(ran), written, pair_bytes))


def round_of(session: Session) -> dict[str, bool]:
    """Which benchmarks were measured in a lane in the first round."""
    return {id_: lanes_of(session, id_)[0] is not None for id_ in IDS}


def measure(session: Session, rounds: int) -> None:
    for index in range(rounds):
        session.measure_round(index, session.ids, lambda _: None)


def lanes_of(session: Session, id_: str) -> list[int | None]:
    (result,) = (one for one in session.results()[ArmName.HEAD] if one.id == id_)
    return [launch.lane for launch in result.series[0].launches]


def test_the_first_round_is_measured_one_by_one_and_the_others_side_by_side() -> None:
    together = threading.Barrier(2, timeout=30)

    def meet(_id: str, round_index: int) -> None:
        if round_index:
            together.wait()

    session = make(Divisible(act=meet))
    measure(session, 3)
    for id_ in IDS:
        assert [lane is None for lane in lanes_of(session, id_)] == [True, False, False]
    assert {lane for id_ in IDS for lane in lanes_of(session, id_)} == {None, 0, 1}


def test_what_was_tried_on_the_base_shares_the_first_round() -> None:
    together = threading.Barrier(2, timeout=30)

    def meet(_id: str, _round: int) -> None:
        together.wait()

    engine = Divisible(act=meet)
    session = make(engine, tried=trial())
    measure(session, 2)
    assert round_of(session) == dict.fromkeys(IDS, True)
    assert [share for ids, share in engine.asked if ids] == [2.0, 0.0], "two of four in each lane"


def test_what_was_not_tried_is_alone_in_the_first_round() -> None:
    seen: list[int] = []

    def act(id_: str, round_index: int) -> None:
        if id_ in "cd" and not round_index:
            seen.append(sum(one.name.startswith("lane") for one in threading.enumerate()))

    session = make(Divisible(act=act), tried=trial("ab"))
    measure(session, 2)
    assert round_of(session) == {"a": True, "b": True, "c": False, "d": False}
    assert seen == [0, 0]
    assert all(lanes_of(session, id_)[1] is not None for id_ in IDS)


def test_what_cannot_be_divided_has_no_part_in_the_division(world: World) -> None:
    whole = FakeEngine({str(i): world.fake() for i in range(50)}, BOTH, world.clock)
    engine = Divisible()
    session = Session(
        [whole, engine],
        BOTH,
        7,
        lambda: 0.0,
        Conditions(tried=trial([*IDS, *whole.fakes]), lane_cpus=[None] * 2),
    )
    session.discover()
    measure(session, 1)
    assert engine.asked[0][1] == 2.0


@pytest.mark.parametrize(
    ("tried", "said"),
    [
        (trial(written=("a.db",)), "one of them writes into its tree (a.db)"),
        (trial(pair_bytes=6 * 2**30), "measuring 1 at a time"),
    ],
)
def test_what_the_trial_taught_leaves_one_lane(
    monkeypatch: pytest.MonkeyPatch, tried: BaseTrial, said: str
) -> None:
    monkeypatch.setattr("benchgate.session.shares.free_memory_bytes", lambda: 10 * 2**30)
    told: list[str] = []
    engine = Divisible()
    session = make(engine, told=told.append, tried=tried)
    measure(session, 2)
    assert lanes_of(session, "a") == [None, None]
    assert [set(ids) for ids, _ in engine.asked] == [set(IDS)] * 2, "nothing is divided"
    assert len(told) == 1
    assert said in told[0]


def test_the_first_round_has_as_many_lanes_as_the_memory_of_the_trial_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchgate.session.shares.free_memory_bytes", lambda: 10 * 2**30)
    engine = Divisible()
    session = make(engine, lanes=4, tried=trial(pair_bytes=2 * 2**30))
    measure(session, 1)
    assert session.lanes == 2
    assert engine.asked[0][1] == 2.0


def test_one_lane_is_as_without_a_trial() -> None:
    engines = [Divisible(), Divisible()]
    for engine, tried in zip(engines, (UNTRIED, trial("ab")), strict=True):
        measure(make(engine, lanes=1, tried=tried), 2)
    assert engines[0].asked == engines[1].asked
    assert engines[0].drawn == engines[1].drawn


def test_a_session_that_goes_on_shares_its_first_round_too() -> None:
    earlier = make(Divisible(), tried=trial())
    measure(earlier, 1)
    session = make(Divisible(), tried=trial())
    session.restore(earlier.results(), 1)
    assert session.shared == set(IDS)
    for index in (1, 2):
        session.measure_round(index, session.ids, lambda _: None)
    assert None not in lanes_of(session, "a")


def test_a_head_that_writes_ends_sharing_after_the_first_round(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str]
) -> None:
    base = commit(repo, {"code.py": ""})
    told: list[str] = []
    clock = OwnTimes()
    with two_arms(repo, base) as trees:
        trees.ground.settle()

        def act(id_: str, _round: int) -> None:
            clock.now_s += 3.0
            if id_ == "a":
                (trees.arms[ArmName.HEAD].root / "a.db").write_bytes(b"x")

        engine = Divisible(act=act)
        session = make(engine, told=told.append, tried=trial(), ground=trees.ground, clock=clock)
        measure(session, 1)
        assert session.costs_s == dict.fromkeys(IDS, 3.0), "as long as in the rounds that follow"
        session.measure_round(1, session.ids, lambda _: None)
    assert [lane is None for lane in lanes_of(session, "b")] == [False, True]
    assert len(told) == 1
    assert "(a.db)" in told[0]


def test_a_first_round_in_lanes_foresees_what_later_ones_take(world: World) -> None:
    clock = OwnTimes()
    forecasts: list[BudgetForecast] = []

    def act(id_: str, _round: int) -> None:
        clock.now_s += 8.0 if id_ == "a" else 4.0

    session = make(Divisible(act=act), tried=trial("abc"), clock=clock)
    RoundLoop(
        session,
        FixedRounds(session, 2),
        budget_s=100.0,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=lambda: None,
        foresee=forecasts.append,
    ).measure()
    (forecast,) = forecasts
    assert (forecast.round_s, forecast.slowest_s) == (8 / 2 + 4 / 2 + 4 / 2 + 4, 8.0)
    ends_s = world.progress.started[1].ends_s
    assert ends_s is not None
    assert ends_s - world.clock() == (8.0 + 4.0 + 4.0 + 4.0) / 2, "everything shares the next one"


def test_the_first_round_in_lanes_leaves_out_what_has_no_time() -> None:
    answers = iter([False, False, True])
    session = make(Divisible(), tried=trial())
    session.measure_round(0, session.ids, lambda _: None, is_over=lambda: next(answers))
    assert len(session.left_out) in {2, 3}, "what another lane measures then may not count"
    assert {*session.ids, *session.left_out} == set(IDS)
    session.measure_round(1, session.ids, lambda _: None)
    assert all(lanes_of(session, id_)[-1] is not None for id_ in session.ids)


def test_what_is_drawn_depends_on_the_seed_and_the_round_only() -> None:
    engines = [Divisible() for _ in range(3)]
    for engine, lanes in zip(engines, (1, 2, 4), strict=True):
        measure(make(engine, lanes), 3)
    assert engines[0].drawn == engines[1].drawn == engines[2].drawn
    assert len({tuple(map(tuple, (ids for ids, _ in engine.asked))) for engine in engines}) == 1


def test_one_lane_is_as_before() -> None:
    engine = Divisible()
    session = make(engine, lanes=1)
    measure(session, 2)
    assert {share_s for _, share_s in engine.asked} == {math.inf}
    assert lanes_of(session, "a") == [None, None]


def test_too_much_memory_leaves_one_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchgate.session.shares.free_memory_bytes", lambda: 10 * 2**30)
    told: list[str] = []
    session = make(Divisible(peak_bytes=6 * 2**30), told=told.append)
    measure(session, 2)
    assert lanes_of(session, "a") == [None, None]
    assert len(told) == 1
    assert "6.000 GiB" in told[0]


def test_what_varies_clearly_more_is_measured_alone_from_then_on() -> None:
    calm = [1.0, 1.001, 0.999, 1.001, 0.999, 1.001, 0.999, 1.001]
    wild = [1.0, 1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1.1]
    session = make(Divisible(ratios={**dict.fromkeys("abc", calm), "d": wild}))
    measure(session, 8)
    assert [lane is None for lane in lanes_of(session, "d")] == [True, *[False] * 5, *[True] * 2]
    assert [lane is None for lane in lanes_of(session, "a")] == [True, *[False] * 7]


def test_the_canary_is_measured_last_in_the_first_round() -> None:
    engine = Divisible(ids=(*IDS, CANARY_ID))
    session = make(engine)
    measure(session, 2)
    assert [set(ids) for ids, _ in engine.asked] == [set(IDS), {CANARY_ID}, {*IDS, CANARY_ID}]


def test_the_canary_shares_no_first_round() -> None:
    engine = Divisible(ids=(*IDS, CANARY_ID))
    session = make(engine, tried=trial((*IDS,)))
    measure(session, 1)
    assert [set(ids) for ids, _ in engine.asked] == [set(IDS), {CANARY_ID}]
    assert lanes_of(session, CANARY_ID) == [None]


def test_an_interruption_ends_all_lanes() -> None:
    released = threading.Event()
    halted: list[str] = []

    class Waiting(Divisible):
        def tasks(self, *args: Any) -> Sequence[Task]:  # noqa: ANN401 - those of Divisible
            def halt() -> None:
                halted.append("halt")
                released.set()

            return [Task(t.ids, t.run, halt) for t in super().tasks(*args)]

    def act(_id: str, round_index: int) -> None:
        if round_index:
            released.wait(30)

    session = make(Waiting(act=act))
    measure(session, 1)

    def interrupt(_id: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.measure_round(1, session.ids, lambda _: None, starting=interrupt)
    assert halted
    assert [thread for thread in threading.enumerate() if thread.name.startswith("lane")] == []
