from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import ignore
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.model.metrics import Metric
from benchgate.model.run import CANARY_ID, Series, Status, Tier
from benchgate.session.session import Session
from benchgate.stats.timer import Timer

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

BASE, HEAD = ArmName.BASE, ArmName.HEAD


@dataclass
class FakeClock:
    """Seconds that pass only when told."""

    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class FakeEngine:
    """Has benchmarks by id and by what a launch of each costs; `failing` ones fail."""

    clock: FakeClock
    costs_s: dict[str, float]
    failing: frozenset[str] = frozenset()
    once_s: float = 0.0
    suite: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    timer: Timer | None = None
    failures: tuple[DiscoveryFailure, ...] = ()
    asked: list[list[str]] = field(default_factory=list)
    drawn: list[float] = field(default_factory=list)
    is_closed: bool = False

    def discover(self) -> Discovery:
        found = tuple(
            Definition(id_, "hash", Tier.LOCKSTEP, suite=self.suite) for id_ in self.costs_s
        )
        toolchains = dict.fromkeys(ArmName, self.versions)
        timers = dict.fromkeys(ArmName, self.timer) if self.timer else {}
        return Discovery(dict.fromkeys(ArmName, found), self.failures, toolchains, timers)

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        self.asked.append(list(ids))
        self.drawn.append(rng.random())
        for id_ in ids:
            starting(id_)
            once_s = 0.0 if round_index else self.once_s
            self.clock.now_s += self.costs_s[id_] + once_s
            if id_ in self.failing:
                yield Observation(HEAD, id_, 0, error="it failed")
                continue
            for order, arm in enumerate(ArmName):
                value = np.array([float(round_index)])
                measured = Series.of_launch(Metric("time", "s"), value, np.empty(0))
                yield Observation(arm, id_, order, (measured,), once_s=once_s)

    def close(self) -> None:
        self.is_closed = True


def make_session(*engines: FakeEngine, clock: FakeClock, seed: int = 7) -> Session:
    session = Session(engines, list(ArmName), seed, clock)
    session.discover()
    return session


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_each_engine_measures_its_own(clock: FakeClock) -> None:
    first, second = FakeEngine(clock, {"a": 1, "b": 2}), FakeEngine(clock, {"c": 4})
    session = make_session(first, second, clock=clock)
    assert session.ids == ("a", "b", "c")
    told: list[str] = []
    session.measure_round(0, session.ids, told.append)
    session.measure_round(1, ["c", "a"], told.append)
    assert Counter(told) == {"a": 2, "b": 1, "c": 2}
    assert [sorted(ids) for ids in first.asked] == [["a", "b"], ["a"]]
    assert second.asked == [["c"], ["c"]]
    for arm in ArmName:
        rounds = {b.id: [x.round for x in b.series[0].launches] for b in session.results()[arm]}
        assert rounds == {"a": [0, 1], "b": [0], "c": [0, 1]}


def test_what_a_launch_costs_is_taken_from_the_clock(clock: FakeClock) -> None:
    engine = FakeEngine(clock, {"a": 1.5, "b": 20.0, "c": 0.25})
    session = make_session(engine, clock=clock)
    session.measure_round(0, session.ids, lambda _: None)
    assert session.costs_s == {"a": 1.5, "b": 20.0, "c": 0.25}


def test_a_suite_costs_its_run_whichever_of_its_benchmarks_come_first(clock: FakeClock) -> None:
    engine = FakeEngine(clock, dict.fromkeys("abc", 0.0), once_s=1.0, suite="x")
    alone = FakeEngine(clock, {"d": 2.0})
    session = make_session(engine, alone, clock=clock)

    def started(id_: str) -> None:
        if id_ in "abc" and session.costs_s.keys() <= {"d"}:
            clock.now_s += 6.0  # the first of them waits for the whole suite

    session.measure_round(0, session.ids, lambda _: None, starting=started)

    assert session.costs_s == {"suite 0: x": 6.0, "d": 2.0}
    assert {one.round_s for one in session.results()[HEAD]} == {2.0}


def test_the_order_follows_from_the_seed_and_the_round(clock: FakeClock) -> None:
    ids = {f"b{n}": 0.0 for n in range(8)}

    def asked(seed: int, rounds: Sequence[int]) -> list[tuple[list[str], float]]:
        engine = FakeEngine(clock, ids)
        session = make_session(engine, clock=clock, seed=seed)
        for index in rounds:
            session.measure_round(index, list(ids), lambda _: None)
        return list(zip(engine.asked, engine.drawn, strict=True))

    first, second, third = asked(1, [0, 1, 2])
    assert sorted(first[0]) == sorted(ids)
    assert len({tuple(order) for order, _ in (first, second, third)}) == 3
    # A round does not depend on those before it.
    assert asked(1, [2]) == [third]
    assert asked(2, [0]) != [first]


def test_the_canary_is_measured_where_it_is_wanted_and_is_nobodys_benchmark(
    clock: FakeClock,
) -> None:
    theirs, ours = Timer(40.0, 1.0, 1000), Timer(30.0, 1.0, 1000)
    users = FakeEngine(clock, {"a": 1, "b": 1}, versions={"python": "3.9"}, timer=theirs)
    canary = FakeEngine(clock, {CANARY_ID: 0.5}, versions={"python": "3.0"}, timer=ours)
    session = make_session(users, canary, clock=clock)
    assert session.ids == ("a", "b")
    told: list[str] = []
    for index in range(3):
        session.measure_round(index, ["a"], told.append)
    session.measure_round(3, ["a"], told.append, canary=False)
    assert told == ["a"] * 4
    assert canary.asked == [[CANARY_ID], [CANARY_ID], [CANARY_ID]]
    assert session.toolchains == {arm: {"python": "3.9"} for arm in ArmName}
    assert session.timers == dict.fromkeys(ArmName, theirs)
    assert CANARY_ID in {b.id for b in session.results()[BASE]}


def test_a_failed_benchmark_is_not_asked_for_again(clock: FakeClock) -> None:
    engine = FakeEngine(clock, {"a": 1, "bad": 1}, failing=frozenset({"bad"}))
    session = make_session(engine, clock=clock)
    told: list[str] = []
    session.measure_round(0, session.ids, told.append)
    assert sorted(told) == ["a", "bad"]
    assert session.ids == ("a",)
    results = {b.id: b for b in session.results()[HEAD]}
    assert (results["bad"].status, results["bad"].error) == (Status.FAILED, "it failed")
    assert results["a"].status is Status.OK


def test_what_is_left_out_is_not_in_the_results(clock: FakeClock) -> None:
    session = make_session(FakeEngine(clock, {"a": 1, "b": 1, "c": 1}), clock=clock)
    session.leave_out(["a"])
    session.leave_out(["c"])
    assert session.ids == ("b",)
    assert [b.id for b in session.results()[HEAD]] == ["b"]


def test_two_kinds_of_one_id_are_refused(clock: FakeClock) -> None:
    engines = FakeEngine(clock, {"a": 1, "b": 1}), FakeEngine(clock, {"b": 1})
    with pytest.raises(UsageError, match="two benchmarks have the id b"):
        make_session(*engines, clock=clock)


def test_what_could_not_be_read_is_among_the_results(clock: FakeClock) -> None:
    failure = DiscoveryFailure(HEAD, "bad", "SyntaxError")
    session = make_session(FakeEngine(clock, {"a": 1}, failures=(failure,)), clock=clock)
    assert session.ids == ("a",)
    assert [b.id for b in session.results()[HEAD]] == ["a", "bad"]
    assert [b.id for b in session.results()[BASE]] == ["a"]


def test_an_interrupted_round_keeps_what_was_measured(clock: FakeClock) -> None:
    session = make_session(FakeEngine(clock, {"a": 1, "b": 1, "c": 1}), clock=clock)
    told: list[str] = []

    def interrupt(id_: str) -> None:
        told.append(id_)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.measure_round(0, session.ids, interrupt)
    measured = [b.id for b in session.results()[BASE] if b.series]
    assert sorted(measured) == sorted(told)


def test_closes_every_engine(clock: FakeClock) -> None:
    engines = FakeEngine(clock, {"a": 1}), FakeEngine(clock, {"b": 1})
    make_session(*engines, clock=clock).close()
    assert all(engine.is_closed for engine in engines)


def test_what_only_the_first_round_needs_is_no_part_of_what_a_round_costs(clock: FakeClock) -> None:
    engine = FakeEngine(clock, {"a": 1.5, "b": 20.0}, once_s=60.0)
    session = make_session(engine, clock=clock)
    for index in range(2):
        session.measure_round(index, session.ids, lambda _: None)
        assert session.costs_s == {"a": 1.5, "b": 20.0}
        for arm in ArmName:
            found = {one.id: one.round_s for one in session.results()[arm]}
            assert found == {"a": 1.5, "b": 20.0}
