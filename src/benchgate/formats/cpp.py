"""Formats of C++: Google Benchmark and Catch2.

A row is one repetition; its times are means per iteration, in `time_unit`. Aggregate rows follow
the repetitions of a benchmark and have its `run_name`; with `--benchmark_report_aggregates_only`
they are all that there is. A benchmark's own counters stand among the keys of its rows.

It has no samples. Every value is in nanoseconds per iteration. A benchmark is named within its test
case and its sections.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from benchgate.formats.contents import Node, read_json, read_xml
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
    summary,
    time_summary,
    usual_loops,
)
from benchgate.model.run import CPU_TIME, TIME, Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.formats.contents import Element
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


_HEADER = "name,iterations,real_time,cpu_time,time_unit"
_TEXTS = {"name", "time_unit", "label", "error_message"}
_AGGREGATES = ("mean", "median", "stddev", "cv")


def is_csv(source: Source) -> bool:
    """Whether the content has the columns; lines about the machine may come before them."""
    head = source.head
    return head.startswith(_HEADER.encode()) or f"\n{_HEADER}".encode() in head


def csv_rows(source: Source) -> list[Node]:
    """Read the rows of a file.

    CSV does not tell aggregates from repetitions: X_mean is an aggregate of X if the file has
    X_median and X_stddev, too.

    Raises:
        FormatError: it is not CSV, or does not have the columns.
    """
    before, header, rows = source.text("backslashreplace").partition(_HEADER)
    if not header:
        raise source.error("", f"has no line that begins with {_HEADER!r}")
    first = before.count("\n")
    reader = csv.DictReader(io.StringIO(header + rows, newline=""), strict=True)
    try:
        cells = [(first + reader.line_num, _row(each)) for each in reader]
    except csv.Error as error:
        raise source.error(
            f"line {first + reader.reader.line_num}", f"is not CSV: {error}"
        ) from None
    names = {str(row.get("name")) for _, row in cells}
    for _, row in cells:
        row.update(_kind(row, names))
    return [Node(row, f"line {number}") for number, row in cells]


def _row(cells: dict[str | Any, str | Any]) -> dict[str, Any]:
    texts = {key: text for key, text in cells.items() if isinstance(text, str) and text}
    row = {key: text if key in _TEXTS else _number(text) for key, text in texts.items()}
    if "error_occurred" in texts:
        row["error_occurred"] = texts["error_occurred"] == "true"
    return row


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _kind(row: dict[str, Any], names: set[str]) -> dict[str, str]:
    name = str(row.get("name", ""))
    benchmark, _, aggregate = name.rpartition("_")
    is_one = all(f"{benchmark}_{each}" in names for each in _AGGREGATES[:3])
    if aggregate in _AGGREGATES and is_one:
        return {"run_name": benchmark, "aggregate_name": aggregate}
    if "iterations" not in row and aggregate in {"BigO", "RMS"}:
        return {"run_name": benchmark, "aggregate_name": aggregate}
    return {}


_GOOGLE_NAME = "google-benchmark"
_GOOGLE_ADVICE = Advice(
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


def _is_google(source: Source) -> bool:
    """Whether the content is that of Google Benchmark."""
    head = source.head
    is_json = head.startswith(b"{") and b'"context"' in head[:100] and b'"num_cpus"' in head
    return is_json or is_csv(source)


def _parse_google(source: Source) -> Reading:
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
    found = [row for name, same in _groups(rows) if (row := _google_benchmark(name, same, skipped))]
    tool = f"{_GOOGLE_NAME} {version.value}" if version else _GOOGLE_NAME
    return Reading(tool, distinct(_GOOGLE_NAME, found), tuple(skipped))


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


def _google_benchmark(
    name: str, rows: list[Node], skipped: dict[str, None]
) -> BenchmarkResult | None:
    try:
        for row in rows:
            if row.get("error_occurred"):
                message = row.get("error_message")
                why = f"it failed: {message.text}" if message else "it failed without a message"
                return failed(_GOOGLE_NAME, name, why)
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
        return benchmark(_GOOGLE_NAME, name, _series(repetitions) if repetitions else _summary(one))
    except RowError as error:
        return failed(_GOOGLE_NAME, name, str(error))


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


GOOGLE_BENCHMARK = ForeignFormat(_GOOGLE_NAME, _GOOGLE_ADVICE, _is_google, _parse_google)


_CATCH2_NAME = "catch2"
_CATCH2_ADVICE = Advice("./TESTS --reporter xml --out FILE", has_samples=False)

_ROOTS = ("Catch", "Catch2TestRun")
_NAMED = ("TestCase", "Section")


def _is_catch2(source: Source) -> bool:
    """Whether the content is an XML report of Catch2."""
    head = source.head[:2000]
    return head.startswith(b"<") and (b"<Catch name=" in head or b"<Catch2TestRun" in head)


def _parse_catch2(source: Source) -> Reading:
    """Read a report.

    Raises:
        FormatError: it is not XML, or no report of Catch2.
    """
    root = read_xml(source)
    if root.tag not in _ROOTS:
        raise source.error(root.place, f"begins with <{root.tag}>, not <{'> or <'.join(_ROOTS)}>")
    version = root.attributes.get("catch2-version")
    rows = distinct(_CATCH2_NAME, _benchmarks(root, ()))
    return Reading(f"{_CATCH2_NAME} {version}" if version else _CATCH2_NAME, rows)


def _benchmarks(parent: Element, names: tuple[str, ...]) -> Iterator[BenchmarkResult]:
    for element in parent.children:
        if element.tag == "BenchmarkResults":
            yield _catch2_benchmark(element, names)
        else:
            name = element.attributes.get("name") if element.tag in _NAMED else None
            yield from _benchmarks(element, (*names, name) if name else names)


def _catch2_benchmark(element: Element, names: tuple[str, ...]) -> BenchmarkResult:
    id_ = "/".join(names)
    try:
        id_ = "/".join((*names, element.attribute("name")))
        if failure := element.get("failed"):
            return failed(_CATCH2_NAME, id_, f"it failed: {failure.attributes.get('message', '')}")
        mean = element["mean"]
        return benchmark(_CATCH2_NAME, id_, [time_summary(mean.number("value") * 1e-9, mean.place)])
    except RowError as error:
        return failed(_CATCH2_NAME, id_, str(error))


CATCH2 = ForeignFormat(_CATCH2_NAME, _CATCH2_ADVICE, _is_catch2, _parse_catch2)
