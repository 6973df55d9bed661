"""What was measured of one commit: a run, its machine, its benchmarks, and every sample of them.

Values are in base units (s, B, counts). Arrays are float64, one-dimensional and in the
order in which they were measured; nobody changes them.

Values are in base units (s, B, counts). Arrays are float64, one-dimensional and in the
order in which they were measured; nobody changes them.
"""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, FailFast, Field, field_serializer, model_validator
from pydantic_core import CoreSchema, core_schema

from benchgate.json_object import (
    MOST_COUNTED,
    Count,
    JsonObject,
    Name,
    NotNegative,
    Positive,
    Text,
    Timestamp,
    misplaced,
)
from benchgate.model.calls import CallTree
from benchgate.model.load import LoadResult
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pydantic import GetCoreSchemaHandler

    from benchgate.arrays import FloatArray


PYTHON = "python"
"""The name, among the toolchains, of the interpreter that runs Python benchmarks."""


@dataclass(frozen=True, slots=True)
class Environment(JsonObject):
    """The machine that a run was measured on. What the OS does not tell is null or empty.

    Attributes:
        os: name and release of the distribution or OS, e.g. "Debian GNU/Linux 12".
        kernel: e.g. "Linux 6.1.0".
        machine: the architecture, such as "x86_64".
        cpu_model: as the OS names it.
        cpu_flags_hash: short hash of the CPU's feature flags.
        cpu_count: logical CPUs that this process may use.
        memory_bytes: physical memory.
        governor: CPU frequency governor of the first CPU.
        turbo: whether the CPU may exceed its base clock.
        virtualization: name of the hypervisor or container; "" if none was detected.
        runner_image: image of the hosted CI runner.
        load_average: of the last minute before the run started.
        busy_elsewhere: how many of the CPUs other programs kept busy, on average, while the run
            was measured.
        python: version of the interpreter that runs benchgate.
        toolchains: versions of the user's tools by name, such as {"python": "3.12.1"}.
        timer_cost_ns: time to read the clock in the interpreter that runs Python benchmarks; if
            there are several, in the slowest. None if there is none.
        timer_resolution_ns: smallest step seen of that clock; None also if no step was seen.
    """

    os: Text = ""
    kernel: Text = ""
    machine: Text = ""
    cpu_model: Text = ""
    cpu_flags_hash: Text = ""
    cpu_count: Count = 0
    memory_bytes: Count | None = None
    governor: Text | None = None
    turbo: bool | None = None
    virtualization: Text = ""
    runner_image: Text | None = None
    load_average: float | None = None
    busy_elsewhere: NotNegative | None = None
    python: Text = ""
    toolchains: dict[Text, Text] = field(default_factory=dict)
    timer_cost_ns: NotNegative | None = None
    timer_resolution_ns: Annotated[float, Field(gt=0)] | None = None

    def differences(self, other: Environment) -> tuple[str, ...]:
        """Why two runs cannot be compared: one phrase for each of CPU, cores, OS and toolchain."""
        return (*self.other_machine(other), *self.other_tools(other))

    def other_machine(self, other: Environment) -> tuple[str, ...]:
        """How the machines differ, in what both environments tell."""
        return _unlike(
            ("CPU", self.cpu_model, other.cpu_model),
            ("architecture", self.machine, other.machine),
            ("cores", str(self.cpu_count or ""), str(other.cpu_count or "")),
            ("OS", self.os, other.os),
            ("runner image", self.runner_image or "", other.runner_image or ""),
        )

    def other_tools(self, other: Environment) -> tuple[str, ...]:
        """How the toolchains differ, in those that both environments have."""
        both = sorted(self.toolchains.keys() & other.toolchains.keys())
        return _unlike(*((name, self.toolchains[name], other.toolchains[name]) for name in both))

    def completed(self, other: Environment) -> Environment:
        """The same machine, with what only the other description of it tells."""
        told = {
            one.name: getattr(self, one.name) or getattr(other, one.name)
            for one in fields(Environment)
        }
        return Environment(**told | {"toolchains": other.toolchains | self.toolchains})


def _unlike(*compared: tuple[str, str, str]) -> tuple[str, ...]:
    return tuple(f"{what}: {a!r} and {b!r}" for what, a, b in compared if a and b and a != b)


def in_common(environments: Sequence[Environment]) -> Environment:
    """The values on which all environments (at least one) agree; the rest becomes unknown."""
    first, *others = environments
    agreed = {
        one.name: getattr(first, one.name)
        for one in fields(Environment)
        if all(getattr(other, one.name) == getattr(first, one.name) for other in others)
    }
    toolchains = {
        name: version
        for name, version in first.toolchains.items()
        if all(other.toolchains.get(name) == version for other in others)
    }
    return Environment(**agreed | {"toolchains": toolchains})


def _is_time_unit(unit: str) -> str:
    if unit not in TIME_UNITS:
        raise misplaced(f"{unit!r} is none of {', '.join(TIME_UNITS)}")
    return unit


TimeUnit: TypeAlias = Annotated[Text, AfterValidator(_is_time_unit)]
"""The unit in which the author of a benchmark wants times shown."""

LARGEST = 1e150
"""A larger sample is damage: its square, or the sum of many, would overflow."""

MOST_VALUES: Final = 10_000_000
"""Most values of a series."""

_FLOAT_BYTES: Final = 8
_NS: Final = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """The samples of one fresh process: the unit of independence.

    Attributes:
        round: the pass in which it was measured, from 0; launches of both arms with the
            same round were measured in turn.
        order: this arm's position in the round; 0 for the arm that was started first.
        samples: shape (n,), n >= 1, in the metric's unit, per operation.
        warmup: shape (k,), the samples that were taken before and discarded.
        lane: number of the lane in which it was measured while others were measured in other
            lanes, from 0; None if nothing else was measured at the same time.
    """

    round: int
    order: int
    samples: FloatArray
    warmup: FloatArray
    lane: int | None = None


@dataclass(frozen=True, slots=True)
class LaunchTable(JsonObject):
    """The launches of a series in a file: columns with one entry for each launch.

    Attributes:
        round, order, lane: see `Launch`.
        warmup, samples: how many values the launch has of each.
        per_unit: `values` are whole numbers, and each of them divided by this is in the metric's
            unit; None if they are float64 in the metric's unit.
        values: of each launch in turn its warm-up and then its samples, as the base64 of bytes:
            first the lowest byte of every value, then the next higher byte of every value, and so
            on. A whole number has one to eight of them.
    """

    round: Annotated[tuple[Count, ...], FailFast()]
    order: Annotated[tuple[Count, ...], FailFast()]
    lane: Annotated[tuple[Count | None, ...], FailFast()]
    warmup: Annotated[tuple[Count, ...], FailFast()]
    samples: Annotated[tuple[Annotated[int, Field(ge=1)], ...], FailFast()]
    per_unit: Annotated[float, Field(ge=1e-9, le=LARGEST)] | None
    values: Annotated[str, Field(max_length=_FLOAT_BYTES * MOST_VALUES * 4 // 3 + 4)]

    @classmethod
    def of(cls, launches: Sequence[Launch], per_unit: float) -> Self:
        """Make the table of launches.

        Args:
            per_unit: the values are stored as whole numbers if they are multiples of its inverse.
        """
        per_unit_used, values = _packed(all_values(launches), per_unit)
        return cls(
            round=tuple([launch.round for launch in launches]),
            order=tuple([launch.order for launch in launches]),
            lane=tuple([launch.lane for launch in launches]),
            warmup=tuple([launch.warmup.size for launch in launches]),
            samples=tuple([launch.samples.size for launch in launches]),
            per_unit=per_unit_used,
            values=values,
        )

    def launches(self) -> tuple[Launch, ...]:
        """The launches."""
        for name in ("order", "lane", "warmup", "samples"):
            if len(getattr(self, name)) != len(self.round):
                raise misplaced("must have as many entries as `round`", name)
        count = sum(self.warmup) + sum(self.samples)
        if count > MOST_VALUES:
            raise misplaced(f"more than {MOST_VALUES} values are the limit of a series", "samples")
        values = self._unpacked(count)
        counts = chain.from_iterable(zip(self.warmup, self.samples, strict=True))
        bounds = list(accumulate(counts, initial=0))
        columns = zip(
            *(self.round, self.order, self.lane),
            *(bounds[:-1:2], bounds[1::2], bounds[2::2]),
            strict=True,
        )
        return tuple(
            [
                Launch(round_, order, values[middle:end], values[begin:middle], lane)
                for round_, order, lane, begin, middle, end in columns
            ]
        )

    def _unpacked(self, count: int) -> FloatArray:
        """The values, read-only.

        Args:
            count: how many there must be.
        """
        try:
            data = base64.b64decode(self.values, validate=True)
        except (binascii.Error, ValueError):
            raise misplaced("is not base64", "values") from None
        width = len(data) // count if count else 0
        widths = range(_FLOAT_BYTES if self.per_unit is None else 1, _FLOAT_BYTES + 1)
        if len(data) != width * count or (count and width not in widths):
            message = f"holds {len(data)} bytes, which are not those of {count} values"
            raise misplaced(message, "values")
        bytes_ = np.zeros((count, _FLOAT_BYTES), dtype=np.uint8)
        bytes_[:, :width] = np.frombuffer(data, dtype=np.uint8).reshape(width, count).T
        if self.per_unit is None:
            values = bytes_.view("<f8").reshape(count).astype(np.float64)
        else:
            values = bytes_.view("<u8").reshape(count) / self.per_unit
        values.setflags(write=False)
        return values


def all_values(launches: Sequence[Launch]) -> FloatArray:
    """The values of launches, shape (n,): of each in turn its warm-up and then its samples."""
    if not launches:
        return np.empty(0)
    return np.concatenate([part for one in launches for part in (one.warmup, one.samples)])


def where(launches: Sequence[Launch], index: int) -> tuple[int | str, ...]:
    """The place of one of `all_values`, such as `[3].samples[12]`."""
    for number, launch in enumerate(launches):
        for key, part in (("warmup", launch.warmup), ("samples", launch.samples)):
            if index < part.size:
                return number, key, index
            index -= part.size
    raise IndexError(index)


def per_unit_of(unit: str, loops: int) -> float:
    """How many of the smallest steps that are measured are one unit: a clock counts ns.

    Args:
        loops: operations that one step is the sum of.
    """
    return _NS * loops if unit == "s" else 1.0


def _packed(values: FloatArray, per_unit: float) -> tuple[float | None, str]:
    with np.errstate(over="ignore", invalid="ignore"):
        counts = np.rint(values * per_unit)
        are_whole = bool(
            np.all((counts >= 0) & (counts < MOST_COUNTED) & (counts / per_unit == values))
        )
    if not are_whole:
        return None, _in_planes(values.astype("<f8"), _FLOAT_BYTES)
    width = (int(counts.max(initial=1)).bit_length() + 7) // 8
    return per_unit, _in_planes(counts.astype("<u8"), width)


def _in_planes(values: np.ndarray[Any, Any], width: int) -> str:
    bytes_ = values.view(np.uint8).reshape(-1, _FLOAT_BYTES)
    return base64.b64encode(bytes_.T[:width].tobytes()).decode("ascii")


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


class Better(StrEnum):
    """The direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Kind(StrEnum):
    """What a metric's values are: repeated samples, exact counts, or a summary of lost samples."""

    SAMPLED = "sampled"
    EXACT = "exact"
    SUMMARY = "summary"


class Tier(StrEnum):
    """How the launches of the two arms were measured together; says how far to trust them."""

    LOCKSTEP = "lockstep"
    INTERLEAVED = "interleaved"
    SUITE = "suite"
    STORED = "stored"


class Status(StrEnum):
    """Whether a benchmark ran."""

    OK = "ok"
    FAILED = "failed"


class BenchmarkFiles(StrEnum):
    """Whose benchmark files a launch ran with; own: each side with its own."""

    BASE = "base"
    HEAD = "head"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Metric(JsonObject):
    """A quantity measured on a benchmark."""

    name: Name
    unit: Text
    better: Better = Better.LOWER
    kind: Kind = Kind.SAMPLED


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
    """Map the head's id to the base's id, for each benchmark that an alias joins.

    An alias joins two ids only if the old id is in the base alone and the new id in the head
    alone.

    Args:
        base, head: the ids of each arm.
        aliases: old id to new id.
    """
    return {
        new: old
        for old, new in aliases.items()
        if old in base and old not in head and new in head and new not in base
    }


TIME = Metric("time", "s")
CPU_TIME = Metric("cpu_time", "s")
PEAK_RSS = Metric("peak_rss", "B")
ALLOC_PEAK = Metric("alloc_peak", "B", kind=Kind.EXACT)
ALLOC_BLOCKS = Metric("alloc_blocks", "", kind=Kind.EXACT)
INSTRUCTIONS = Metric("instructions", "", kind=Kind.EXACT)


def observed_as(metric: str, unit: str) -> str:
    """What is observed of each call to explain a change of a metric; "" if nothing can be.

    Where a function takes more instructions, it also takes more time.
    """
    if unit == TIME.unit or metric == INSTRUCTIONS.name:
        return TIME.name
    return metric if metric in {ALLOC_PEAK.name, ALLOC_BLOCKS.name} else ""


PERF: Final = "perf"
VALGRIND: Final = "valgrind"
COUNTERS: Final = frozenset({PERF, VALGRIND})
"""What counts instructions: the counters of the processor, or a program that imitates it."""
LEAST_COUNTED_ROUNDS: Final = 5
"""Rounds that a change of the instructions needs: as many as a screen has.

With a spread as wide as the tolerance, five random rounds agree and lie beyond it in less than one
of a thousand rows.
"""

THROUGHPUT = Metric("throughput", "1/s", better=Better.HIGHER)
TIME_P50 = Metric("time_p50", "s")
TIME_P95 = Metric("time_p95", "s")
TIME_P99 = Metric("time_p99", "s")
TIME_P999 = Metric("time_p99.9", "s")
ERROR_RATIO = Metric("error_ratio", "", kind=Kind.EXACT)

MEASURED: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (TIME, CPU_TIME, PEAK_RSS, ALLOC_PEAK, ALLOC_BLOCKS, INSTRUCTIONS)
}
"""The metrics of functions and programs, by name."""
UNDER_LOAD: Final = (
    *(THROUGHPUT, TIME_P50, TIME_P95, TIME_P99, TIME_P999),
    ERROR_RATIO,
)
"""The metrics of a step of a scenario, one value for each launch."""
DECIDE_UNDER_LOAD: Final = (THROUGHPUT, TIME_P50, TIME_P95, ERROR_RATIO)
"""Those that decide unless the configuration names others. Higher percentiles vary too much."""
OWN: Final[Mapping[str, Metric]] = {**MEASURED, **{metric.name: metric for metric in UNDER_LOAD}}
"""All metrics of benchgate, by name."""
TAIL_METRICS: Final = frozenset(metric.name for metric in (TIME_P95, TIME_P99, TIME_P999))
"""Those that describe the slowest operations of a launch, not the typical one."""
EXACT_NAMES = frozenset(name for name, metric in MEASURED.items() if metric.kind is Kind.EXACT)


def notes_on(metric: str, notes: Iterable[str], names: Collection[str] = ()) -> tuple[str, ...]:
    """Leave out the notes of a benchmark that are about other metrics of it: "peak_rss: ...".

    Args:
        names: of the metrics that it has beside those of benchgate.
    """
    others = {*MEASURED, *names} - {metric}
    return tuple(note for note in notes if note.partition(": ")[0] not in others)
