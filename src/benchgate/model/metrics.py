"""The metrics that benchgate knows, and what a metric is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import AfterValidator

from benchgate.json_object import (
    JsonObject,
    Name,
    Text,
    misplaced,
)
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


def _is_time_unit(unit: str) -> str:
    if unit not in TIME_UNITS:
        raise misplaced(f"{unit!r} is none of {', '.join(TIME_UNITS)}")
    return unit


TimeUnit: TypeAlias = Annotated[Text, AfterValidator(_is_time_unit)]
"""The unit in which the author of a benchmark wants times shown."""


class Better(StrEnum):
    """The direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Kind(StrEnum):
    """What a metric's values are: repeated samples, exact counts, or a summary of lost samples."""

    SAMPLED = "sampled"
    EXACT = "exact"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Metric(JsonObject):
    """A quantity measured on a benchmark."""

    name: Name
    unit: Text
    better: Better = Better.LOWER
    kind: Kind = Kind.SAMPLED


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
