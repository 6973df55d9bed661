"""Writes what was recorded as files that other programs read."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.describe.steps import histogram_of
from benchgate.escape import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.model.load import LoadLaunch
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult


_COLUMNS: Final = (
    *("benchmark", "arm", "round", "start_s", "width_s", "ops", "errors"),
    *("p50_s", "p95_s", "p99_s"),
)
_LEGEND: Final = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
_NS_PER_MS: Final = 1e6


@dataclass(frozen=True, slots=True)
class LoadedArm:
    """The launches of one step in one arm."""

    arm: str
    benchmark: str
    launches: tuple[LoadLaunch, ...]


def loaded_arms(result: Result) -> tuple[LoadedArm, ...]:
    """Give the steps of scenarios in a result that were launched, those of the head first."""
    arms = (("head", result.head), ("base", result.base))
    return tuple(
        LoadedArm(arm, benchmark.id, benchmark.load.launches)
        for arm, run in arms
        if run
        for benchmark in run.of_project
        if benchmark.load and benchmark.load.launches
    )


def hdr_log(arms: Sequence[LoadedArm], started: str) -> str:
    """Write every launch as a line of an HdrHistogram log, in format 1.3, tagged `arm:benchmark`.

    A launch begins when those before it are over: the time between launches is left out. Values
    are in ns, and the column of the greatest value is in ms, as usual.

    Args:
        started: when measuring began; see `Run.started`.

    Raises:
        FormatError: a histogram is damaged.
    """
    epoch_s = datetime.fromisoformat(started).timestamp()
    return "".join(
        f"{line}\n"
        for line in (
            "#[Logged with benchgate]",
            "#[Histogram log format version 1.3]",
            f"#[StartTime: {epoch_s:.3f} (seconds since epoch), {started}]",
            f"#[BaseTime: {epoch_s:.3f} (seconds since epoch)]",
            _LEGEND,
            *_load_lines(arms),
        )
    )


def _load_lines(arms: Sequence[LoadedArm]) -> Iterator[str]:
    """The launches by their begin, because readers stop at the end of the range they look for."""
    found = [(begin_s, one, launch) for one in arms for begin_s, launch in _begins(one.launches)]
    for begin_s, one, launch in sorted(found, key=lambda each: each[0]):
        histogram = histogram_of(one.benchmark, launch)
        tag = quote(f"{one.arm}:{one.benchmark}", safe="/:[]=@+-._~()*")
        greatest = (histogram.max or 0) / _NS_PER_MS
        times = f"{begin_s:.3f},{launch.duration_s:.3f},{greatest:.3f}"
        yield f"Tag={tag},{times},{launch.histogram}"


def _begins(launches: Sequence[LoadLaunch]) -> Iterator[tuple[float, LoadLaunch]]:
    begin_s = 0.0
    for launch in launches:
        yield begin_s, launch
        begin_s += launch.duration_s


def windows_csv(arms: Sequence[LoadedArm]) -> str:
    """Write every window as a line of CSV below a header; what does not exist is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in arms:
        for launch in one.launches:
            writer.writerows(_rows(one, launch))
    return text.getvalue()


def _rows(one: LoadedArm, launch: LoadLaunch) -> Iterator[list[object]]:
    windows = launch.windows
    last = len(windows.ops) - 1
    benchmark = spreadsheet_cell(one.benchmark)
    percentiles = zip(windows.p50_ns, windows.p95_ns, windows.p99_ns, strict=True)
    for index, values in enumerate(percentiles):
        width_s = windows.last_s if index == last else windows.width_s
        yield [
            *(benchmark, one.arm, launch.round, index * windows.width_s, width_s),
            *(windows.ops[index], windows.errors[index]),
            *("" if value is None else f"{value / 1e9:.9f}" for value in values),
        ]


COLUMNS: Final = (
    *("benchmark", "arm", "metric", "unit"),
    *("round", "order", "lane", "part", "index", "value"),
)


def samples_csv(result: Result) -> tuple[str, int]:
    """Every value as a line of CSV below a header, and how many values there are.

    A value that was measured before the samples and not used is of the part "warmup". Values have
    all their digits and are in the unit of the metric. A lane is empty if there is none.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for arm, run in (("head", result.head), ("base", result.base)):
        every = run.benchmarks if run else ()
        for benchmark in (one for one in every if one.new_version_of is None):
            for line in _sample_lines(arm, benchmark):
                writer.writerow(line)
                count += 1
    return text.getvalue(), count


def _sample_lines(arm: str, benchmark: BenchmarkResult) -> Iterator[tuple[object, ...]]:
    id_ = spreadsheet_cell(benchmark.id)
    for series in benchmark.series:
        metric, unit = (spreadsheet_cell(each) for each in (series.metric.name, series.metric.unit))
        for launch in series.launches:
            about = (id_, arm, metric, unit, launch.round, launch.order, launch.lane)
            for part, values in (("warmup", launch.warmup), ("sample", launch.samples)):
                for index, value in enumerate(values.tolist()):
                    yield (*about, part, index, value)
