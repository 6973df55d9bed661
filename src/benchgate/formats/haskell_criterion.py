"""criterion for Haskell: the files of `--json` and of `--csv`.

In JSON, `reportKeys` names the columns of `reportMeasured`, which has a row for each sample with
the totals of its iterations, in seconds. criterion itself leaves out the samples that took less
than 30 ms, and so does this module if there are others. CSV has only means, in seconds.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.means import means
from benchgate.formats.nodes import Node, read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    time_summary,
)
from benchgate.model.run import CPU_TIME, TIME, Metric

if TYPE_CHECKING:
    from typing import Any

    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "haskell-criterion"
ADVICE = Advice("./BENCHMARK --json FILE")

_HEADER = b"Name,Mean,MeanLB,MeanUB,Stddev"
_LEAST_S = 0.03
_METRICS = {"time": TIME, "cpuTime": CPU_TIME, "allocated": Metric("allocated", "B")}
_KNOWN = {*_METRICS, "iters", "cycles"}


def sniff(source: Source) -> bool:
    """Whether the content is that of criterion for Haskell."""
    head = source.head
    is_json = head.startswith(b"[") and b'"criterion"' in head[:50] and b'"report' in head
    return is_json or head.startswith(_HEADER)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is neither JSON with a list of reports nor CSV with their means.
    """
    if source.head.startswith(_HEADER):
        return Reading(NAME, distinct(NAME, _csv_rows(source)))
    root = read_json(source)
    try:
        parts = list(root.each())
        if len(parts) != 3:
            raise source.error("", "is not a list of a name, a version and reports")
        reports = list(parts[2].each())
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: dict[str, None] = {}
    rows = distinct(NAME, (_row(report, skipped) for report in reports))
    return Reading(f"{NAME} {parts[1].value}", rows, tuple(skipped))


def _row(report: Node, skipped: dict[str, None]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = report["reportName"].text
        columns = _columns(report)
        for key, values in columns.items():
            if key not in _KNOWN and any(each is not None for each in values):
                skipped[f"the column {key}: benchgate reads only {', '.join(_METRICS)}"] = None
        return benchmark(NAME, id_, _series(columns, report["reportMeasured"].place))
    except RowError as error:
        return failed(NAME, id_, str(error))


def _columns(report: Node) -> dict[str, list[Any]]:
    """The measured values by their key."""
    keys = [key.text for key in report["reportKeys"].each()]
    rows = list(report["reportMeasured"].each())
    for row in rows:
        if len(row.list) != len(keys):
            raise RowError(f"{row.place}: has {len(row.list)} values, not {len(keys)}")
    return {key: [row.list[index] for row in rows] for index, key in enumerate(keys)}


def _series(columns: dict[str, list[Any]], place: str) -> list[Series]:
    for key in ("time", "iters"):
        if key not in columns:
            raise RowError(f"{place}: the key {key!r} is missing")
    long = [isinstance(each, float | int) and each >= _LEAST_S for each in columns["time"]]
    chosen = [index for index, is_long in enumerate(long) if is_long or not any(long)]
    loops = [columns["iters"][index] for index in chosen]
    series = []
    for key, metric in _METRICS.items():
        totals = [columns[key][index] for index in chosen] if key in columns else []
        if key == "time" or any(each is not None for each in totals):
            where = f"{place}: {key}"
            found, usual = means(totals, loops, 1.0, where)
            series.append(sampled(metric, [found], where, loops=usual))
    return series


def _csv_rows(source: Source) -> list[BenchmarkResult]:
    reader = csv.DictReader(io.StringIO(source.text("backslashreplace"), newline=""), strict=True)
    try:
        return [_csv_row(row, f"line {reader.line_num}") for row in reader]
    except csv.Error as error:
        raise source.error(f"line {reader.reader.line_num}", f"is not CSV: {error}") from None


def _csv_row(row: dict[str | Any, str | Any], place: str) -> BenchmarkResult:
    name = row.get("Name") or ""
    try:
        return benchmark(NAME, name, [time_summary(float(row.get("Mean") or ""), place)])
    except ValueError:
        return failed(NAME, name, f"{place}: Mean: {row.get('Mean')!r} is not a number")
    except RowError as error:
        return failed(NAME, name, str(error))
