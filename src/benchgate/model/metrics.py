"""The metrics that benchgate measures itself; other tools have names of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.model.run import Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

TIME = Metric("time", "s")
CPU_TIME = Metric("cpu_time", "s")
PEAK_RSS = Metric("peak_rss", "B")
ALLOC_PEAK = Metric("alloc_peak", "B", kind=Kind.EXACT)
ALLOC_BLOCKS = Metric("alloc_blocks", "", kind=Kind.EXACT)
INSTRUCTIONS = Metric("instructions", "", kind=Kind.EXACT)

MEASURED: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (TIME, CPU_TIME, PEAK_RSS, ALLOC_PEAK, ALLOC_BLOCKS, INSTRUCTIONS)
}
"""All metrics of benchgate, by name."""
EXACT_NAMES = frozenset(name for name, metric in MEASURED.items() if metric.kind is Kind.EXACT)


def notes_on(metric: str, notes: Iterable[str], names: Collection[str] = ()) -> tuple[str, ...]:
    """Leave out the notes of a benchmark that are about other metrics of it: "peak_rss: ...".

    Args:
        names: of the metrics that it has beside those of benchgate.
    """
    others = {*MEASURED, *names} - {metric}
    return tuple(note for note in notes if note.partition(": ")[0] not in others)
