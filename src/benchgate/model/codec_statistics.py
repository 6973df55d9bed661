"""The statistics of a result as JSON, for other programs to read; benchgate reads no such file.

The records take the fields of the model's classes by their names.
"""

from typing import Any, Final

from pydantic import Field

from benchgate.model.codec_environment import EnvironmentRecord
from benchgate.model.codec_source import SourceRecord
from benchgate.model.codec_types import (
    Count,
    IntervalRecord,
    Many,
    Name,
    Probability,
    Record,
    Redact,
    Text,
)
from benchgate.model.result import Better, Kind
from benchgate.model.statistics import ResultStatistics

STATISTICS_SCHEMA: Final = 1
"""Version of the statistics.

1: the first.
"""


class QuantileRecord(Record):
    """A nearest-rank quantile of all samples."""

    name: Text
    p: Probability
    value: float
    interval: IntervalRecord | None
    note: Text


class MeanRecord(Record):
    """A mean, with what it is worth if its values are independent of each other."""

    n: Count
    mean: float
    sd: float | None
    cv: float | None
    sem: float | None
    interval: IntervalRecord | None
    geometric: bool


class TrimmedRecord(Record):
    """The same without outliers; the error is the Winsorized one."""

    mode: Text
    dropped_low: Count
    dropped_high: Count
    mean: MeanRecord


class WithinRecord(Record):
    """How the samples of a launch depend on their neighbours: medians over the launches."""

    lag_one: float
    effective_n: float
    samples: Count


class BetweenRecord(Record):
    """How the launches differ."""

    between_ratio: float | None
    within_ratio: float | None
    intraclass_correlation: float | None
    understatement: float | None
    mean: MeanRecord
    trend_p: Probability | None


class NeededRecord(Record):
    """Launches on each side that would find a change; null: more than 1000."""

    change_ratio: float
    launches: Count | None


class ReachRecord(Record):
    """What a comparison of two such runs, measured apart, could find in one row."""

    spread_ratio: float
    alpha: Probability
    power: Probability
    detectable_ratio: float | None
    needed: Many[NeededRecord]


class WarmupRecord(Record):
    """How the samples of a launch settle."""

    curve: Many[float]
    discarded: Count
    launches: Count
    settled: Count
    settled_at: Count | None


class DetailRecord(Record):
    """Everything that can be said of one series."""

    samples: Count
    quantiles: Many[QuantileRecord]
    full: MeanRecord
    trimmed: TrimmedRecord
    within: WithinRecord | None
    between: BetweenRecord | None
    reach: ReachRecord | None
    warmup: WarmupRecord | None
    timer_ratio: float | None
    notes: Many[Text]


class SeriesRecord(Record):
    """One metric of one benchmark; `detail` is null unless it was asked for."""

    benchmark: Name
    metric: Name
    unit: Text
    better: Better
    kind: Kind
    launches: Count
    samples: Count
    loops: Count
    p25: float
    median: float
    p95: float | None
    spread_ratio: float | None
    display_unit: Text | None
    notes: Many[Text]
    detail: DetailRecord | None


class GridCellRecord(Record):
    """One cell of a parameter grid."""

    label: Text
    launches: Count
    median: float


class GridPairRecord(Record):
    """Two cells compared; p is adjusted over the pairs of the grid."""

    first: Text
    second: Text
    ratio: float | None
    p: Probability
    p_adjusted: Probability


class GridRecord(Record):
    """A benchmark with parameters, and whether they matter."""

    benchmark: Text
    metric: Text
    unit: Text
    cells: Many[GridCellRecord]
    h: float
    df: Count
    p: Probability
    pairs: Many[GridPairRecord]
    notes: Many[Text]
    display_unit: Text | None


class FailureRecord(Record):
    """A benchmark that failed, and how."""

    benchmark: Name
    error: Text


class RunRecord(Record):
    """One arm."""

    arm: Text
    source: SourceRecord
    started: Text
    complete: bool
    environment: EnvironmentRecord
    series: Many[SeriesRecord]
    failures: Many[FailureRecord]
    grids: Many[GridRecord]


class StatisticsRecord(Record):
    """The statistics of a benchgate result, the head's run first."""

    version: int = Field(alias="schema", ge=STATISTICS_SCHEMA, le=STATISTICS_SCHEMA)
    runs: Many[RunRecord]
    duration_s: float
    warnings: Many[Text]


def encode_statistics(statistics: ResultStatistics, redact: Redact) -> bytes:
    """The statistics as indented JSON, `schema` first.

    Args:
        redact: takes the secrets out of a text; applied to every text of the document.
    """
    return StatisticsRecord(
        schema=STATISTICS_SCHEMA,
        runs=tuple(RunRecord.model_validate(r, from_attributes=True) for r in statistics.runs),
        duration_s=statistics.duration_s,
        warnings=statistics.warnings,
    ).to_json(redact, indent=2)


def statistics_schema() -> dict[str, Any]:
    """The JSON Schema of the statistics."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **StatisticsRecord.model_json_schema(),
        "title": f"benchgate statistics, version {STATISTICS_SCHEMA}",
    }
