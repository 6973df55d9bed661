"""A worker: one connection, on which one operation runs after the other, and what it records."""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchgate.load.drivers.driver import OperationError
from benchgate.model.load import MOST_ERRORS_KEPT, MOST_WINDOWS, KeptError, Windows
from benchgate.stats.histogram import Histogram, Reservoir, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.arrays import IntArray
    from benchgate.load.drivers.driver import Operation
    from benchgate.load.parameters import Parameters
    from benchgate.load.schedule import LoadPhase, Plan, Timetable


@dataclass(frozen=True, slots=True)
class Window:
    """What is kept of one window of a step once it is over.

    Attributes:
        ops: operations that ended well in it.
        errors: operations that failed in it.
        histogram: of the latencies in ns, as `stats.hdr.to_bytes` writes it; empty without any.
    """

    ops: int
    errors: int
    histogram: bytes


@dataclass(frozen=True, slots=True)
class Windowing:
    """How the measured time is divided.

    Attributes:
        width_s: of each window but the last.
        count: how many there are.
        last_s: width of the last one.
    """

    width_s: int
    count: int
    last_s: float

    @classmethod
    def of(cls, duration_s: float) -> Windowing:
        """Windows of 1 s; of the fewest whole seconds more if there would be too many."""
        width_s = max(1, math.ceil(duration_s / MOST_WINDOWS))
        count = max(1, math.ceil(duration_s / width_s))
        return cls(width_s, count, duration_s - (count - 1) * width_s)

    def index_at(self, passed_ns: int) -> int:
        """Return the window of an operation that ends then; after the end it is the last one."""
        return min(max(passed_ns, 0) // (self.width_s * 1_000_000_000), self.count - 1)


def merged(windows: Sequence[Window]) -> Window:
    """Merge what several groups kept of one window."""
    if len(windows) == 1:
        return windows[0]
    held = [from_bytes(window.histogram) for window in windows if window.histogram]
    total = Histogram()
    for histogram in held:
        total.merge(histogram)
    return Window(
        sum(window.ops for window in windows),
        sum(window.errors for window in windows),
        to_bytes(total) if held else b"",
    )


def rows(windowing: Windowing, windows: Mapping[int, Window]) -> Windows:
    """List all windows, also those with nothing in them."""
    empty = Window(0, 0, b"")
    course = [windows.get(index, empty) for index in range(windowing.count)]
    # One after the other: each histogram takes a quarter of a megabyte.
    percentiles = [_percentiles(window) for window in course]
    return Windows(
        width_s=float(windowing.width_s),
        last_s=windowing.last_s,
        ops=tuple(window.ops for window in course),
        errors=tuple(window.errors for window in course),
        p50_ns=tuple(p50 for p50, _, _ in percentiles),
        p95_ns=tuple(p95 for _, p95, _ in percentiles),
        p99_ns=tuple(p99 for _, _, p99 in percentiles),
    )


def _percentiles(window: Window) -> tuple[int | None, int | None, int | None]:
    if not window.histogram:
        return None, None, None
    histogram = from_bytes(window.histogram)
    return histogram.percentile(0.5), histogram.percentile(0.95), histogram.percentile(0.99)


LATE = -1
"""In place of a step: the values are how late free workers began what was due."""


@dataclass(slots=True)
class StepRecord:
    """What the workers of a group recorded of one step; it can be pickled and merged.

    Attributes:
        ops: operations that ended well.
        errors: operations that failed, or did not end.
        unfinished: operations that were due and that no worker had begun at the end.
        kept_errors: the first errors, at most MOST_ERRORS_KEPT.
        histogram: of the latencies of `ops` and `unfinished`, in ns.
        reservoir: a random sample of the same latencies.
        windows: those with something in them, by their index.
    """

    ops: int
    errors: int
    unfinished: int
    kept_errors: list[KeptError]
    histogram: Histogram
    reservoir: Reservoir
    windows: dict[int, Window]


@dataclass(slots=True)
class _Step:
    """What is recorded of one step so far.

    Attributes:
        open: the histograms of windows that are not over.
        closed: what is kept of those that are.
        failed: how many operations failed, by window.
    """

    reservoir: Reservoir
    histogram: Histogram = field(default_factory=Histogram)
    open: dict[int, Histogram] = field(default_factory=dict)
    closed: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    failed: Counter[int] = field(default_factory=Counter)
    kept_errors: list[KeptError] = field(default_factory=list)
    ops: int = 0
    unfinished: int = 0


class OperationRecorder:
    """Takes what the workers of a group measure.

    Workers only hand over full buffers, which takes a fraction of a microsecond. One thread, which
    is no worker, calls `collect` a few times a second.

    Args:
        times: when the measured load takes place.
        seed: where the random samples come from.
    """

    def __init__(
        self, steps: Sequence[str], windowing: Windowing, *, times: Timetable, seed: str
    ) -> None:
        self._names = tuple(steps)
        self._windowing = windowing
        self._times = times
        self._steps = [
            _Step(Reservoir(Random(f"{seed} {name}")))  # noqa: S311 - repeatable on purpose
            for name in steps
        ]
        self._handed: deque[tuple[int, int, array[int]]] = deque()
        self._lock = threading.Lock()
        self.late = Histogram()

    def window_at(self, now_ns: int) -> int:
        """Return the window in which an operation that ends now counts."""
        return self._windowing.index_at(self._times.passed_ns(now_ns))

    def window_end_ns(self, window: int) -> int:
        """Return when a window is over."""
        return self._times.at_ns((window + 1) * self._windowing.width_s * 1_000_000_000)

    def hand_over(self, step: int, window: int, latencies: array[int]) -> None:
        """Record the latencies of operations that ended well in that window, in ns."""
        self._handed.append((step, window, latencies))

    def keeps_more(self, step: int) -> bool:
        """Whether the text of another error of that step would be kept."""
        return len(self._steps[step].kept_errors) < MOST_ERRORS_KEPT

    def fail(self, step: int, at_ns: int, text: str) -> None:
        """Record that an operation failed.

        Args:
            text: why, in one line without secrets; it is not used if `keeps_more` says no.
        """
        found = self._steps[step]
        with self._lock:
            found.failed[self.window_at(at_ns)] += 1
            if self.keeps_more(step):
                passed_s = max(self._times.passed_ns(at_ns), 0) / 1e9
                found.kept_errors.append(KeptError(passed_s, text))

    def leave_unfinished(self, step: int, waited_ns: int) -> None:
        """Record that an operation that was due had not begun at the end.

        It counts with the time that it had waited, which is less than it would have taken. Without
        it, a target that stalls at the end would look faster than one that does not.
        """
        found = self._steps[step]
        with self._lock:
            found.unfinished += 1
            found.histogram.record(waited_ns)
            found.reservoir.record(waited_ns)

    def collect(self, now_ns: int) -> None:
        """Take in what was handed over, and close the windows that are over."""
        batches: dict[tuple[int, int], list[array[int]]] = {}
        while self._handed:
            step, window, latencies = self._handed.popleft()
            batches.setdefault((step, window), []).append(latencies)
        for (step, window), several in batches.items():
            values = np.concatenate([np.frombuffer(one, dtype=np.int64) for one in several])
            if step == LATE:
                self.late.record_many(values)
            else:
                with self._lock:
                    _record(self._steps[step], window, values)
        current = self.window_at(now_ns)
        for found in self._steps:
            for window in [one for one in found.open if one < current]:
                _close(found, window)

    def records(self) -> dict[str, StepRecord]:
        """Close everything, and return it by step."""
        self.collect(self._times.begin_ns)
        with self._lock:
            return {
                name: _ended(found) for name, found in zip(self._names, self._steps, strict=True)
            }


def _record(step: _Step, window: int, latencies: IntArray) -> None:
    step.ops += len(latencies)
    step.reservoir.record_many(latencies)
    if window in step.open:
        step.open[window].record_many(latencies)
        return
    histogram = Histogram()
    if window in step.closed:
        # A worker that was in a long operation hands over late what it measured before.
        histogram.record_many(latencies)
        step.histogram.merge(histogram)
        ops, kept = step.closed[window]
        histogram.merge(from_bytes(kept))
        step.closed[window] = ops + len(latencies), to_bytes(histogram)
    else:
        histogram.record_many(latencies)
        step.open[window] = histogram


def _close(step: _Step, window: int) -> None:
    histogram = step.open.pop(window)
    step.histogram.merge(histogram)
    step.closed[window] = histogram.count, to_bytes(histogram)


def _ended(step: _Step) -> StepRecord:
    for window in list(step.open):
        _close(step, window)
    windows = {
        window: Window(ops, step.failed[window], histogram)
        for window in sorted({*step.closed, *step.failed})
        for ops, histogram in [step.closed.get(window, (0, b""))]
    }
    return StepRecord(
        ops=step.ops,
        errors=step.failed.total(),
        unfinished=step.unfinished,
        kept_errors=list(step.kept_errors),
        histogram=step.histogram,
        reservoir=step.reservoir,
        windows=windows,
    )


ERRORS_BEFORE_PAUSE = 3
SHORTEST_PAUSE_NS = 1_000_000
LONGEST_PAUSE_NS = 100_000_000

# How long a worker keeps what it measured before it hands it over, at most; more workers keep it
# longer, so that the thread that takes it in gets larger batches.
_KEPT_NS = 20_000_000
_KEPT_PER_WORKER_NS = 1_000_000
# What is left of a longer wait is slept, because an event wakes less exactly.
_SLEPT_NS = 50_000_000


class Control:
    """What the workers of a group share.

    Attributes:
        is_stopped: whether the launch was given up, or its time is long over.
    """

    __slots__ = ("_stopped", "is_stopped")

    def __init__(self) -> None:
        self.is_stopped = False
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let no worker begin anything more, and wake those that wait long."""
        self.is_stopped = True
        self._stopped.set()

    def wait_s(self, duration_s: float) -> None:
        """Wait so long, or until it is stopped."""
        self._stopped.wait(duration_s)


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock of the workers; tests have another one.

    Attributes:
        wait_s: waits long; None waits for `Control`, which ends it when the workers are stopped.
    """

    now_ns: Callable[[], int] = time.perf_counter_ns
    sleep_s: Callable[[float], None] = time.sleep
    wait_s: Callable[[float], None] | None = None


class LoadWorker:
    """Carries out operations, and hands over how long they took.

    Attributes:
        current_step: of the operation that was begun last.
        started_ns: when it began to work; in an open loop, the begin of the first phase plus how
            late it began its first operation. 0 if it has not.
        paused_ns: how long it paused after errors in the measured time.

    Args:
        index: among all workers of the launch.
        operations: one for each step.
        parameters: an endless stream for each step.
        choices: an endless stream of the indices of steps.
        conceal: makes the text of an error one line without secrets.
    """

    def __init__(
        self,
        index: int,
        operations: Sequence[Operation],
        parameters: Sequence[Iterator[Parameters]],
        choices: Iterator[int],
        *,
        control: Control,
        timing: Timing,
        conceal: Callable[[str], str],
        workers: int = 1,
    ) -> None:
        self.index = index
        self.current_step = 0
        self.started_ns = 0
        self.paused_ns = 0
        self._operations = operations
        self._draw = [one.__next__ for one in parameters]
        self._choose = choices.__next__
        self._control = control
        self._now_ns = timing.now_ns
        self._sleep_s = timing.sleep_s
        self._wait_s = timing.wait_s or control.wait_s
        self._conceal = conceal
        self._kept_ns = min(_KEPT_NS + workers * _KEPT_PER_WORKER_NS, 1_000_000_000)
        self._latencies = [array("q") for _ in operations]
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
        if not self._control.is_stopped:
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
        now_ns, control = self._now_ns, self._control
        while True:
            self.current_step = step = choose()
            operation, parameters = operations[step], draw[step]()
            begun_ns = now_ns()
            if begun_ns >= end_ns:
                return begun_ns
            try:
                operation(parameters)
            except Exception as error:  # noqa: BLE001 - a driver may fail in any way
                if control.is_stopped:
                    return end_ns
                self._fail(step, error)
                self._pause_after_errors(end_ns)
                continue
            ended_ns = now_ns()
            if control.is_stopped:
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
        due_at, now_ns, control = phase.due_ns, self._now_ns, self._control
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
                if control.is_stopped:
                    return
                if free_ns < due_ns:
                    self._note_late(now_ns() - clock_ns, phase)
            try:
                operation(parameters)
            except Exception as error:  # noqa: BLE001 - a driver may fail in any way
                if control.is_stopped:
                    return
                self._fail(step, error)
                free_ns = begin_ns + now_ns() - clock_ns
                continue
            ended_ns = now_ns()
            if control.is_stopped:
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
        while not self._control.is_stopped:
            left_ns = until_ns - self._now_ns()
            if left_ns <= 0:
                return
            if left_ns > 2 * _SLEPT_NS:
                self._wait_s((left_ns - _SLEPT_NS) / 1e9)
            else:
                self._sleep_s(left_ns / 1e9)


def text_of(error: BaseException) -> str:
    """Say what went wrong: what the driver says, or the type and message of its mistake."""
    if isinstance(error, OperationError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
