"""What the workers of a launch do when, by the clock that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.load.schedule import (
    S_TO_NS,
    Arrivals,
    Ramp,
    rate_ramps,
    warm_up_rate,
    worker_ramps,
    working_times,
)
from benchgate.load.turns import Timetable
from benchgate.model.load import Loop

if TYPE_CHECKING:
    from benchgate.load.scenario import Scenario
    from benchgate.load.turns import TurnOrder


@dataclass(frozen=True, slots=True)
class Phase:
    """The warm-up, or the measured time.

    Attributes:
        times: when the load of the phase takes place.
        end_ns: when the last turn of this launch ends, by `time.perf_counter_ns`.
        workers: how many of them work, for a closed loop.
        arrivals: what is due when, for an open loop; None for a closed one.
    """

    times: Timetable
    end_ns: int
    workers: tuple[Ramp, ...] = ()
    arrivals: Arrivals | None = None

    @property
    def begin_ns(self) -> int:
        """When it begins, by `time.perf_counter_ns`."""
        return self.times.begin_ns

    def working_times_ns(self, worker: int) -> list[tuple[int, int]]:
        """Return when a worker works in a closed loop."""
        return [
            part
            for begin_s, end_s in working_times(worker, self.workers)
            for part in self.times.parts_ns(round(begin_s * S_TO_NS), round(end_s * S_TO_NS))
        ]

    def due_ns(self, index: int) -> int | None:
        """Return when an operation of an open loop is due; None if that is after the end.

        It is a time of the load: see `Timetable.at_ns`.
        """
        return None if self.arrivals is None else self.arrivals.due_ns(index)


@dataclass(frozen=True, slots=True)
class Plan:
    """Both parts of a launch.

    Attributes:
        warm_up: None if there is none.
        over_ns: when the last turn has ended, also that of the other launch.
    """

    warm_up: Phase | None
    measured: Phase
    over_ns: int = 0


def plan_of(scenario: Scenario, epoch_ns: int, turns: TurnOrder | None = None) -> Plan:
    """Lay out a launch whose warm-up begins at that time.

    Args:
        turns: if the launch takes turns with another one: how.
    """
    load, duration_s = scenario.load, scenario.duration_s
    warm_up_ns, measured_ns = round(load.warmup_s * S_TO_NS), round(duration_s * S_TO_NS)
    first = Timetable.of(epoch_ns, warm_up_ns, turns)
    then = Timetable.of(first.over_ns(warm_up_ns), measured_ns, turns)
    ends_ns = first.at_ns(warm_up_ns), then.at_ns(measured_ns)
    if scenario.loop is Loop.OPEN:
        steady = [Ramp(0.0, load.warmup_s, warm_up_rate(load), warm_up_rate(load))]
        warm_up = Phase(first, ends_ns[0], arrivals=Arrivals(steady if load.warmup_s else ()))
        measured = Phase(then, ends_ns[1], arrivals=Arrivals(rate_ramps(load, duration_s)))
    else:
        steady = [Ramp(0.0, load.warmup_s, load.concurrency, load.concurrency)]
        warm_up = Phase(first, ends_ns[0], workers=tuple(steady))
        measured = Phase(then, ends_ns[1], workers=tuple(worker_ramps(load, duration_s)))
    return Plan(warm_up if warm_up_ns else None, measured, then.over_ns(measured_ns))
