"""Joins what several runs of a tool wrote: each run is a launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.formats.parsed import failed
from benchgate.model.run import BenchmarkResult, Launch, Series, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.formats.parsed import Reading


def join_readings(readings: Sequence[Reading], tool: str) -> tuple[BenchmarkResult, ...]:
    """Join the benchmarks of several files, which the same tool wrote one after the other.

    A benchmark that only some files have keeps the launches that there are, with a note. One that
    failed in any file has failed.

    Args:
        readings: at least one.
        tool: `NAME` of the format.
    """
    by_id: dict[str, list[BenchmarkResult]] = {}
    for reading in readings:
        for each in reading.benchmarks:
            by_id.setdefault(each.id, []).append(each)
    return tuple(_joined(same, len(readings), tool) for same in by_id.values())


def _joined(same: Sequence[BenchmarkResult], files: int, tool: str) -> BenchmarkResult:
    first = same[0]
    if files == 1:
        return first
    faults = [each.error for each in same if each.status is Status.FAILED and each.error]
    if faults:
        return failed(tool, first.id, faults[0], notes=first.notes)
    notes = first.notes
    if len(same) < files:
        notes = (*notes, f"only {len(same)} of {files} files have it")
    names = dict.fromkeys(series.metric.name for each in same for series in each.series)
    try:
        series = tuple(_joined_series([_named(each, name) for each in same]) for name in names)
    except ValueError as error:
        return failed(tool, first.id, str(error), notes=notes)
    return replace(first, series=series, notes=notes)


def _named(benchmark: BenchmarkResult, name: str) -> Series | None:
    return next((each for each in benchmark.series if each.metric.name == name), None)


def _joined_series(found: Iterable[Series | None]) -> Series:
    """Join one metric.

    Raises:
        ValueError: its unit or kind differs between the files.
    """
    known = [each for each in found if each is not None]
    first = known[0]
    if any(each.metric != first.metric for each in known):
        raise ValueError(f"the files differ in the unit, direction or kind of {first.metric.name}")
    launches = [launch for each in known for launch in each.launches]
    return Series(
        first.metric,
        first.loops,
        tuple(
            Launch(index, launch.order, launch.samples, launch.warmup)
            for index, launch in enumerate(launches)
        ),
    )
