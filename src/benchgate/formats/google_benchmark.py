"""Google Benchmark: the files of `--benchmark_out_format=json` and of `=csv`.

A row is one repetition; its times are means per iteration, in `time_unit`. Aggregate rows follow
the repetitions of a benchmark and have its `run_name`; with `--benchmark_report_aggregates_only`
they are all that there is. A benchmark's own counters stand among the keys of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.google_benchmark_csv import csv_rows, is_csv
from benchgate.formats.means import usual_loops
from benchgate.formats.nodes import Node, read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
    summary,
)
from benchgate.model.run import CPU_TIME, TIME, Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "google-benchmark"
ADVICE = Advice(
    "./BENCHMARK --benchmark_repetitions=20 --benchmark_out=FILE --benchmark_out_format=json"
)

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_TIMES = {"real_time": TIME, "cpu_time": CPU_TIME}
_OTHERS = {
    "bytes_per_second": Metric("bytes_per_second", "B/s", Better.HIGHER),
    "items_per_second": Metric("items_per_second", "items/s", Better.HIGHER),
    "allocs_per_iter": Metric("allocs_per_iter", ""),
    "max_bytes_used": Metric("max_bytes_used", "B"),
    "total_allocated_bytes": Metric("total_allocated_bytes", "B"),
    "net_heap_growth": Metric("net_heap_growth", "B"),
}
_ABOUT = {
    *("iterations", "threads", "repetitions", "repetition_index"),
    *("family_index", "per_family_instance_index"),
}


def sniff(source: Source) -> bool:
    """Whether the content is that of Google Benchmark."""
    head = source.head
    is_json = head.startswith(b"{") and b'"context"' in head[:100] and b'"num_cpus"' in head
    return is_json or is_csv(source)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is neither JSON with a list of benchmarks nor CSV with their columns.
    """
    if is_csv(source):
        version, rows = None, csv_rows(source)
    else:
        root = read_json(source)
        try:
            rows = list(root["benchmarks"].each())
            version = root["context"].get("library_version")
        except RowError as error:
            raise source.error("", str(error)) from None
    skipped: dict[str, None] = {}
    found = [row for name, same in _groups(rows) if (row := _benchmark(name, same, skipped))]
    tool = f"{NAME} {version.value}" if version else NAME
    return Reading(tool, distinct(NAME, found), tuple(skipped))


def _groups(rows: Iterable[Node]) -> list[tuple[str, list[Node]]]:
    """The rows of each benchmark; rows without a name stand alone, with the reason as an error."""
    groups: dict[tuple[object, ...], tuple[str, list[Node]]] = {}
    for index, row in enumerate(rows):
        try:
            name = (row.get("run_name") or row["name"]).text
            place = [row.get(key) for key in ("family_index", "per_family_instance_index")]
            key: tuple[object, ...] = (name, *(shown(each and each.value) for each in place))
        except RowError:
            name, key = "", (index,)
        groups.setdefault(key, (name, []))[1].append(row)
    return list(groups.values())


def _benchmark(name: str, rows: list[Node], skipped: dict[str, None]) -> BenchmarkResult | None:
    try:
        for row in rows:
            if row.get("error_occurred"):
                message = row.get("error_message")
                why = f"it failed: {message.text}" if message else "it failed without a message"
                return failed(NAME, name, why)
            if row.get("skipped"):
                message = row.get("skip_message")
                skipped[f"{name}: it skipped itself: {message.text if message else ''}"] = None
                return None
        repetitions = [row for row in rows if not _aggregate(row)]
        sums = {_aggregate(row): row for row in rows}
        one = repetitions[0] if repetitions else sums.get("median") or sums.get("mean")
        if one is None:
            return None  # the complexity, which sums up several benchmarks
        skipped.update(dict.fromkeys(_unread(one)))
        return benchmark(NAME, name, _series(repetitions) if repetitions else _summary(one))
    except RowError as error:
        return failed(NAME, name, str(error))


def _aggregate(row: Node) -> str:
    """How a row sums up the repetitions, such as "mean"; "" for a repetition."""
    name = row.get("aggregate_name")
    return name.text if name else ""


def _summary(row: Node) -> list[Series]:
    """The metrics of an aggregate."""
    found = [(metric, _time_s(row, key)) for key, metric in _TIMES.items()]
    found += [(each, value.number) for key, each in _OTHERS.items() if (value := row.get(key))]
    return [
        summary(metric.name, metric.unit, value, row.place, better=metric.better)
        for metric, value in found
    ]


def _series(rows: list[Node]) -> list[Series]:
    loops = usual_loops([row["iterations"].number for row in rows])
    found = [
        sampled(metric, [[_time_s(row, key) for row in rows]], key, loops=loops)
        for key, metric in _TIMES.items()
    ]
    for key, metric in _OTHERS.items():
        values = [value.number for row in rows if (value := row.get(key))]
        if values:
            found.append(sampled(metric, [values], key, loops=loops))
    return found


def _time_s(row: Node, key: str) -> float:
    unit = row["time_unit"].text
    if unit not in _UNITS_S:
        raise RowError(f"{row.place}.time_unit: {shown(unit)} is unknown")
    return row[key].number * _UNITS_S[unit]


def _unread(row: Node) -> list[str]:
    known = {*_TIMES, *_OTHERS, *_ABOUT}
    return [
        f"the counter {key!r}: the file says neither its unit nor which direction is better"
        for key, node in row.items()
        if key not in known and type(node.value) in {int, float}
    ]
