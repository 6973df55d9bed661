"""What a scenario records of each step beside its metrics: the load, and each launch under it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import FailFast, Field

from benchgate.json_object import Count, JsonObject, Name, NotNegative, Text

MOST_ERRORS_KEPT = 50
"""Errors of a step whose text is kept in each launch; the others are only counted."""

MOST_WINDOWS = 3600
"""Time windows of a launch; if it runs longer, the windows are wider than a second."""


class Loop(StrEnum):
    """When a worker begins its next operation.

    In a closed loop it is when the operation before has ended, so the times are service times. In
    an open loop it is when the operation is due, and its time begins then.
    """

    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class KeptError(JsonObject):
    """An error of an operation.

    Attributes:
        at_s: when it happened, since the measured time began.
        text: one line, without passwords.
    """

    at_s: NotNegative
    text: Text


@dataclass(frozen=True, slots=True)
class Windows(JsonObject):
    """A step over time: one entry of each list for each window, also for empty ones.

    Attributes:
        width_s: of each window; an operation counts in the window in which it ended, and in the
            last one if that was after the end.
        last_s: width of the last window, which may be cut short.
        ops: operations that ended well.
        errors: operations that failed.
        p50_ns, p95_ns, p99_ns: percentiles of the latencies in ns; None if nothing ended well.
    """

    width_s: Annotated[float, Field(gt=0)]
    last_s: NotNegative
    ops: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_WINDOWS)]
    errors: Annotated[tuple[Count, ...], FailFast()]
    p50_ns: Annotated[tuple[Count | None, ...], FailFast()]
    p95_ns: Annotated[tuple[Count | None, ...], FailFast()]
    p99_ns: Annotated[tuple[Count | None, ...], FailFast()]


@dataclass(frozen=True, slots=True)
class WorkerGroup(JsonObject):
    """Workers that shared a process.

    Attributes:
        place: where it ran: "here", or the address of a cluster's worker.
        workers: how many they were.
        cpu_ratio: CPU time of the process per second of the measured time; 1.0 is one whole CPU.
        clock_offset_s: how far its clock was ahead of that of the coordinator; 0.0 on one machine.
        clock_error_s: how far that offset may be off, at most.
        lost: why its records are missing; None if they are not.
    """

    place: Name
    workers: Count
    cpu_ratio: NotNegative
    clock_offset_s: float = 0.0
    clock_error_s: NotNegative = 0.0
    lost: Text | None = None


@dataclass(frozen=True, slots=True)
class Generator(JsonObject):
    """How the load generator itself did; all steps of a launch have the same.

    Attributes:
        groups: the processes that its workers ran in.
        start_spread_s: time from the first start of a worker to the last one.
        late_p99_s: 99th percentile of how late free workers began operations that were due; None
            for a closed loop.
        limits: why the generator, not the target, may have limited the load, a sentence each.
    """

    groups: tuple[WorkerGroup, ...]
    start_spread_s: NotNegative
    late_p99_s: NotNegative | None
    limits: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadLaunch(JsonObject):
    """What one step did in one launch.

    Attributes:
        round: that of the launches of its metrics.
        duration_s: the measured time, without the warm-up.
        ops: operations that began in the measured time, or were due in it, and ended well.
        errors: operations that failed, or did not end.
        kept_errors: the first errors, at most MOST_ERRORS_KEPT.
        histogram: of the latencies in ns of `ops` and `unfinished`, in HdrHistogram's compressed
            form V2, as base64.
        sample: a random sample of the same latencies, see `stats.packed`.
        windows: its course over time.
        unfinished: in an open loop, operations that were due, but for which no worker was free
            until the end; each counts in the histogram with the time that it had waited.
    """

    round: Count
    duration_s: Annotated[float, Field(gt=0)]
    ops: Count
    errors: Count
    kept_errors: Annotated[tuple[KeptError, ...], Field(max_length=MOST_ERRORS_KEPT)]
    histogram: Annotated[str, Field(max_length=1_000_000)]
    sample: Annotated[str, Field(max_length=1_000_000)]
    windows: Windows
    generator: Generator
    unfinished: Count = 0


@dataclass(frozen=True, slots=True)
class LoadResult(JsonObject):
    """The load of one step of a scenario.

    Attributes:
        scenario: name of the scenario.
        target: name of its target.
        step: name of the step.
        loop: whether latencies are service times (closed) or begin when an operation was due.
        workers: how many worked at once, at most.
        rate: operations per second of all steps together, at most; 0 for a closed loop.
        server: version and settings of the target, by name; empty unless it was asked for.
        launches: by ascending round.
    """

    scenario: Name
    target: Name
    step: Name
    loop: Loop
    workers: Annotated[int, Field(ge=1)]
    rate: NotNegative
    server: dict[Text, Text] = field(default_factory=dict)
    launches: Annotated[tuple[LoadLaunch, ...], FailFast()] = ()
