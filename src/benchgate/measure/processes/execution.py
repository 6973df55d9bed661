"""One run of a command: what the launcher is asked and answers, what went wrong, the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from benchgate.errors import MeasureError
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, PEAK_RSS, PERF, TIME
from benchgate.model.run import Series
from benchgate.process import signal_name
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray
    from benchgate.model.metrics import Metric


MOST_OUTPUT_BYTES: Final = 256 << 20
"""Size limit of a standard output that is kept."""


# Clocks of the OS differ by a little, and its accounting rounds.
_ONE_THREAD = 0.97


class ExecutionRequest(TypedDict):
    """A command to run; `program` is the file of `argv[0]`, already looked up.

    `stdout` is a file for its standard output, None to keep only the tail of all that it prints.
    If it must end early, it gets SIGTERM, and `grace_s` later SIGKILL; at once if that is 0.
    """

    program: str
    argv: list[str]
    cwd: str
    env: dict[str, str]
    timeout_s: float
    cpus: list[int] | None
    stdout: str | None
    stdout_limit_bytes: int
    grace_s: float


@dataclass(frozen=True, slots=True)
class AllowedTime:
    """How long a command may run.

    Attributes:
        timeout_s: limit; after it, or at the end of the budget, the process group is killed.
        grace_s: how long the program may clean up after SIGTERM before that; 0 for no SIGTERM.
        planned_s: how long it takes by its own plan, which no budget shortens.
    """

    timeout_s: float
    grace_s: float = 0.0
    planned_s: float = 0.0


class ExecutionReply(TypedDict, total=False):
    """What the launcher knows of an `Execution`; or why the command could not be started."""

    usage: dict[str, Any]
    refused: str


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a command.

    Attributes:
        wall_ns: from just before it was spawned to its end, even if its children still run.
        user_ns: CPU time in user code, including children that it waited for.
        system_ns: CPU time in the kernel, including the same children.
        peak_rss_bytes: peak resident memory of the largest of these processes.
        peak_rss_floor_bytes: smallest peak that can be measured; a smaller one reads as about this.
        returncode: exit code, or minus the number of the signal that killed it.
        timed_out: that it was killed because it reached its time limit; "" if it was not.
        output_tail: the end of its standard output and error, in the order written; if the
            standard output is kept, the end of that first.
        count: how often the launcher's event happened in it and in all processes that it started,
            including children that it did not wait for. A daemon counts until the end of the
            command. None if nothing was counted.
        uncounted: why nothing was counted; "" if it was counted, or if no count was asked for.
        overflowed: whether it was killed because its kept standard output got too large.
        first_thread_ns: CPU time of its first thread; None if the OS does not tell.
        waited_for_cpu_ns: how long that thread could have run but waited for a CPU; None likewise.
        shared_cpu: whether the other arm's command ran at the same time on the same CPU.
    """

    wall_ns: int
    user_ns: int
    system_ns: int
    peak_rss_bytes: int
    peak_rss_floor_bytes: int
    returncode: int
    timed_out: str
    output_tail: str
    count: int | None = None
    uncounted: str = ""
    overflowed: bool = False
    first_thread_ns: int | None = None
    waited_for_cpu_ns: int | None = None
    shared_cpu: bool = False

    def __post_init__(self) -> None:
        for name in ("wall_ns", "user_ns", "system_ns"):
            if getattr(self, name) < 0:
                raise MeasureError(
                    f"a clock went backwards: {name} is {getattr(self, name)}",
                    hint="The clock is not reliable: measure again, or on another machine.",
                )

    @property
    def cpu_ns(self) -> int:
        """CPU time, including children that it waited for."""
        return self.user_ns + self.system_ns

    @property
    def time_ns(self) -> int:
        """What it took: without waiting for the CPU that it shared with the other arm.

        How long several threads waited for it is not known: then it is the CPU time.
        """
        if not self.shared_cpu:
            return self.wall_ns
        return self._undisturbed_ns if self.is_one_thread else self.cpu_ns

    @property
    def is_one_thread(self) -> bool:
        """Whether its first thread is known to have done all of its work."""
        return self.first_thread_ns is not None and not self.is_several_threads

    @property
    def is_several_threads(self) -> bool:
        """Whether other threads or processes are known to have done a part of its work."""
        return self.first_thread_ns is not None and self.first_thread_ns < _ONE_THREAD * self.cpu_ns

    @property
    def waiting_ratio(self) -> float:
        """The part of its time, waiting for a CPU left out, in which it did not compute.

        Of several threads, how long the others waited for a CPU counts, because it is not known.
        """
        return 1 - self.cpu_ns / self._undisturbed_ns

    @property
    def _undisturbed_ns(self) -> int:
        return max(self.wall_ns - (self.waited_for_cpu_ns or 0), self.cpu_ns, 1)


def trouble_with(execution: Execution, ok_exit_codes: frozenset[int]) -> str | None:
    """What went wrong: one line and the output's tail; None if nothing did."""
    code = execution.returncode
    if execution.timed_out:
        line = execution.timed_out
    elif execution.overflowed:
        line = f"printed more than {format_value(MOST_OUTPUT_BYTES, 'B')}"
    elif code in ok_exit_codes:
        return None
    elif code < 0:
        line = f"killed by {signal_name(-code)}"
    else:
        allowed = ", ".join(map(str, sorted(ok_exit_codes)))
        line = f"exited with {code} (allowed: {allowed})"
    return f"{line}\n{execution.output_tail}".rstrip()


_METRICS: tuple[tuple[Metric, Callable[[Execution], float]], ...] = (
    (TIME, lambda execution: execution.time_ns / 1e9),
    (CPU_TIME, lambda execution: execution.cpu_ns / 1e9),
    (PEAK_RSS, lambda execution: execution.peak_rss_bytes),
)


def measured_in(samples: list[Execution], warmup: list[Execution]) -> tuple[Series, ...]:
    """Return the metrics of a burst's executions."""
    measured = [
        Series.of_launch(
            metric,
            np.array([value(execution) for execution in samples], dtype=np.float64),
            np.array([value(execution) for execution in warmup], dtype=np.float64),
        )
        for metric, value in _METRICS
    ]
    if all(execution.count is not None for execution in samples):
        counts = _counts(samples), _counts(warmup)
        measured.append(Series.of_launch(INSTRUCTIONS, *counts, counter=PERF))
    return tuple(measured)


def _counts(executions: list[Execution]) -> FloatArray:
    counts = [execution.count for execution in executions if execution.count is not None]
    return np.array(counts, dtype=np.float64)


def notes_on(samples: list[Execution]) -> tuple[str, ...]:
    """Return notes that a reader of the metrics must see."""
    return (*_memory_notes(samples), *_count_notes(samples))


def _memory_notes(samples: list[Execution]) -> tuple[str, ...]:
    floor_bytes = max(execution.peak_rss_floor_bytes for execution in samples)
    if all(execution.peak_rss_bytes > floor_bytes for execution in samples):
        return ()
    return (f"{PEAK_RSS.name}: values below {format_value(floor_bytes, 'B')} cannot be told apart",)


def _count_notes(samples: list[Execution]) -> tuple[str, ...]:
    reasons = dict.fromkeys(execution.uncounted for execution in samples if execution.uncounted)
    return tuple(f"{INSTRUCTIONS.name}: {reason}" for reason in reasons)
