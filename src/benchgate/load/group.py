"""A group of workers: threads of one process, on a common schedule."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from benchgate.load.crew import Crew
from benchgate.load.drivers.driver import TargetError
from benchgate.load.launch import open_launch
from benchgate.load.plan import plan_of
from benchgate.load.recording import Recorder
from benchgate.load.timers import exact_timers
from benchgate.load.windows import Windowing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.load.launch import Launch
    from benchgate.load.order import LoadOrder
    from benchgate.load.plan import Plan
    from benchgate.load.recording import StepRecord
    from benchgate.stats.histogram import Histogram

GRACE_S = 30.0
"""How long operations that began in the measured time may go on after it."""

_LOOK_S = 0.1


class Gate(Protocol):
    """Where all groups wait for each other."""

    def arrive(self) -> None:
        """Say that every worker of this group has opened its connection."""
        ...

    def epoch_ns(self) -> int:
        """Wait for all groups; return when the warm-up begins, by this machine's clock.

        The clock is `time.perf_counter_ns`, which all processes of a machine share.

        Raises:
            GivenUpError: the launch was given up.
        """
        ...

    def is_stopped(self) -> bool:
        """Whether the launch was given up; asked a few times a second."""
        ...


class GivenUpError(Exception):
    """The launch was given up while a group waited for the others."""


@dataclass(slots=True)
class GroupRecord:
    """What one group recorded; it can be pickled.

    Attributes:
        steps: by name.
        workers: how many worked.
        cpu_s: CPU time of the group's process in the measured time.
        first_start_ns: when the first worker began its first operation, since the epoch.
        last_start_ns: the same of the last worker; both 0 if no worker began one.
        late: how late free workers began operations that were due, in ns; empty for a closed loop.
        paused_s: how long workers paused after errors that followed each other.
        notes: what a reader of the numbers must know.
    """

    steps: Mapping[str, StepRecord]
    workers: int
    cpu_s: float
    first_start_ns: int
    last_start_ns: int
    late: Histogram
    paused_s: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedGroup:
    """A group after the launch, as the one who started it sees it.

    Attributes:
        place: "here", or where else it ran.
        workers: how many it should have had.
        record: None if it was lost.
        lost: why there is no record, such as "killed by SIGKILL"; None if there is one.
        clock_offset_s: how far its clock was ahead; 0.0 on one machine.
        clock_error_s: how far that offset may be off, at most.
    """

    place: str
    workers: int
    record: GroupRecord | None
    lost: str | None = None
    clock_offset_s: float = 0.0
    clock_error_s: float = 0.0


def run_group(order: LoadOrder, workers: Sequence[int], gate: Gate) -> GroupRecord:
    """Run these workers of a launch, from opening their connections to closing them.

    Args:
        workers: their indices among all workers of the launch.
        gate: where all groups wait for each other.

    Raises:
        ConfigError: the scenario file is not valid.
        TargetError: a connection cannot be opened, or a worker ended early.
        GivenUpError: the launch was given up before it was measured.
    """
    launch = open_launch(order)
    try:
        return run_workers(launch, workers, gate)
    finally:
        launch.driver.close()


def run_workers(launch: Launch, workers: Sequence[int], gate: Gate) -> GroupRecord:
    """Run workers with a driver that is there already; see `run_group`."""
    crew = Crew(launch, workers)
    with exact_timers():
        crew.start()
    try:
        while not crew.is_open(_LOOK_S):
            _require_going_on(gate)
        gate.arrive()
        with _without_gc():
            return _measured(launch, crew, gate)
    finally:
        crew.stop()


def _measured(launch: Launch, crew: Crew, gate: Gate) -> GroupRecord:
    scenario, order = launch.scenario, launch.order
    epoch_ns = gate.epoch_ns()
    plan = plan_of(scenario, epoch_ns, order.turns)
    begin_ns, end_ns = plan.measured.begin_ns, plan.measured.end_ns
    recorder = Recorder(
        [step.name for step in scenario.steps],
        Windowing.of(scenario.duration_s),
        times=plan.measured.times,
        seed=f"{scenario.experiment.seed + order.round} {crew.members[0].index}",
    )
    crew.work(plan, recorder)
    _wait_until(begin_ns, recorder, gate)
    before_s, before_ns = time.process_time(), time.perf_counter_ns()
    _wait_until(end_ns, recorder, gate)
    cpu_s = time.process_time() - before_s
    wall_s, planned_s = (time.perf_counter_ns() - before_ns) / 1e9, (end_ns - begin_ns) / 1e9
    notes = _end(crew, recorder, gate, plan)
    # What comes now takes CPU time, which the last turn of the other launch needs.
    _wait_until(plan.over_ns, recorder, gate)
    starts = [
        member.worker.started_ns - epoch_ns
        for member in crew.members
        if member.worker is not None and member.worker.started_ns
    ]
    paused_ns = sum(member.worker.paused_ns for member in crew.members if member.worker)
    return GroupRecord(
        steps=recorder.records(),
        workers=len(crew.members),
        cpu_s=cpu_s * planned_s / wall_s if wall_s else 0.0,
        first_start_ns=min(starts, default=0),
        last_start_ns=max(starts, default=0),
        late=recorder.late,
        paused_s=paused_ns / 1e9,
        notes=notes,
    )


def _wait_until(until_ns: int, recorder: Recorder, gate: Gate) -> None:
    """Take in what the workers hand over, until then."""
    while (left_ns := until_ns - time.perf_counter_ns()) > 0:
        _require_going_on(gate)
        time.sleep(min(left_ns / 1e9, _LOOK_S))
        recorder.collect(time.perf_counter_ns())


def _end(crew: Crew, recorder: Recorder, gate: Gate, plan: Plan) -> tuple[str, ...]:
    """Wait for operations that began in time, and count those that do not end as errors."""
    deadline_ns = plan.measured.end_ns + round(GRACE_S * 1e9)
    while not crew.has_worked(_LOOK_S):
        _require_going_on(gate)
        recorder.collect(time.perf_counter_ns())
        if time.perf_counter_ns() >= deadline_ns:
            break
    else:
        _require_no_crash(crew)
        return ()
    now_ns = time.perf_counter_ns()
    stuck = [member for member in crew.members if not member.has_worked.is_set()]
    left = len(crew.stop())
    for member in stuck:
        if member.worker is not None:
            member.worker.flush(now_ns)
            text = f"the operation had not ended {GRACE_S:g} s after the measured time"
            recorder.fail(member.worker.current_step, plan.measured.end_ns, text)
            member.worker.give_up(plan.measured, now_ns, crew.take)
    note = f"{len(stuck)} operations had not ended {GRACE_S:g} s after the measured time"
    more = f"; {left} of them could not be interrupted" if left else ""
    _require_no_crash(crew)
    return (f"{note}, and count as errors{more}",)


def _require_no_crash(crew: Crew) -> None:
    for member in crew.members:
        if member.crash is not None:
            raise TargetError(f"worker {member.index} ended early: {member.crash}")


def _require_going_on(gate: Gate) -> None:
    if gate.is_stopped():
        raise GivenUpError


@contextmanager
def _without_gc() -> Iterator[None]:
    """Collect garbage now, and not again until the end: it would interrupt operations."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
