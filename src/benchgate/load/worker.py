"""A worker: one connection, on which one operation runs after the other."""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.recording import LATE

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.load.drivers.driver import Operation
    from benchgate.load.parameters import Parameters
    from benchgate.load.recording import OperationRecorder
    from benchgate.load.schedule import LoadPhase, Plan


ERRORS_BEFORE_PAUSE = 3
SHORTEST_PAUSE_NS = 1_000_000
LONGEST_PAUSE_NS = 100_000_000

# How long a worker keeps what it measured before it hands it over, at most; more workers keep it
# longer, so that the thread that takes it in gets larger batches.
_KEPT_NS = 20_000_000
_KEPT_PER_WORKER_NS = 1_000_000
# What is left of a longer wait is slept, because an event wakes less exactly.
_SLEPT_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock of the workers; tests have another one.

    Attributes:
        wait_s: waits long; None waits until the workers are stopped, at most.
    """

    now_ns: Callable[[], int] = time.perf_counter_ns
    sleep_s: Callable[[float], None] = time.sleep
    wait_s: Callable[[float], object] | None = None


@dataclass(frozen=True, slots=True)
class LoadWork:
    """What a worker carries out.

    Attributes:
        operations: one for each step.
        parameters: an endless stream for each step.
        choices: an endless stream of the indices of steps.
    """

    operations: Sequence[Operation]
    parameters: Sequence[Iterator[Parameters]]
    choices: Iterator[int]


class LoadWorker:
    """Carries out operations, and hands over how long they took.

    Attributes:
        current_step: of the operation that was begun last.
        started_ns: when it began to work; in an open loop, the begin of the first phase plus how
            late it began its first operation. 0 if it has not.
        paused_ns: how long it paused after errors in the measured time.

    Args:
        index: among all workers of the launch.
        stopped: lets it begin nothing more.
        conceal: makes the text of an error one line without secrets.
    """

    def __init__(
        self,
        index: int,
        work: LoadWork,
        *,
        stopped: threading.Event,
        timing: Timing,
        conceal: Callable[[str], str],
        workers: int = 1,
    ) -> None:
        self.index = index
        self.current_step = 0
        self.started_ns = 0
        self.paused_ns = 0
        self._operations = work.operations
        self._draw = [one.__next__ for one in work.parameters]
        self._choose = work.choices.__next__
        self._is_stopped = stopped.is_set
        self._now_ns = timing.now_ns
        self._sleep_s = timing.sleep_s
        self._wait_s = timing.wait_s or stopped.wait
        self._conceal = conceal
        self._kept_ns = min(_KEPT_NS + workers * _KEPT_PER_WORKER_NS, 1_000_000_000)
        self._latencies = [array("q") for _ in work.operations]
        self._late = array("q")
        self._errors_in_a_row = 0
        self._recorder: OperationRecorder | None = None
        self._window = 0
        self._flush_ns = 0

    def run(
        self, plan: Plan, recorder: OperationRecorder, takes: Sequence[Callable[[], int]]
    ) -> None:
        """Warm up, and then measure.

        Args:
            takes: for an open loop, what gives the index of the next operation in the warm-up and
                in the measured time.
        """
        begin = plan.warm_up or plan.measured
        if begin.arrivals is None:
            self._wait(begin.begin_ns)
            self.started_ns = self._now_ns()
        if plan.warm_up is not None:
            self._work(plan.warm_up, takes[0])
            self._forget()
        self._recorder = recorder
        self._flush_ns = 0
        self._work(plan.measured, takes[1])
        if not self._is_stopped():
            self.flush(self._now_ns())

    def _work(self, phase: LoadPhase, take: Callable[[], int]) -> None:
        if phase.arrivals is not None:
            self._work_on_schedule(phase, take)
            return
        # An operation may go on after the end of a turn. Its time is taken from the next ones, so
        # that all operations together take as long as all turns.
        left_ns = 0
        for begin_ns, end_ns in phase.working_times_ns(self.index):
            self._wait(begin_ns)
            left_ns += end_ns - begin_ns
            begun_ns = self._now_ns()
            last_ns = min(end_ns, begun_ns + left_ns)
            if begun_ns < last_ns:
                left_ns -= self._work_closed(last_ns) - begun_ns

    def _work_closed(self, end_ns: int) -> int:
        """Begin an operation when the one before has ended, until the time is over.

        An operation that has begun by then counts, however long it takes.

        Returns:
            When the last one has ended.
        """
        choose, draw, operations = self._choose, self._draw, self._operations
        append = [one.append for one in self._latencies]
        now_ns, is_stopped = self._now_ns, self._is_stopped
        while True:
            self.current_step = step = choose()
            operation, parameters = operations[step], draw[step]()
            begun_ns = now_ns()
            if begun_ns >= end_ns:
                return begun_ns
            try:
                operation(parameters)
            except Exception as error:  # noqa: BLE001 - a driver may fail in any way
                if is_stopped():
                    return end_ns
                self._fail(step, error)
                self._pause_after_errors(end_ns)
                continue
            ended_ns = now_ns()
            if is_stopped():
                return end_ns
            if ended_ns >= self._flush_ns:
                self.flush(ended_ns)
            append[step](ended_ns - begun_ns)
            self._errors_in_a_row = 0

    def _work_on_schedule(self, phase: LoadPhase, take: Callable[[], int]) -> None:
        """Begin each operation when it is due, or as soon as a worker is free after that.

        Its time begins when it was due. After the end no operation begins; those that were due
        before, and waited for a worker, count as unfinished.
        """
        choose, draw, operations = self._choose, self._draw, self._operations
        append = [one.append for one in self._latencies]
        due_at, now_ns, is_stopped = phase.due_ns, self._now_ns, self._is_stopped
        clock_at, whole_ns = phase.times.at_ns, phase.times.passed_ns(phase.end_ns)
        # Both are times of the load, which stand still in the turns of the other launch. So what an
        # operation takes of those turns keeps the worker from the next ones of its own.
        free_ns = phase.times.passed_ns(now_ns())
        while (due_ns := due_at(take())) is not None:
            self.current_step = step = choose()
            operation, parameters = operations[step], draw[step]()
            begin_ns = max(due_ns, free_ns)
            if begin_ns >= whole_ns:
                self._leave_unfinished(step, begin_ns - due_ns)
                continue
            clock_ns = clock_at(begin_ns)
            if now_ns() < clock_ns:
                self._wait(clock_ns)
                if is_stopped():
                    return
                if free_ns < due_ns:
                    self._note_late(now_ns() - clock_ns, phase)
            try:
                operation(parameters)
            except Exception as error:  # noqa: BLE001 - a driver may fail in any way
                if is_stopped():
                    return
                self._fail(step, error)
                free_ns = begin_ns + now_ns() - clock_ns
                continue
            ended_ns = now_ns()
            if is_stopped():
                return
            if ended_ns >= self._flush_ns:
                self.flush(ended_ns)
            free_ns = begin_ns + ended_ns - clock_ns
            append[step](free_ns - due_ns)

    def _note_late(self, late_ns: int, phase: LoadPhase) -> None:
        """Note how late it began what was due although it was free."""
        self._late.append(late_ns)
        if not self.started_ns:
            self.started_ns = phase.begin_ns + late_ns

    def give_up(self, phase: LoadPhase, now_ns: int, take: Callable[[], int]) -> None:
        """Count what is due and not begun, when no worker will be free any more."""
        if phase.arrivals is None:
            return
        while (due_ns := phase.due_ns(take())) is not None:
            self._leave_unfinished(self._choose(), max(now_ns - phase.times.at_ns(due_ns), 0))

    def flush(self, now_ns: int) -> None:
        """Hand over what was measured in the window until now, and begin the next one."""
        recorder = self._recorder
        if recorder is None:
            self._flush_ns = now_ns + self._kept_ns
            self._forget()
            return
        for step, latencies in enumerate(self._latencies):
            if latencies:
                recorder.hand_over(step, self._window, latencies[:])
                del latencies[:]
        if self._late:
            recorder.hand_over(LATE, self._window, self._late[:])
            del self._late[:]
        self._window = recorder.window_at(now_ns)
        self._flush_ns = min(recorder.window_end_ns(self._window), now_ns + self._kept_ns)

    def _forget(self) -> None:
        for latencies in (*self._latencies, self._late):
            del latencies[:]

    def _fail(self, step: int, error: Exception) -> None:
        self._errors_in_a_row += 1
        if self._recorder is not None:
            text = self._conceal(text_of(error)) if self._recorder.keeps_more(step) else ""
            self._recorder.fail(step, self._now_ns(), text)

    def _leave_unfinished(self, step: int, waited_ns: int) -> None:
        if self._recorder is not None:
            self._recorder.leave_unfinished(step, waited_ns)

    def _pause_after_errors(self, end_ns: int) -> None:
        """Do not use a whole CPU for a target that refuses at once."""
        more = self._errors_in_a_row - ERRORS_BEFORE_PAUSE
        if more < 0:
            return
        pause_ns = min(SHORTEST_PAUSE_NS << min(more, 20), LONGEST_PAUSE_NS)
        begun_ns = self._now_ns()
        self._wait(min(begun_ns + pause_ns, end_ns))
        if self._recorder is not None:
            self.paused_ns += self._now_ns() - begun_ns

    def _wait(self, until_ns: int) -> None:
        while not self._is_stopped():
            left_ns = until_ns - self._now_ns()
            if left_ns <= 0:
                return
            if left_ns > 2 * _SLEPT_NS:
                self._wait_s((left_ns - _SLEPT_NS) / 1e9)
            else:
                self._sleep_s(left_ns / 1e9)


def text_of(error: BaseException) -> str:
    """Say what went wrong: what the driver says, or the type and message of its mistake."""
    if isinstance(error, OperationError | TargetError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
