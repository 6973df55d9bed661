"""What was measured of one commit: a run, its benchmarks, and every sample of them.

Values are in base units (s, B, counts). Arrays are float64, one-dimensional and in the
order in which they were measured; nobody changes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, Self, TypeVar

import numpy as np
from pydantic import AfterValidator, FailFast, Field, field_serializer, model_validator
from pydantic_core import CoreSchema, core_schema

from benchgate.json_object import (
    Count,
    JsonObject,
    Name,
    Positive,
    Text,
    Timestamp,
    misplaced,
)
from benchgate.model.calls import CallTree
from benchgate.model.environment import Environment
from benchgate.model.launch_table import LARGEST, Launch, LaunchTable, all_values, per_unit_of
from benchgate.model.load import LoadResult
from benchgate.model.metrics import Metric, TimeUnit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pydantic import GetCoreSchemaHandler

    from benchgate.arrays import FloatArray


PYTHON = "python"
"""The name, among the toolchains, of the interpreter that runs Python benchmarks."""


def where(launches: Sequence[Launch], index: int) -> tuple[int | str, ...]:
    """The place of one of `all_values`, such as `[3].samples[12]`."""
    for number, launch in enumerate(launches):
        for key, part in (("warmup", launch.warmup), ("samples", launch.samples)):
            if index < part.size:
                return number, key, index
            index -= part.size
    raise IndexError(index)


class AsTable:
    """Reads launches from a `LaunchTable`. Whoever has them says how they become one again."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(
                LaunchTable.launches, handler.generate_schema(LaunchTable)
            ),
            python_schema=core_schema.no_info_plain_validator_function(_storable),
        )


def _storable(launches: Sequence[Launch]) -> Sequence[Launch]:
    """Launches that are about to be written."""
    for index, launch in enumerate(launches):
        for key in ("warmup", "samples"):
            values = getattr(launch, key)
            if values.ndim != 1 or (key == "samples" and not values.size):
                raise misplaced(f"an array of shape {values.shape} holds no samples", index, key)
        for key in ("round", "order", "lane"):
            if (getattr(launch, key) or 0) < 0:
                raise misplaced(f"{getattr(launch, key)} is negative", index, key)
    return launches


MAX_ROUND_S = 1e9
"""Thirty years: a file with a larger value is damaged or made up."""

MAX_BENCHMARKS = 100_000
"""Most benchmarks of one arm: ten times as many as in a large suite."""

CANARY_ID = "benchgate/canary/loop"
FILES_CANARY_ID = "benchgate/canary/files"
CANARY_IDS = frozenset({CANARY_ID, FILES_CANARY_ID})
"""Ids of the fixed workloads that are measured beside the user's benchmarks."""

NEW_VERSION: Final = " (new version)"
"""Ends the id of a result of the head's version of a benchmark whose base's version decides."""

CHANGED_FILES_ID = "benchgate/files"
"""Stands for changed files, and fails if protected files changed; it is not a benchmark."""


def _distinct(place: str) -> AfterValidator:
    """Refuses a tuple in which two objects have the same text at `place`."""
    text_of, steps = attrgetter(place), place.split(".")

    def check(objects: tuple[Any, ...]) -> tuple[Any, ...]:
        first: dict[str, int] = {}
        for index, text in enumerate(map(text_of, objects)):
            if text in first:
                message = f"{text!r} is there already, at index {first[text]}"
                raise misplaced(message, index, *steps)
            first[text] = index
        return objects

    return AfterValidator(check)


class Tier(StrEnum):
    """How the launches of the two arms were measured together; says how far to trust them."""

    LOCKSTEP = "lockstep"
    INTERLEAVED = "interleaved"
    SUITE = "suite"
    STORED = "stored"


class Status(StrEnum):
    """Whether a benchmark ran.

    `SAME_CODE`: neither side was measured, because it runs nothing that differs between them.
    """

    OK = "ok"
    FAILED = "failed"
    SAME_CODE = "same code"


class BenchmarkFiles(StrEnum):
    """Whose benchmark files a launch ran with; own: each side with its own."""

    BASE = "base"
    HEAD = "head"
    OWN = "own"


@dataclass(frozen=True, slots=True, eq=False)
class Series(JsonObject):
    """One metric of one benchmark, launch by launch.

    Attributes:
        loops: operations in one sample; the sample is their mean.
        launches: by ascending round.
        counter: what counted the values, one of `metrics.COUNTERS`; "" if nothing is known of it.
    """

    metric: Metric
    loops: Positive
    launches: Annotated[tuple[Launch, ...], AsTable()]
    counter: Text = ""

    @classmethod
    def of_launch(
        cls,
        metric: Metric,
        samples: FloatArray,
        warmup: FloatArray,
        *,
        loops: int = 1,
        counter: str = "",
    ) -> Self:
        """One launch, whose place among others its recorder adds."""
        return cls(metric, loops, (Launch(0, 0, samples, warmup),), counter)

    @classmethod
    def single(cls, metric: Metric, value: float, *, loops: int = 1, counter: str = "") -> Self:
        """One launch that has one value and no warm-up."""
        values = np.array([value], np.float64)
        return cls.of_launch(metric, values, np.empty(0), loops=loops, counter=counter)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the values must know."""
        return (f"counted by {self.counter}",) if self.counter else ()

    @field_serializer("launches")
    def _as_table(self, launches: tuple[Launch, ...]) -> LaunchTable:
        return LaunchTable.of(launches, per_unit_of(self.metric.unit, self.loops))

    @model_validator(mode="after")
    def _values_are_plausible(self) -> Self:
        values = all_values(self.launches)
        is_time = self.metric.unit == "s"
        plausible = np.abs(values) <= LARGEST
        if is_time:
            plausible &= values >= 0
        if not plausible.all():
            worst = int(plausible.argmin())
            message = _implausible(float(values[worst]))
            raise misplaced(message, "launches", *where(self.launches, worst))
        return self

    @model_validator(mode="after")
    def _rounds_ascend(self) -> Self:
        rounds = [launch.round for launch in self.launches]
        for index in range(1, len(rounds)):
            if rounds[index] <= rounds[index - 1]:
                message = f"round {rounds[index]} comes after round {rounds[index - 1]}"
                raise misplaced(message, "launches", index, "round")
        return self


def _implausible(value: float) -> str:
    if not math.isfinite(value):
        return f"{value} is not a finite number"
    if abs(value) > LARGEST:
        return f"{value} is beyond what can be measured"
    return f"{value} is negative, which a time cannot be"


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkResult(JsonObject):
    """All that was measured on one benchmark.

    Attributes:
        id: stable across commits, `group/name[param=value]`.
        workload: hash of the benchmark's definition: two runs with different hashes measured
            different work.
        tier: how it was measured.
        status: failed if any launch of it failed; `error` then says why.
        error: one line, then the tail of its output; None if it did not fail.
        of_all: whether the failure makes the numbers of both arms meaningless, whichever it was.
        series: one per metric.
        notes: what a reader of its numbers must know, such as "not pinned: no support". A note
            about one metric begins with the metric's name, "peak_rss: ...".
        location: `path:line` of its definition, relative to the tree; None if unknown.
        display_unit: the unit in which its author wants times shown.
        parts: digest of each part that `workload` is made of, by a name for people. It may be
            empty.
        round_s: how long its last round took on all arms, including what had to be started and set
            up; its share if a suite was run for several benchmarks; None if unknown.
        load: the load and its course, if it is a step of a scenario; else None.
        files: whose benchmark files it ran with.
        new_version_of: the id of the benchmark that this is the head's version of, if the base's
            version decides: its figures are only shown. Its own id is that id and `NEW_VERSION`.
        calls: what it calls, by metric, if that was observed to explain a change.
        uses_files: whether it may have read or written files while it was timed.
    """

    id: Name
    workload: Text
    tier: Tier
    series: Annotated[tuple[Series, ...], FailFast(), _distinct("metric.name")] = ()
    status: Status = Status.OK
    error: Text | None = None
    notes: tuple[Text, ...] = ()
    location: Text | None = None
    display_unit: TimeUnit | None = None
    parts: dict[Text, Text] = field(default_factory=dict)
    round_s: Annotated[float, Field(ge=0, le=MAX_ROUND_S)] | None = None
    load: LoadResult | None = None
    of_all: bool = False
    files: BenchmarkFiles = BenchmarkFiles.OWN
    new_version_of: Text | None = None
    calls: dict[Text, CallTree] = field(default_factory=dict)
    uses_files: bool = True

    @model_validator(mode="after")
    def _same_code_is_not_measured(self) -> Self:
        if self.status is Status.SAME_CODE:
            if self.series:
                raise misplaced("what runs the same code was not measured", "series")
            if self.error is not None:
                raise misplaced("what runs the same code was not run, so it did not fail", "error")
        return self


MOST_CHANGED: Final = 100
"""Most files that a source names as changed."""


@dataclass(frozen=True, slots=True)
class Source(JsonObject):
    """The code that was measured.

    Attributes:
        sha: commit; None outside of git.
        ref: the name that was used to ask for it; None if there is none.
        dirty: whether it includes uncommitted changes of tracked files.
        content: digest of all of its files if it includes anything that is in no commit; "" if the
            commit tells it, or if it is unknown.
        why: for a base, why it was chosen; for the results of another tool, which files they come
            from; otherwise "".
        untracked: how many new files, which git does not track, it includes.
        changed_files: for a head, the first of the files that differ from the base, most changed
            lines first, without documents; empty if they are not known.
    """

    sha: Text | None = None
    ref: Text | None = None
    dirty: bool = False
    why: Text = ""
    untracked: Count = 0
    content: Text = ""
    changed_files: tuple[Text, ...] = ()

    @property
    def uncommitted(self) -> bool:
        """Whether it includes anything that is in no commit."""
        return self.dirty or self.untracked > 0


@dataclass(frozen=True, slots=True, eq=False)
class Run(JsonObject):
    """All that was measured for one commit in one job.

    Attributes:
        started: UTC, ISO 8601 with a trailing Z.
        seed: determines every random choice of the run.
        complete: False while rounds are still to come, and if it was interrupted.
        full_rounds: how many rounds were measured to their end; an interrupted check goes on after
            these. 0 if that is unknown.
        screen_rounds: how many of the first rounds were the screen; needed to recompute a verdict
            from the file.
        until_decided: whether measuring went on until every row was decided; needed likewise.
        is_mixed: whether it was joined from shards, or from files of another tool, of machines that
            differ; `environment` then has only what these machines have in common.
        files: whose benchmark files the benchmarks that decide ran with.
    """

    source: Source
    started: Timestamp
    suite: Text = field(default="default", kw_only=True)
    seed: int = field(default=0, kw_only=True)
    complete: bool = field(default=True, kw_only=True)
    full_rounds: Count = field(default=0, kw_only=True)
    screen_rounds: Count = field(default=0, kw_only=True)
    until_decided: bool = field(default=False, kw_only=True)
    is_mixed: bool = field(default=False, kw_only=True)
    files: BenchmarkFiles = field(default=BenchmarkFiles.OWN, kw_only=True)
    environment: Environment
    benchmarks: Annotated[
        tuple[BenchmarkResult, ...],
        FailFast(),
        Field(max_length=MAX_BENCHMARKS),
        _distinct("id"),
    ]

    @property
    def of_project(self) -> tuple[BenchmarkResult, ...]:
        """Its benchmarks, without benchgate's own, and without new versions, only shown."""
        return tuple(
            one
            for one in self.benchmarks
            if one.id not in CANARY_IDS and one.new_version_of is None
        )

    def differences(self, other: Run) -> tuple[str, ...]:
        """Why the machines of two runs cannot be compared, one phrase for each reason."""
        if self.is_mixed or other.is_mixed:
            return ("the parts of one of them ran on machines that differ",)
        return self.environment.differences(other.environment)


class _OfARound(Protocol):
    @property
    def round(self) -> int: ...


L = TypeVar("L", bound=_OfARound)


def before_round(launches: Iterable[L], end: int) -> tuple[L, ...]:
    return tuple(launch for launch in launches if launch.round < end)


def renamed(
    base: Collection[str], head: Collection[str], aliases: Mapping[str, str]
) -> Mapping[str, str]:
    """Map the base's id to the head's id, for each benchmark that an alias joins.

    An alias joins two ids only if the old id is in the base alone and the new id in the head
    alone.

    Args:
        base, head: the ids of each arm.
        aliases: old id to new id.
    """
    return {
        old: new
        for old, new in aliases.items()
        if old in base and old not in head and new in head and new not in base
    }


LEAST_COUNTED_ROUNDS: Final = 5
"""Rounds that a change of the instructions needs: as many as a screen has.

With a spread as wide as the tolerance, five random rounds agree and lie beyond it in less than one
of a thousand rows.
"""
