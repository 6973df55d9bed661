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
from benchgate.model.load import Loop

if TYPE_CHECKING:
    from benchgate.load.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Phase:
    """The warm-up, or the measured time.

    Attributes:
        begin_ns, end_ns: by `time.perf_counter_ns`.
        workers: how many of them work, for a closed loop.
        arrivals: what is due when, for an open loop; None for a closed one.
    """

    begin_ns: int
    end_ns: int
    workers: tuple[Ramp, ...] = ()
    arrivals: Arrivals | None = None

    def working_times_ns(self, worker: int) -> list[tuple[int, int]]:
        """Return when a worker works in a closed loop."""
        return [
            (self.begin_ns + round(begin_s * S_TO_NS), self.begin_ns + round(end_s * S_TO_NS))
            for begin_s, end_s in working_times(worker, self.workers)
        ]


@dataclass(frozen=True, slots=True)
class Plan:
    """Both parts of a launch.

    Attributes:
        warm_up: None if there is none.
    """

    warm_up: Phase | None
    measured: Phase


def plan_of(scenario: Scenario, epoch_ns: int) -> Plan:
    """Lay out a launch whose warm-up begins at that time."""
    load, duration_s = scenario.load, scenario.duration_s
    begin_ns = epoch_ns + round(load.warmup_s * S_TO_NS)
    end_ns = begin_ns + round(duration_s * S_TO_NS)
    if scenario.loop is Loop.OPEN:
        steady = [Ramp(0.0, load.warmup_s, warm_up_rate(load), warm_up_rate(load))]
        warm_up = Phase(epoch_ns, begin_ns, arrivals=Arrivals(steady if load.warmup_s else ()))
        arrivals = Arrivals(rate_ramps(load, duration_s))
        measured = Phase(begin_ns, end_ns, arrivals=arrivals)
    else:
        first = Ramp(0.0, load.warmup_s, load.concurrency, load.concurrency)
        warm_up = Phase(epoch_ns, begin_ns, workers=(first,))
        measured = Phase(begin_ns, end_ns, workers=tuple(worker_ramps(load, duration_s)))
    return Plan(warm_up if load.warmup_s else None, measured)
