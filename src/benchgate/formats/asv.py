"""What asv writes: a folder of results, or one of its files."""

from __future__ import annotations

import math
import re
import shlex
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING

from benchgate.formats.contents import Node, RowError, read_json, shown
from benchgate.formats.origin import MOST_TOLD, cpu_of, environment, told
from benchgate.formats.rows import as_a_whole, reads, summary, usual_loops
from benchgate.model.metrics import PEAK_RSS, TIME, Kind
from benchgate.model.run import MAX_BENCHMARKS, PYTHON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRow, ReadRows
    from benchgate.model.environment import Environment

_ASV_VERSION = 2
BENCHMARKS = "benchmarks.json"
_MARK = b'"result_columns"'
_DATE = re.compile(rb'"date"\s*:\s*(\d{1,14})\b')
_COMMIT = re.compile(rb'"commit_hash"\s*:\s*"([0-9a-f]{1,64})"')
_MOST_NAMED = 5
_MARK_BYTES = 64 << 10
_MEMORY = "memory"
_ASV_METRICS = {"time": TIME.name, "memory": _MEMORY, "peakmemory": PEAK_RSS.name}
_UNITS = {"seconds": "s", "bytes": "B"}
_MOST_CHARACTERS = 10_000_000


@reads(
    "asv",
    "asv run --record-samples",
    lambda source: _MARK in source.head or bool(_result_files(source)),
)
def asv(source: ForeignFile, rows: ReadRows) -> None:
    """asv: a result file, or its folder of results with one result file in it.

    Each commit, environment and machine has a result file of its own.

    A result file has one row for each benchmark, whose columns `result_columns` names; empty ones
    at the end of a row are left out. A column has one entry for each combination of the params. In
    `result`, null means that the benchmark failed and NaN that it was skipped. asv compares every
    number as if less is better.

    Only benchmarks of time have a `stats_number`, and only they have samples. The units of the
    others stand in `benchmarks.json`, beside the folders of the machines.
    """
    results, names = _asv_files(source)
    root = read_json(results, named=True)
    with as_a_whole(results):
        if (version := root["version"].value) != _ASV_VERSION:
            hint = "Let a newer asv convert the results: asv update."
            raise results.error("", f"benchgate does not read version {shown(version)}", hint)
        keys = [each.text for each in root["result_columns"].each()]
        found = list(root["results"].items())
    rows.measured(told(root, "commit_hash"))
    rows.ran_on(_asv_machine(root))
    known: dict[str, Node] = {}
    if names:
        about = read_json(names)
        with as_a_whole(names):
            known = dict(about.items())
    for name, node in found:
        columns: dict[str, Node] = {}
        ids: list[str] = []
        with rows.row(name):
            cells = zip(keys, node.list, strict=False)
            columns = {key: Node(v, f"{node.place}.{key}") for key, v in cells if v is not None}
            ids = _asv_ids(name, node.place, columns)
        for index, id_ in enumerate(ids):
            with rows.row(id_) as row:
                result = _entry(columns, "result", index)
                if result is None:
                    raise RowError("it failed under asv, which does not say why")
                if math.isnan(result.number):
                    rows.skip(f"{id_}: asv skipped it")
                else:
                    _read_asv_result(row, columns, index, result, known.get(name))
            if len(rows.found) + len(rows.skipped) > MAX_BENCHMARKS:
                why = f"has more than {MAX_BENCHMARKS} combinations of params"
                raise results.error("", why)


def _asv_machine(root: Node) -> Environment:
    system, _, release = told(root, "params", "os").partition(" ")
    requirements = root.value.get("requirements")
    return environment(
        cpu=told(root, "params", "cpu") or cpu_of(told(root, "params", "machine")),
        machine=told(root, "params", "arch"),
        cores=told(root, "params", "num_cpu"),
        os=system,
        kernel=release,
        tools={
            PYTHON: told(root, "python"),
            **{
                name[:MOST_TOLD]: told(root, "requirements", name)
                for name in (requirements if isinstance(requirements, dict) else ())
            },
        },
    )


def _result_files(source: ForeignFile) -> list[str]:
    return [
        path
        for path, data in source.files.items()
        if path.endswith(".json") and _MARK in data[:_MARK_BYTES]
    ]


def _asv_files(source: ForeignFile) -> tuple[ForeignFile, ForeignFile | None]:
    """The result file, and `benchmarks.json`."""
    names = next((path for path in source.files if f"/{path}".endswith(f"/{BENCHMARKS}")), None)
    known = source.file(names) if names else None
    if source.data:
        return source, known
    paths = _result_files(source)
    if not paths:
        raise RowError("has no result file of asv")
    if len(paths) == 1:
        return source.file(paths[0]), known
    runs = sorted((_run_of(path, source.files[path]) for path in paths), reverse=True)
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    said = ", ".join(run[-1] for run in runs[:_MOST_NAMED])
    files = [shlex.quote(f"{source.name.rstrip('/')}/{path}") for _, path, _ in runs[1::-1]]
    raise source.error(
        "",
        f"has {len(paths)} result files of asv: {said}{more}",
        hint=f"Name one file of each side, for example: benchgate compare {' '.join(files)}",
    )


def _run_of(path: str, data: bytes) -> tuple[int, str, str]:
    """The date of a result file in milliseconds since 1970, its path, and what to say of it."""
    found, commit = _DATE.search(data), _COMMIT.search(data)
    date = int(found[1]) if found else 0
    day = f"{datetime.fromtimestamp(date / 1000, UTC):%Y-%m-%d %H:%M}" if date else ""
    about = " of ".join(filter(None, (commit[1].decode()[:8] if commit else "", day)))
    return date, path, f"{path} ({about})" if about else path


def _asv_ids(name: str, place: str, columns: Mapping[str, Node]) -> list[str]:
    """The names by which `asv compare` and `asv run --bench` know the params' combinations."""
    column = columns.get("params")
    params = [[str(value) for value in each.list] for each in column.each()] if column else []
    longest = len(name) + sum(max(map(len, each), default=0) + 2 for each in params)
    if len(params) > 100 or longest * math.prod(map(len, params)) > _MOST_CHARACTERS:
        raise RowError(f"{place}.params: has too many combinations, or too long ones")
    ids = [f"{name}({', '.join(each)})" for each in product(*params)] if params else [name]
    result = columns.get("result")
    if result is not None and len(result.list) != len(ids):
        raise RowError(f"{result.place}: has {len(result.list)} results, not {len(ids)}")
    return ids


def _entry(columns: Mapping[str, Node], key: str, index: int) -> Node | None:
    """The entry of a column for one combination; None if it is null or missing."""
    column = columns.get(key)
    if column is None or index >= len(column.list) or column.list[index] is None:
        return None
    return Node(column.list[index], f"{column.place}[{index}]")


def _read_asv_result(
    row: ReadRow, columns: Mapping[str, Node], index: int, result: Node, known: Node | None
) -> None:
    """Read a combination of the params.

    Args:
        known: what `benchmarks.json` says about the benchmark.
    """
    if version := columns.get("version"):
        row.version = str(version.value)
    if number := _entry(columns, "stats_number", index):
        loops = usual_loops([number.number])
        if samples := _entry(columns, "samples", index):
            row.samples(samples, loops=loops)
        else:
            row.time(result)
        return
    metric, unit = "value", ""
    if known is None:
        row.notes.append("value: its unit is in benchmarks.json, beside the folder of the machine")
    else:
        metric = _ASV_METRICS.get(known["type"].text, metric)
        unit = known["unit"].text
    kind = Kind.EXACT if metric == _MEMORY else Kind.SUMMARY
    row.series.append(
        summary(metric, _UNITS.get(unit, unit), result.number, result.place, kind=kind)
    )
