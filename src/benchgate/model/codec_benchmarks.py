"""The benchmarks of a result file, with every sample that was measured."""

from collections.abc import Sequence
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from pydantic import AfterValidator, FailFast, Field, ValidationError, model_validator

from benchgate.model.codec_document import first_fault
from benchgate.model.codec_types import (
    Count,
    Name,
    Record,
    Redact,
    Samples,
    Text,
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
    Series,
    Status,
    Tier,
)

MAX_ROUND_S = 1e9
"""Thirty years: a file that says more is damaged, or made up."""


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
    parts: dict[Text, Text] = Field(default_factory=dict)
    round_s: Annotated[float, Field(ge=0, le=MAX_ROUND_S)] | None = None
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
            parts=dict(benchmark.parts),
            round_s=benchmark.round_s,
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
            parts=dict(self.parts),
            round_s=self.round_s,
        )


MAX_BENCHMARKS = 100_000
"""Of one arm: ten times as many as a large suite has."""

Benchmarks: TypeAlias = Annotated[
    list[BenchmarkRecord], FailFast(), Field(max_length=MAX_BENCHMARKS), _distinct("id")
]


def benchmark_records(
    benchmarks: Sequence[BenchmarkResult], redact: Redact
) -> list[BenchmarkRecord]:
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
