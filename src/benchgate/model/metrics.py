"""The metrics that benchgate measures itself; other tools have names of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.model.run import Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

TIME = Metric("time", "s")
CPU_TIME = Metric("cpu_time", "s")
PEAK_RSS = Metric("peak_rss", "B")
ALLOC_PEAK = Metric("alloc_peak", "B", kind=Kind.EXACT)
ALLOC_BLOCKS = Metric("alloc_blocks", "", kind=Kind.EXACT)
INSTRUCTIONS = Metric("instructions", "", kind=Kind.EXACT)

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
