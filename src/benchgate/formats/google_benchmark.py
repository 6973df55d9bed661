"""What Google Benchmark writes: JSON or CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchgate.formats.contents import Node, RowError, read_json, read_table, shown
from benchgate.formats.origin import BUILD, caches_in, cpu_of, environment, told
from benchgate.formats.rows import begins, reads, sampled, summary, usual_loops
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRow, ReadRows
    from benchgate.model.environment import Environment
    from benchgate.model.run import Series

_HEADER = "name,iterations,real_time,cpu_time,time_unit"
_CORES = re.compile(r"^Run on \((\d+) X ", re.MULTILINE)
_DEBUG = "Library was built as DEBUG"
_TEXTS = {"name", "time_unit", "label", "error_message"}
_AGGREGATES = ("mean", "median", "stddev", "cv")
_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_TIMES = {"real_time": TIME, "cpu_time": CPU_TIME}
_OTHERS = {
    "bytes_per_second": Metric("bytes_per_second", "B/s", Better.HIGHER),
    "items_per_second": Metric("items_per_second", "items/s", Better.HIGHER),
    "allocs_per_iter": Metric("allocs_per_iter", "", kind=Kind.EXACT),
    "max_bytes_used": Metric("max_bytes_used", "B", kind=Kind.EXACT),
    "total_allocated_bytes": Metric("total_allocated_bytes", "B", kind=Kind.EXACT),
    "net_heap_growth": Metric("net_heap_growth", "B", kind=Kind.EXACT),
    "INSTRUCTIONS": INSTRUCTIONS,  # of --benchmark_perf_counters
}
_KNOWN = {
    *(*_TIMES, *_OTHERS),
    *("iterations", "threads", "repetitions", "repetition_index"),
    *("family_index", "per_family_instance_index"),
}


def _is_csv(source: ForeignFile) -> bool:
    """Whether the content has the columns; lines about the machine may come before them."""
    head = source.head
    return head.startswith(_HEADER.encode()) or f"\n{_HEADER}".encode() in head


def _is_google_benchmark(source: ForeignFile) -> bool:
    return begins(b"{", b'"num_cpus"', near=(100, b'"context"'))(source) or _is_csv(source)


@reads(
    "google-benchmark",
    "./BENCHMARK --benchmark_repetitions=20 --benchmark_out=FILE --benchmark_out_format=json",
    _is_google_benchmark,
)
def google_benchmark(source: ForeignFile, rows: ReadRows) -> None:
    """Google Benchmark: the files of `--benchmark_out_format=json` and of `=csv`.

    A row is one repetition; its times are means per iteration, in `time_unit`. Aggregate rows
    follow the repetitions of a benchmark and have its `run_name`; with
    `--benchmark_report_aggregates_only` they are all that there is. A benchmark's own counters
    stand among the keys of its rows.
    """
    if _is_csv(source):
        nodes = _csv_rows(source)
        rows.ran_on(_before_csv(source))
    else:
        root = read_json(source)
        nodes = list(root["benchmarks"].each())
        context = root["context"]
        if version := context.get("library_version"):
            rows.version = str(version.value)
        rows.ran_on(
            environment(
                cpu=cpu_of(told(context, "host_name"), caches_in(context)),
                cores=told(context, "num_cpus"),
                tools={BUILD: told(context, "library_build_type")},
            )
        )
    for name, same in _groups(nodes):
        with rows.row(name) as row:
            _read_group(row, same, rows)


def _csv_rows(source: ForeignFile) -> list[Node]:
    """The rows of a CSV file, with the keys of JSON.

    CSV does not tell aggregates from repetitions: X_mean is an aggregate of X if the file has
    X_median and X_stddev, too.
    """
    before, header, rows = source.text("backslashreplace").partition(_HEADER)
    if not header:
        raise RowError(f"has no line that begins with {_HEADER!r}")
    found = []
    for place, cells in read_table(source, header + rows, before.count("\n")):
        texts = {key: text for key, text in cells.items() if text}
        row: dict[str, Any] = {
            key: text if key in _TEXTS else _number(text) for key, text in texts.items()
        }
        if "error_occurred" in texts:
            row["error_occurred"] = texts["error_occurred"] == "true"
        found.append(Node(row, place))
    names = {str(node.value.get("name")) for node in found}
    for node in found:
        name, _, aggregate = str(node.value.get("name", "")).rpartition("_")
        is_one = all(f"{name}_{each}" in names for each in _AGGREGATES[:3])
        is_complexity = "iterations" not in node.value and aggregate in {"BigO", "RMS"}
        if (aggregate in _AGGREGATES and is_one) or is_complexity:
            node.value.update(run_name=name, aggregate_name=aggregate)
    return found


def _before_csv(source: ForeignFile) -> Environment:
    """What the lines before the columns say of the machine, if they were kept."""
    before = source.text("backslashreplace").partition(_HEADER)[0]
    cores = _CORES.search(before)
    debug = "debug" if _DEBUG in before else ""
    # Without a warning, the library was not built as DEBUG.
    build = debug or ("release" if cores else "")
    return environment(cores=cores[1] if cores else "", tools={BUILD: build})


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


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


def _read_group(found: ReadRow, rows: list[Node], all_rows: ReadRows) -> None:
    for row in rows:
        if row.get("error_occurred"):
            message = row.get("error_message")
            raise RowError(
                f"it failed: {message.text}" if message else "it failed without a message"
            )
        if row.get("skipped"):
            message = row.get("skip_message")
            all_rows.skip(f"{found.id}: it skipped itself: {message.text if message else ''}")
            return
    repetitions = [row for row in rows if not _aggregate(row)]
    sums = {_aggregate(row): row for row in rows}
    one = repetitions[0] if repetitions else sums.get("median") or sums.get("mean")
    if one is None:
        return  # the complexity, which sums up several benchmarks
    all_rows.skip(
        *(
            f"the counter {key!r}: the file says neither its unit nor which direction is better"
            for key, node in one.items()
            if key not in _KNOWN and type(node.value) in {int, float}
        )
    )
    found.series += _repeated(repetitions) if repetitions else _summed_up(one)


def _aggregate(row: Node) -> str:
    """How a row sums up the repetitions, such as "mean"; "" for a repetition."""
    name = row.get("aggregate_name")
    return name.text if name else ""


def _summed_up(row: Node) -> Iterator[Series]:
    found = [(metric, _time_s(row, key)) for key, metric in _TIMES.items()]
    found += [(each, node.number) for key, each in _OTHERS.items() if (node := row.get(key))]
    for metric, value in found:
        kind = Kind.EXACT if metric.kind is Kind.EXACT else Kind.SUMMARY
        yield summary(metric.name, metric.unit, value, row.place, better=metric.better, kind=kind)


def _repeated(rows: list[Node]) -> Iterator[Series]:
    loops = usual_loops([row["iterations"].number for row in rows])
    for key, metric in _TIMES.items():
        yield sampled(metric, [[_time_s(row, key) for row in rows]], key, loops=loops)
    for key, metric in _OTHERS.items():
        if values := [value.number for row in rows if (value := row.get(key))]:
            yield sampled(metric, [values], key, loops=loops)


def _time_s(row: Node, key: str) -> float:
    unit = row["time_unit"].text
    if unit not in _UNITS_S:
        raise RowError(f"{row.place}.time_unit: {shown(unit)} is unknown")
    return row[key].number * _UNITS_S[unit]
