"""Simulates how long a recorded check takes in another number of lanes than it was measured in.

Sessions, tasks and lanes are benchgate's own; only the clock and what the tasks do are simulated.
Every simulated check measures the benchmarks that the recorded one measured, round by round. It
assumes that lanes do not slow each other down, and that the rounds show the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median_low
from threading import Condition
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import Division, Task, ignore
from benchgate.measure.contract.found import Definition, Discovery
from benchgate.measure.contract.observation import Observation
from benchgate.measure.functions.grouping import divide
from benchgate.model.metrics import TIME
from benchgate.model.result import Phase
from benchgate.model.run import CANARY_IDS, Series, Tier
from benchgate.session.conditions import Conditions
from benchgate.session.session import Session

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.model.result import Result

# In these phases benchgate does one thing at a time, whatever the lanes.
_SERIAL = frozenset(Phase) - {Phase.FIRST_ROUND, Phase.LATER_ROUNDS, Phase.START_WORKERS}


@dataclass(frozen=True, slots=True)
class Check:
    """What a check measured, and how long that took.

    Attributes:
        lanes: how many it used.
        seed: of its rounds.
        serial_s: what the phases take in which nothing is measured.
        first_s: how long the first round takes.
        later_s: how long all other rounds take.
        rounds: the benchmarks of each round, with the canary.
    """

    lanes: int
    seed: int
    serial_s: float
    first_s: float
    later_s: float
    rounds: Sequence[Sequence[str]]

    @property
    def before_lanes_s(self) -> float:
        """What the simulation leaves as it was measured."""
        return self.serial_s + self.first_s

    @property
    def total_s(self) -> float:
        """How long it took, from its start until its result was saved."""
        return self.before_lanes_s + self.later_s


@dataclass(frozen=True, slots=True)
class Costs:
    """What measuring costs while nothing else is measured.

    Attributes:
        start_s: to start the processes that a task measures in.
        each_s: what a round takes by benchmark, once the processes have started.
    """

    start_s: float
    each_s: Mapping[str, float]


def check_of(result: Result) -> Check:
    """Take from a result what is needed to simulate the check."""
    rounds: dict[int, list[str]] = {}
    lanes = 1
    for one in result.head.benchmarks:
        for launch in next(each for each in one.series if each.metric == TIME).launches:
            rounds.setdefault(launch.round, []).append(one.id)
            lanes = max(lanes, (launch.lane or 0) + 1)
    took_s = {one.phase: one.seconds for one in result.phases}
    return Check(
        lanes=lanes,
        seed=result.head.seed,
        serial_s=sum(seconds for phase, seconds in took_s.items() if phase in _SERIAL),
        first_s=took_s[Phase.FIRST_ROUND],
        later_s=took_s[Phase.LATER_ROUNDS],
        rounds=[rounds[index] for index in sorted(rounds)],
    )


def costs_of(results: Sequence[Result]) -> Costs:
    """Take the costs from checks of the same benchmarks, each in one lane; there is at least one.

    A result holds what the last round of a benchmark took. That of a task's first benchmark
    includes the start of its processes, so the median of all checks is taken.
    """
    rounds_s: dict[str, list[float]] = {}
    for result in results:
        for one in result.head.benchmarks:
            rounds_s.setdefault(one.id, []).append(one.round_s or 0.0)
    each_s = {id_: median_low(found) for id_, found in sorted(rounds_s.items())}
    starts = [one for each in results for one in each.phases if one.phase is Phase.START_WORKERS]
    return Costs(sum(one.seconds for one in starts) / sum(one.times for one in starts), each_s)


def later_rounds_s(check: Check, costs: Costs, lanes: int) -> float:
    """How long the rounds of a check after the first one take in some lanes."""
    now = _LanesTime()
    ids = costs.each_s.keys()
    files = [file for file in (ids - CANARY_IDS, ids & CANARY_IDS) if file]
    engines = [_File(file, costs, now) for file in files]
    lane_cpus = [None] * lanes
    session = Session(engines, list(ArmName), check.seed, now.read, Conditions(lane_cpus=lane_cpus))
    session.discover()
    began_s = 0.0
    for index, measured in enumerate(check.rounds):
        own = sorted(set(measured) - CANARY_IDS)
        now.use(lanes if index else 1)
        session.measure_round(index, own, ignore, canary=not CANARY_IDS.isdisjoint(measured))
        if not index:
            began_s = now.read()
    return now.read() - began_s


class _LanesTime:
    """The time of threads that do nothing but wait: it goes on when all of them do.

    It depends on what they wait for, and never on which of them the machine runs first.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        self._lanes = 1
        self._working = 0
        self._tasks = 0
        self._ends_s: list[float] = []
        self._changed = Condition()

    def use(self, lanes: int) -> None:
        """Measure what is expected from now on in so many lanes."""
        self._lanes = lanes
        self._tasks = self._working = 0

    def expect(self, tasks: int) -> None:
        """Let the lanes have so many tasks more."""
        self._tasks += tasks
        self._working = min(self._lanes, self._tasks)

    def read(self) -> float:
        """The time, in seconds."""
        return self._now_s

    def spend(self, seconds: float) -> None:
        """Wait in a lane."""
        with self._changed:
            end_s = self._now_s + seconds
            self._ends_s.append(end_s)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_next(end_s))
            self._ends_s.remove(end_s)
            self._now_s = end_s

    def _is_next(self, end_s: float) -> bool:
        return len(self._ends_s) >= self._working and end_s == min(self._ends_s)

    def task_ended(self) -> None:
        """End a task; its lane takes the next one that none has begun, if there is one."""
        with self._changed:
            self._tasks -= 1
            self._working = min(self._working, self._tasks)
            self._changed.notify_all()


@dataclass(slots=True)
class _File:
    """Benchmarks of one file, divided as `FunctionEngine` does; their tasks only take time."""

    ids: AbstractSet[str]
    costs: Costs
    now: _LanesTime
    peak_bytes: int = 0

    def discover(self) -> Discovery:
        found = tuple(Definition(id_, "", Tier.LOCKSTEP) for id_ in sorted(self.ids))
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
        rng: random.Random,  # noqa: ARG002 - nothing is random
        round_index: int,  # noqa: ARG002 - all rounds cost the same
        division: Division,
    ) -> Sequence[Task]:
        costs_s = [division.costs_s.get(id_, 0.0) for id_ in ids]
        parts = divide(ids, costs_s, division.share_s)
        self.now.expect(len(parts))
        return [Task(tuple(part), partial(self._run, part), _nothing) for part in parts]

    def _run(
        self, ids: Sequence[str], _cpu: int | None, starting: Callable[[str], None]
    ) -> Iterator[Observation]:
        wait_s = self.costs.start_s
        for id_ in ids:
            starting(id_)
            self.now.spend(wait_s + self.costs.each_s[id_])
            wait_s = 0.0
            for order, arm in enumerate(ArmName):
                yield Observation(arm, id_, order, (_ONE,))
        self.now.task_ended()

    def close(self) -> None:
        pass


_ONE = Series.of_launch(TIME, np.ones(1), np.empty(0))


def _nothing() -> None:
    """End no process: there is none."""
