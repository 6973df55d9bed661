"""Rounds of a session in which an engine counts in launches of their own."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.world import FakeEngine

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import ignore
from benchgate.measure.contract.observation import Observation
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, VALGRIND
from benchgate.model.run import LEAST_COUNTED_ROUNDS, Series
from benchgate.session.rounds import FixedRounds, RoundLoop
from benchgate.session.session import Session

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from tests.world import World

BOTH = tuple(ArmName)


@dataclass
class CountingFake(FakeEngine):
    """Counts fakes, too; what takes no time cannot be counted."""

    counting_s: dict[str, float] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)
    counted: Counter[str] = field(default_factory=Counter)
    events: list[tuple[str, str]] = field(default_factory=list)

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        for one in super().measure_round(ids, rng, round_index, starting):
            self.events.append(("timed", one.benchmark))
            yield one
            if one.error is None:
                value = np.array([self.cpu_s.get(one.benchmark, 0.0)])
                cpu_time = Series.of_launch(CPU_TIME, value, np.empty(0))
                yield Observation(one.arm, one.benchmark, 0, (cpu_time,))

    def due_for_counting(self, ids: Iterable[str]) -> list[str]:
        return [
            id_
            for id_ in ids
            if id_ in self.counting_s and (self.counting_s[id_] or not self.counted[id_])
        ]

    def count_round(
        self,
        ids: Sequence[str],
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Generator[Sequence[Observation]]:
        for id_ in ids:
            starting(id_)
            self.events.append(("counted", id_))
            self.clock.now_s += self.counting_s[id_]
            self.counted[id_] += 1
            if not self.counting_s[id_]:
                yield [Observation(arm, id_, 0, notes=("instructions: no",)) for arm in BOTH]
                continue
            value = np.array([100.0 + round_index])
            count = Series.of_launch(INSTRUCTIONS, value, np.empty(0), counter=VALGRIND)
            yield [Observation(arm, id_, 0, (count,)) for arm in BOTH]


@dataclass
class Opened:
    session: Session
    engine: CountingFake
    world: World

    def measure(self, rounds: int, budget_s: float = math.inf) -> None:
        RoundLoop(
            self.session,
            FixedRounds(self.session, rounds),
            budget_s=budget_s,
            clock=self.world.clock,
            phases=self.world.phases,
            progress=self.world.progress,
            save=lambda: None,
        ).measure()

    def counts(self, id_: str) -> list[float]:
        (found,) = (one for one in self.session.results()[ArmName.HEAD] if one.id == id_)
        series = [one for one in found.series if one.metric == INSTRUCTIONS]
        assert all(one.counter == VALGRIND for one in series)
        return [float(launch.samples[0]) for one in series for launch in one.launches]

    def notes(self, id_: str) -> tuple[str, ...]:
        (found,) = (one for one in self.session.results()[ArmName.HEAD] if one.id == id_)
        return found.notes


@pytest.fixture
def opened(world: World) -> Callable[..., Opened]:
    def open_(
        counting_s: dict[str, float], *, fails_in: int | None = None, **cpu_s: float
    ) -> Opened:
        fakes = {id_: world.fake(fails_in=fails_in if id_ == "bad" else None) for id_ in counting_s}
        engine = CountingFake(fakes, BOTH, world.clock, counting_s=counting_s, cpu_s=cpu_s)
        session = Session([engine], BOTH, 7, world.clock)
        session.discover()
        return Opened(session, engine, world)

    return open_


def test_the_first_rounds_count_and_the_others_do_not(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 2.0, "b": 3.0})
    one.measure(LEAST_COUNTED_ROUNDS + 2)
    assert one.counts("a") == [100, 101, 102, 103, 104]
    assert one.session.counting.total_s == 5.0 * LEAST_COUNTED_ROUNDS


def test_counting_is_after_timing_and_in_no_cost(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 20.0, "b": 30.0})
    one.session.measure_round(0, ["a", "b"], ignore)
    assert [what for what, _ in one.engine.events] == ["timed"] * 4 + ["counted"] * 2
    assert one.session.costs_s == {"a": 1.0, "b": 1.0}


def test_what_failed_is_not_counted(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 2.0, "bad": 2.0}, fails_in=1)
    one.measure(3)
    assert one.engine.counted == {"a": 3, "bad": 1}


def test_without_a_count_the_numbers_stay_with_a_note(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 0.0})
    one.measure(3)
    assert one.counts("a") == []
    assert one.notes("a") == ("instructions: no",)
    assert one.session.ids == ("a",)


def test_what_the_budget_has_no_time_for_is_counted_once(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 2.0, "slow": 9.0})
    one.measure(LEAST_COUNTED_ROUNDS, budget_s=100.0)
    assert one.engine.counted == {"a": 5, "slow": 1}
    assert one.notes("a") == ()
    assert one.notes("slow") == (
        (
            "instructions: counting it takes 9.0 s in a round: counting everything would take "
            "more than half of the budget of 1 min 40 s"
        ),
    )


def test_the_first_round_stops_counting_before_it_takes_everything(
    opened: Callable[..., Opened],
) -> None:
    one = opened(dict.fromkeys("abcdef", 30.0))
    one.measure(2, budget_s=100.0)
    assert sum(one.engine.counted.values()) == 1
    assert sum("counting everything would take" in one.notes(id_)[0] for id_ in "abcdef") == 6


def test_what_is_too_slow_for_valgrind_is_not_tried(opened: Callable[..., Opened]) -> None:
    one = opened({"a": 1.0, "b": 1.0}, b=2.0)
    one.measure(1)
    assert one.engine.counted == {"a": 1}
    assert one.notes("b") == (
        "instructions: 2.0 s of CPU time would take more than 30 s under valgrind",
    )


def test_the_time_of_counting_is_kept_free(opened: Callable[..., Opened]) -> None:
    """Of 30 s, a round takes 1 s and counting 3 s in each of five: no round begins too late."""
    one = opened({"a": 3.0})
    one.measure(99, budget_s=30.0)
    assert len(one.engine.rounds) == 15
    assert one.world.clock.now_s == 130.0


def test_counting_goes_on_where_an_earlier_session_ended(opened: Callable[..., Opened]) -> None:
    earlier = opened({"a": 5.0})
    earlier.measure(2)
    one = opened({"a": 5.0})
    one.session.restore(earlier.session.results(), 2)
    one.measure(LEAST_COUNTED_ROUNDS + 2)
    assert one.engine.counted["a"] == LEAST_COUNTED_ROUNDS - 2
