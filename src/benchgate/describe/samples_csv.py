"""Writes every sample of a result as CSV, for programs for data analysis."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from benchgate.report.escape import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult

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
            for line in _lines(arm, benchmark):
                writer.writerow(line)
                count += 1
    return text.getvalue(), count


def _lines(arm: str, benchmark: BenchmarkResult) -> Iterator[tuple[object, ...]]:
    id_ = spreadsheet_cell(benchmark.id)
    for series in benchmark.series:
        metric, unit = (spreadsheet_cell(each) for each in (series.metric.name, series.metric.unit))
        for launch in series.launches:
            about = (id_, arm, metric, unit, launch.round, launch.order, launch.lane)
            for part, values in (("warmup", launch.warmup), ("sample", launch.samples)):
                for index, value in enumerate(values.tolist()):
                    yield (*about, part, index, value)
