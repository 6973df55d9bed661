"""The result file: `Result` to versioned JSON and back."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Self, TypeAlias

import numpy as np
from pydantic import AfterValidator, FailFast, Field, ValidationError, model_validator

from benchgate.model.codec_document import Format, first_fault
from benchgate.model.codec_environment import EnvironmentRecord, add_unknown_timer
from benchgate.model.codec_types import (
    Count,
    Name,
    Record,
    Redact,
    Samples,
    Text,
    Timestamp,
    Warmup,
    Word,
    misplaced,
)
from benchgate.model.result import (
    BenchmarkResult,
    Better,
    Kind,
    Launch,
    Metric,
    Result,
    Run,
    Series,
    Source,
    Status,
    Tier,
)

RESULT_SCHEMA: Final = 3
"""Version of the result file.

1: the first.
2: the environment holds `timer_cost_ns` and `timer_resolution_ns`.
3: the run holds `until_decided`.
"""


class LaunchRecord(Record):
    """The samples of one fresh process, in the order in which they were measured."""

    round: Count
    order: Count
    warmup: Warmup
    samples: Samples


class MetricRecord(Record):
    """A metric and what was measured of it, launch by launch."""

    name: Name
    unit: Text
    better: Word[Better]
    kind: Word[Kind]
    loops: Annotated[int, Field(ge=1)]
    launches: Annotated[list[LaunchRecord], FailFast()]

    @model_validator(mode="after")
    def _times_are_not_negative(self) -> Self:
        if self.unit == "s":
            for index, launch in enumerate(self.launches):
                for key, values in (("warmup", launch.warmup), ("samples", launch.samples)):
                    if values.size and values.min() < 0:
                        worst = int(np.argmax(values < 0))
                        message = f"{values[worst]} is negative: a time cannot be"
                        raise misplaced(message, "launches", index, key, worst)
        return self

    @model_validator(mode="after")
    def _rounds_ascend(self) -> Self:
        rounds = [launch.round for launch in self.launches]
        for index in range(1, len(rounds)):
            if rounds[index] <= rounds[index - 1]:
                message = f"round {rounds[index]} comes after round {rounds[index - 1]}"
                raise misplaced(message, "launches", index, "round")
        return self

    @classmethod
    def of(cls, series: Series) -> Self:
        """What is written of a series."""
        metric = series.metric
        launches = [
            LaunchRecord(
                round=launch.round,
                order=launch.order,
                warmup=launch.warmup,
                samples=launch.samples,
            )
            for launch in series.launches
        ]
        return cls(
            name=metric.name,
            unit=metric.unit,
            better=metric.better,
            kind=metric.kind,
            loops=series.loops,
            launches=launches,
        )

    def series(self) -> Series:
        """What was read."""
        return Series(
            metric=Metric(self.name, self.unit, self.better, self.kind),
            loops=self.loops,
            launches=tuple(
                Launch(launch.round, launch.order, launch.samples, launch.warmup)
                for launch in self.launches
            ),
        )


def _distinct(key: str) -> AfterValidator:
    """Refuses a list in which two records have the same text under `key`."""

    def check(records: list[Any]) -> list[Any]:
        first: dict[str, int] = {}
        for index, record in enumerate(records):
            value = getattr(record, key)
            if value in first:
                message = f"{value!r} is there already, at index {first[value]}"
                raise misplaced(message, index, key)
            first[value] = index
        return records

    return AfterValidator(check)


class BenchmarkRecord(Record):
    """Everything measured on one benchmark."""

    id: Name
    workload: Text
    tier: Word[Tier]
    status: Word[Status]
    error: Text | None
    notes: list[Text]
    location: Text | None
    display_unit: Text | None
    metrics: Annotated[list[MetricRecord], FailFast(), _distinct("name")]

    @classmethod
    def of(cls, benchmark: BenchmarkResult, shown_id: str) -> Self:
        """What is written of a benchmark, under an id without secrets."""
        return cls(
            id=shown_id,
            workload=benchmark.workload,
            tier=benchmark.tier,
            status=benchmark.status,
            error=benchmark.error,
            notes=list(benchmark.notes),
            location=benchmark.location,
            display_unit=benchmark.display_unit,
            metrics=[MetricRecord.of(series) for series in benchmark.series],
        )

    def benchmark(self) -> BenchmarkResult:
        """What was read."""
        return BenchmarkResult(
            id=self.id,
            workload=self.workload,
            tier=self.tier,
            series=tuple(metric.series() for metric in self.metrics),
            status=self.status,
            error=self.error,
            notes=tuple(self.notes),
            location=self.location,
            display_unit=self.display_unit,
        )


Benchmarks: TypeAlias = Annotated[list[BenchmarkRecord], FailFast(), _distinct("id")]


def _benchmarks(benchmarks: Sequence[BenchmarkResult], redact: Redact) -> list[BenchmarkRecord]:
    """The records, kept apart by a number where only a secret told two ids from each other."""
    taken: set[str] = set()
    records = []
    for benchmark in benchmarks:
        plain = shown = redact(benchmark.id)
        copy = 1
        while shown in taken:
            copy += 1
            shown = f"{plain} ({copy})"
        taken.add(shown)
        try:
            records.append(BenchmarkRecord.of(benchmark, shown))
        except ValidationError as error:
            raise ValueError(f"{shown}: {first_fault(error)}") from None
    return records


class RunRecord(Record):
    """The code that was measured, and how."""

    sha: Text | None
    ref: Text | None
    dirty: bool
    why: Text
    started: Timestamp
    suite: Text
    seed: int
    complete: bool
    screen_rounds: Count
    until_decided: bool

    @classmethod
    def of(cls, run: Run) -> Self:
        """What is written of a run, apart from its environment and benchmarks."""
        return cls(
            sha=run.source.sha,
            ref=run.source.ref,
            dirty=run.source.dirty,
            why=run.source.why,
            started=run.started,
            suite=run.suite,
            seed=run.seed,
            complete=run.complete,
            screen_rounds=run.screen_rounds,
            until_decided=run.until_decided,
        )


class ArmRecord(Record):
    """Everything measured for one commit in one job."""

    run: RunRecord
    environment: EnvironmentRecord
    benchmarks: Benchmarks


class ResultRecord(Record):
    """A result file of benchgate: one run, and the base's run measured in turn with it."""

    version: Annotated[int, Field(ge=RESULT_SCHEMA, le=RESULT_SCHEMA)] = Field(alias="schema")
    tool: Text
    run: RunRecord
    environment: EnvironmentRecord
    benchmarks: Benchmarks
    base: ArmRecord | None
    duration_s: Annotated[float, Field(ge=0)]
    warnings: list[Text]


def _second(document: dict[str, Any]) -> dict[str, Any]:
    for arm in (document, document["base"]):
        if arm is not None:
            add_unknown_timer(arm["environment"])
    return document


def _third(document: dict[str, Any]) -> dict[str, Any]:
    for arm in (document, document["base"]):
        if arm is not None:
            arm["run"]["until_decided"] = False
    return document


RESULT = Format(
    "result file",
    ResultRecord,
    RESULT_SCHEMA,
    hallmark="benchmarks",
    migrations={1: _second, 2: _third},
)


def encode_result(result: Result, redact: Redact) -> bytes:
    """The result file, not compressed.

    Args:
        result: every number in it finite, every array of one dimension.
        redact: takes the secrets out of a text; applied to every text of the file.

    Raises:
        ValueError: the result holds what `decode_result` would refuse.
    """
    return ResultRecord(
        schema=RESULT_SCHEMA,
        tool=result.tool,
        **_arm(result.head, redact),
        base=ArmRecord(**_arm(result.base, redact)) if result.base else None,
        duration_s=result.duration_s,
        warnings=list(result.warnings),
    ).to_json(redact)


def _arm(run: Run, redact: Redact) -> dict[str, Any]:
    return {
        "run": RunRecord.of(run),
        "environment": EnvironmentRecord.of(run.environment),
        "benchmarks": _benchmarks(run.benchmarks, redact),
    }


def decode_result(data: bytes, name: str) -> Result:
    """The result that a file holds.

    Args:
        data: the file, not compressed.
        name: of the file, for messages.

    Raises:
        FormatError: names the file and the place in it.
    """
    record = RESULT.read(data, name)
    return Result(
        head=_measured(record),
        base=_measured(record.base) if record.base else None,
        duration_s=record.duration_s,
        warnings=tuple(record.warnings),
        tool=record.tool,
    )


def _measured(record: ArmRecord | ResultRecord) -> Run:
    run = record.run
    return Run(
        source=Source(run.sha, run.ref, run.dirty, run.why),
        started=run.started,
        environment=record.environment.environment(),
        benchmarks=tuple(benchmark.benchmark() for benchmark in record.benchmarks),
        suite=run.suite,
        seed=run.seed,
        complete=run.complete,
        screen_rounds=run.screen_rounds,
        until_decided=run.until_decided,
    )
