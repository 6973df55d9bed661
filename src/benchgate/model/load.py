"""What a scenario records of each step beside its metrics: the load, and each launch under it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, FailFast, Field, model_validator

from benchgate.json_object import Count, JsonObject, Name, NotNegative, Positive, Text, misplaced

MOST_ERRORS_KEPT = 50
"""Errors of a step whose text is kept in each launch; the others are only counted."""

MOST_WINDOWS = 3600
"""Time windows of a launch; if it runs longer, the windows are wider than a second."""

MOST_GROUPS = 10_000
"""Processes that the workers of a launch ran in: no more than there may be workers."""

_MOST_SETTINGS = 10_000
_MOST_LIMITS = 100
_PERCENTILES = ("p50_ns", "p95_ns", "p99_ns")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def _base64(text: str) -> str:
    if not _BASE64.fullmatch(text):
        raise misplaced("is not base64")
    return text


Packed = Annotated[str, Field(max_length=1_000_000), AfterValidator(_base64)]
"""Numbers as base64; whoever decodes them finds out whether they make sense."""


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

    @model_validator(mode="after")
    def _are_the_same_windows(self) -> Self:
        for key in ("errors", *_PERCENTILES):
            if len(getattr(self, key)) != len(self.ops):
                message = f"{len(getattr(self, key))} values for {len(self.ops)} windows"
                raise misplaced(message, key)
        for key in _PERCENTILES:
            for index, (ops, value) in enumerate(zip(self.ops, getattr(self, key), strict=True)):
                if (value is None) is not (ops == 0):
                    message = f"{value} cannot be a percentile of {ops} operations"
                    raise misplaced(message, key, index)
        if self.last_s > self.width_s:
            raise misplaced(f"{self.last_s} is wider than the other windows", "last_s")
        return self


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

    groups: Annotated[tuple[WorkerGroup, ...], FailFast(), Field(max_length=MOST_GROUPS)]
    start_spread_s: NotNegative
    late_p99_s: NotNegative | None
    limits: Annotated[tuple[Text, ...], Field(max_length=_MOST_LIMITS)] = ()


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
        turn_s: how long each turn took, if it took turns with the launch of the other arm; None if
            it ran alone.
    """

    round: Count
    duration_s: Annotated[float, Field(gt=0)]
    ops: Count
    errors: Count
    kept_errors: Annotated[tuple[KeptError, ...], Field(max_length=MOST_ERRORS_KEPT)]
    histogram: Packed
    sample: Packed
    windows: Windows
    generator: Generator
    unfinished: Count = 0
    turn_s: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        for key in ("ops", "errors"):
            whole, parts = getattr(self, key), getattr(self.windows, key)
            if sum(parts) != whole:
                raise misplaced(f"{whole} is not the sum of the windows, {sum(parts)}", key)
        if len(self.kept_errors) > self.errors:
            message = f"more errors than the {self.errors} that were counted"
            raise misplaced(message, "kept_errors")
        return self


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
    workers: Positive
    rate: NotNegative
    server: Annotated[dict[Text, Text], Field(max_length=_MOST_SETTINGS)] = field(
        default_factory=dict
    )
    launches: Annotated[tuple[LoadLaunch, ...], FailFast()] = ()

    @model_validator(mode="after")
    def _rounds_ascend(self) -> Self:
        rounds = [launch.round for launch in self.launches]
        for index in range(1, len(rounds)):
            if rounds[index] <= rounds[index - 1]:
                message = f"round {rounds[index]} comes after round {rounds[index - 1]}"
                raise misplaced(message, "launches", index, "round")
        return self
