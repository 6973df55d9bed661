"""Rounds of a session whose engine can be divided; see test_session.py for the others."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    Division,
    MetricSamples,
    Observation,
    Task,
    ignore,
)
from benchgate.model.run import CANARY_ID, Metric, Tier
from benchgate.session.session import Session

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

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
                    measured = MetricSamples(Metric("time", "s"), 1, value, np.empty(0))
                    yield Observation(arm, id_, order, (measured,))

            return Task((id_,), run, lambda: None)

        return [of(id_) for id_ in ids]

    def close(self) -> None:
        pass


def make(engine: Divisible, lanes: int = 2, told: Callable[[str], None] = ignore) -> Session:
    cpus = [None] * lanes
    session = Session([engine], list(ArmName), 7, lambda: 0.0, lane_cpus=cpus, tell=told)
    session.discover()
    return session


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
    monkeypatch.setattr("benchgate.session.session.free_memory_bytes", lambda: 10 * 2**30)
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
