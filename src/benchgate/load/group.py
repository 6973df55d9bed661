"""A group of workers: threads of one process, on a common schedule."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from benchgate.files import write_atomic
from benchgate.load.choices import choices, parameters
from benchgate.load.drivers.driver import TargetError
from benchgate.load.recording import OperationRecorder, Windowing
from benchgate.load.schedule import plan_of, share_of
from benchgate.load.worker import LoadWork, LoadWorker, Timing, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.load.drivers.driver import Connection
    from benchgate.load.launch import ProcessLaunch
    from benchgate.load.recording import StepRecord
    from benchgate.load.schedule import Plan, TurnOrder
    from benchgate.stats.histogram import Histogram


CLOSE_S = 5.0
"""How long connections have to close, and interrupted operations to end."""

# Servers refuse connections that come all at once.
_OPENED_AT_ONCE = 32

# Hundreds of threads that wake at once keep each other from Python's lock for seconds.
_WOKEN_AT_ONCE = 16
_WAKING_S = 0.001


@dataclass(slots=True)
class Member:
    """A worker and its thread.

    Attributes:
        problem: why its connection could not be opened.
        crash: what ended it that should not have.
    """

    index: int
    thread: threading.Thread | None = None
    connection: Connection | None = None
    worker: LoadWorker | None = None
    problem: TargetError | None = None
    crash: str | None = None
    may_work: threading.Event = field(default_factory=threading.Event)
    has_opened: threading.Event = field(default_factory=threading.Event)
    has_worked: threading.Event = field(default_factory=threading.Event)


class Crew:
    """The workers of a group, each in a thread of its own.

    The threads are daemons: one that hangs in its driver does not keep the process alive.

    Attributes:
        stopped: the launch was given up, or its time is long over.
        takes: what give the index of the next operation in the warm-up and in the measured time.
    """

    def __init__(self, launch: ProcessLaunch, indices: Sequence[int]) -> None:
        self.stopped = threading.Event()
        self.members = [Member(index) for index in indices]
        self._launch = launch
        self._opening = threading.Semaphore(_OPENED_AT_ONCE)
        self._work: tuple[Plan, OperationRecorder] | None = None
        workers = launch.scenario.most_workers

        def taking() -> Callable[[], int]:
            following = count().__next__
            return lambda: share_of(indices, workers, following())

        self.takes = taking(), taking()

    def start(self) -> None:
        """Begin to open all connections."""
        for member in self.members:
            name = f"worker {member.index}"
            member.thread = threading.Thread(
                target=self._live, args=(member,), name=name, daemon=True
            )
            member.thread.start()

    def is_open(self, timeout_s: float) -> bool:
        """Wait until all connections are open."""
        waiting = [member for member in self.members if not member.has_opened.is_set()]
        if waiting:
            waiting[0].has_opened.wait(timeout_s)
        for member in self.members:
            if member.problem is not None:
                raise member.problem
        return all(member.has_opened.is_set() for member in self.members)

    def work(self, plan: Plan, recorder: OperationRecorder) -> None:
        """Let all workers work by that plan."""
        self._work = plan, recorder
        for number, member in enumerate(self.members, 1):
            member.may_work.set()
            if number % _WOKEN_AT_ONCE == 0:
                time.sleep(_WAKING_S)

    def has_worked(self, timeout_s: float) -> bool:
        """Wait until all workers have ended."""
        unfinished = self._unfinished()
        if unfinished:
            unfinished[0].has_worked.wait(timeout_s)
        return not self._unfinished()

    def stop(self) -> list[Member]:
        """End what still works; return the members that do not end."""
        self.stopped.set()
        for member in self.members:
            member.may_work.set()
        for member in self._unfinished():
            if member.connection is not None:
                with suppress(Exception):  # the code of a driver; it is only asked to hurry
                    member.connection.interrupt()
        deadline_ns = time.perf_counter_ns() + round(CLOSE_S * 1e9)
        for member in self.members:
            if member.thread is not None:
                left_s = (deadline_ns - time.perf_counter_ns()) / 1e9
                member.thread.join(max(left_s, 0.0))
        return [one for one in self.members if one.thread is not None and one.thread.is_alive()]

    def _unfinished(self) -> list[Member]:
        return [member for member in self.members if not member.has_worked.is_set()]

    def _live(self, member: Member) -> None:
        try:
            self._open(member)
            member.has_opened.set()
            member.may_work.wait()
            if member.worker is not None and self._work is not None:
                member.worker.run(*self._work, self.takes)
        except Exception as error:  # noqa: BLE001 - a mistake must be told, not end a thread unseen
            member.crash = self._launch.conceal(text_of(error))
        finally:
            member.has_opened.set()
            member.has_worked.set()
            if member.connection is not None:
                with suppress(Exception):  # it was used to the end
                    member.connection.close()

    def _open(self, member: Member) -> None:
        try:
            with self._opening:
                if self.stopped.is_set():
                    return
                member.connection = self._launch.driver.connect(member.index)
            operations = member.connection.operations()
        except TargetError as error:
            member.problem = error
            return
        except Exception as error:  # noqa: BLE001 - a driver may fail in any way
            member.problem = TargetError(self._launch.conceal(f"cannot connect: {text_of(error)}"))
            return
        order, scenario = self._launch.order, self._launch.scenario
        seed, workers = scenario.experiment.seed, scenario.most_workers
        member.worker = LoadWorker(
            member.index,
            LoadWork(
                operations,
                [
                    parameters(
                        step, seed=seed, iteration=order.round, worker=member.index, workers=workers
                    )
                    for step in scenario.steps
                ],
                choices(scenario.steps, seed=seed, iteration=order.round, worker=member.index),
            ),
            stopped=self.stopped,
            timing=Timing(),
            conceal=self._launch.conceal,
            workers=len(self.members),
        )


# Linux lets a thread sleep up to 50 us longer to save power, unless it is told otherwise.
_PR_SET_TIMERSLACK = 29
_SHORTEST_NS = 1
_DEFAULT = 0


@contextmanager
def exact_timers() -> Iterator[None]:
    """Let this thread, and those that it starts here, sleep no longer than they ask for."""
    _set_slack(_SHORTEST_NS)
    try:
        yield
    finally:
        _set_slack(_DEFAULT)


def _set_slack(slack_ns: int) -> None:
    # Where it fails, threads wake a little later, which is measured and told.
    if sys.platform == "linux":
        slack = ctypes.c_ulong(slack_ns)
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, slack, *[ctypes.c_ulong(0)] * 3)


GRACE_S = 30.0
"""How long operations that began in the measured time may go on after it."""

_LOOK_S = 0.1


class StartGate(Protocol):
    """Where all groups wait for each other."""

    def arrive(self) -> None:
        """Say that every worker of this group has opened its connection."""
        ...

    def epoch_ns(self) -> int:
        """Wait for all groups; return when the warm-up begins, by this machine's clock.

        The clock is `time.perf_counter_ns`, which all processes of a machine share.
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
        cpu_s: CPU time of the group's process in the measured time.
        first_start_ns: when the first worker began its first operation, since the epoch.
        last_start_ns: the same of the last worker; both 0 if no worker began one.
        late: how late free workers began operations that were due, in ns; empty for a closed loop.
        paused_s: how long workers paused after errors that followed each other.
        notes: what a reader of the numbers must know.
    """

    steps: dict[str, StepRecord]
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
        lost: why there is no record, such as "it was killed by SIGKILL"; None if there is one.
        clock_offset_s: how far its clock was ahead; 0.0 on one machine.
        clock_error_s: how far that offset may be off, at most.
    """

    place: str
    workers: int
    record: GroupRecord | None
    lost: str | None = None
    clock_offset_s: float = 0.0
    clock_error_s: float = 0.0


def run_workers(launch: ProcessLaunch, workers: Sequence[int], gate: StartGate) -> GroupRecord:
    """Run workers of a launch, from opening their connections to closing them.

    Args:
        workers: their indices among all workers of the launch.
        gate: where all groups wait for each other.

    Raises:
        TargetError: a connection cannot be opened, or a worker ended early.
        GivenUpError: the launch was given up before it was measured.
    """
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


def _measured(launch: ProcessLaunch, crew: Crew, gate: StartGate) -> GroupRecord:
    scenario, order = launch.scenario, launch.order
    epoch_ns = gate.epoch_ns()
    plan = plan_of(scenario, epoch_ns, order.turns)
    begin_ns, end_ns = plan.measured.begin_ns, plan.measured.end_ns
    recorder = OperationRecorder(
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
        cpu_s=cpu_s * planned_s / wall_s if wall_s else 0.0,
        first_start_ns=min(starts, default=0),
        last_start_ns=max(starts, default=0),
        late=recorder.late,
        paused_s=paused_ns / 1e9,
        notes=notes,
    )


def _wait_until(until_ns: int, recorder: OperationRecorder, gate: StartGate) -> None:
    """Take in what the workers hand over, until then."""
    while (left_ns := until_ns - time.perf_counter_ns()) > 0:
        _require_going_on(gate)
        time.sleep(min(left_ns / 1e9, _LOOK_S))
        recorder.collect(time.perf_counter_ns())


def _end(crew: Crew, recorder: OperationRecorder, gate: StartGate, plan: Plan) -> tuple[str, ...]:
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
            member.worker.give_up(plan.measured, now_ns, crew.takes[1])
    note = f"{len(stuck)} operations had not ended {GRACE_S:g} s after the measured time"
    more = f"; {left} of them could not be interrupted" if left else ""
    _require_no_crash(crew)
    return (f"{note}, and count as errors{more}",)


def _require_no_crash(crew: Crew) -> None:
    for member in crew.members:
        if member.crash is not None:
            raise TargetError(f"worker {member.index} ended early: {member.crash}")


def _require_going_on(gate: StartGate) -> None:
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


def after(seconds: float) -> Callable[[], bool]:
    """Make a function that says whether so much time has passed."""
    deadline_s = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline_s


# Where two load generators of one machine agree when their launches begin.

# Both look so often, and the one that was ready first must have looked before the launches begin.
_LOOK_FOR_OTHER_S = 0.001
_TO_LOOK_NS = 40_000_000
_ENDED: Final = "ended"


def tell_ended(meeting: Path) -> None:
    """Tell the load generator that still waits there that the other one has ended.

    Args:
        meeting: the folder.
    """
    with suppress(OSError):  # it waits for its time limit then
        (meeting / _ENDED).touch()


def is_ready(meeting: Path, place: int) -> bool:
    """Whether a load generator is ready, or was when it ended: from then on it needs the other one.

    Args:
        meeting: the folder.
        place: as in `TurnOrder`.
    """
    return _ready_file(meeting, place).exists()


def epoch_ns(turns: TurnOrder | None, to_wake_ns: int, is_stopped: Callable[[], bool]) -> int:
    """Return when the warm-up begins, once the other load generator is ready too.

    Args:
        turns: how the launch takes turns with the other one; None if it runs alone.
        to_wake_ns: how long the workers may take to be awake then.
        is_stopped: whether the launch was given up.

    Returns:
        A time of `time.perf_counter_ns`, the same in both generators.
    """
    begin_ns = time.perf_counter_ns() + to_wake_ns
    if turns is None:
        return begin_ns
    meeting, begin_ns = Path(turns.meeting), begin_ns + _TO_LOOK_NS
    write_atomic(_ready_file(meeting, turns.place), str(begin_ns).encode())
    other = _ready_file(meeting, 1 - turns.place)
    while not other.exists():
        if is_stopped() or (meeting / _ENDED).exists():
            raise GivenUpError
        time.sleep(_LOOK_FOR_OTHER_S)
    return max(begin_ns, int(other.read_text()))


def _ready_file(meeting: Path, place: int) -> Path:
    return meeting / f"ready{place}"
