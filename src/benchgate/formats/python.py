"""Formats of Python: asv, pyperf and pytest-benchmark.

Each commit, environment and machine has a result file of its own.

A result file has one row for each benchmark, whose columns `result_columns` names; empty ones at
the end of a row are left out. A column has one entry for each combination of the params. In
`result`, null means that the benchmark failed and NaN that it was skipped. asv compares every
number as if less is better.

Only benchmarks of time have a `stats_number`, and only they have samples. The units of the others
stand in `benchmarks.json`, beside the folders of the machines.

Each run is a process of its own. Its values are per iteration and without the warmups; a run
without values only looked for the number of loops. What several runs or benchmarks have in common
stands once, in the metadata of the benchmark or of the file.

The file of `--benchmark-json` has every sample, at `stats.data`, in seconds per iteration. A saved
one has only statistics.
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, product
from typing import TYPE_CHECKING

from benchgate.formats.contents import Node, read_json
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
    times,
    usual_loops,
)
from benchgate.model.run import MAX_BENCHMARKS, PEAK_RSS, TIME, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from benchgate.errors import FormatError
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


if TYPE_CHECKING:
    _Entry: TypeAlias = BenchmarkResult | str

_ASV_NAME = "asv"
_ASV_ADVICE = Advice("asv run --record-samples")

_VERSION = 2
BENCHMARKS = "benchmarks.json"
_MARK = b'"result_columns"'
_DATE = re.compile(rb'"date"\s*:\s*(\d{1,14})\b')
_COMMIT = re.compile(rb'"commit_hash"\s*:\s*"([0-9a-f]{1,64})"')
_MOST_NAMED = 5
_MARK_BYTES = 64 << 10
_ASV_METRICS = {"time": TIME.name, "memory": "memory", "peakmemory": PEAK_RSS.name}
_UNITS = {"seconds": "s", "bytes": "B"}
_MOST_CHARACTERS = 10_000_000


def _is_asv(source: Source) -> bool:
    """Whether the content is a result file of asv, or a folder with one."""
    return _MARK in source.head or bool(_result_files(source))


def _parse_asv(source: Source) -> Reading:
    """Read a result file, and `benchmarks.json` if the folder has it.

    Raises:
        FormatError: it is not JSON, of another version, or has no results; or the folder has
            several result files.
    """
    results, names = _found(source)
    root = read_json(results, named=True)
    try:
        if (version := root["version"].value) != _VERSION:
            hint = "Let a newer asv convert the results: asv update."
            raise results.error("", f"benchgate does not read version {shown(version)}", hint)
        columns = [each.text for each in root["result_columns"].each()]
        rows = list(root["results"].items())
    except RowError as error:
        raise results.error("", str(error)) from None
    known = _known(names) if names else {}
    entries = (each for name, row in rows for each in _asv_row(name, row, columns, known.get(name)))
    found = list(islice(entries, MAX_BENCHMARKS + 1))
    if len(found) > MAX_BENCHMARKS:
        raise results.error("", f"has more than {MAX_BENCHMARKS} combinations of params")
    return Reading(
        _ASV_NAME,
        distinct(_ASV_NAME, (each for each in found if not isinstance(each, str))),
        tuple(each for each in found if isinstance(each, str)),
    )


def _known(names: Source) -> dict[str, Node]:
    root = read_json(names)
    try:
        return dict(root.items())
    except RowError as error:
        raise names.error("", str(error)) from None


def _result_files(source: Source) -> list[str]:
    return [
        path
        for path, data in source.files.items()
        if path.endswith(".json") and _MARK in data[:_MARK_BYTES]
    ]


def _found(source: Source) -> tuple[Source, Source | None]:
    """The result file, and `benchmarks.json`."""
    names = next((path for path in source.files if f"/{path}".endswith(f"/{BENCHMARKS}")), None)
    known = source.file(names) if names else None
    if source.data:
        return source, known
    paths = _result_files(source)
    if len(paths) != 1:
        raise _several(source, paths)
    return source.file(paths[0]), known


def _several(source: Source, paths: list[str]) -> FormatError:
    """Say which runs a folder holds, the newest first."""
    if not paths:
        return source.error("", "has no result file of asv")
    runs = sorted((_Found.of(path, source.files[path]) for path in paths), reverse=True)
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    said = ", ".join(map(str, runs[:_MOST_NAMED]))
    files = [shlex.quote(f"{source.name.rstrip('/')}/{each.path}") for each in runs[1::-1]]
    return source.error(
        "",
        f"has {len(paths)} result files of asv: {said}{more}",
        hint=f"Name one file of each side, for example: benchgate compare {' '.join(files)}",
    )


@dataclass(frozen=True, slots=True, order=True)
class _Found:
    """A result file of a folder; the dates are in milliseconds since 1970."""

    date: int
    path: str
    commit: str

    @classmethod
    def of(cls, path: str, data: bytes) -> _Found:
        date = _DATE.search(data)
        commit = _COMMIT.search(data)
        return cls(int(date[1]) if date else 0, path, commit[1].decode() if commit else "")

    def __str__(self) -> str:
        day = f"{datetime.fromtimestamp(self.date / 1000, UTC):%Y-%m-%d %H:%M}" if self.date else ""
        about = " of ".join(filter(None, (self.commit[:8], day)))
        return f"{self.path} ({about})" if about else self.path


@dataclass(frozen=True, slots=True)
class _Row:
    """A benchmark, with all combinations of its params.

    Attributes:
        columns: without those that the row lacks or that are null.
        known: what `benchmarks.json` says about it.
    """

    name: str
    place: str
    columns: dict[str, Node]
    known: Node | None

    def entry(self, key: str, index: int) -> Node | None:
        """The entry of a column for one combination; None if it is null or missing."""
        column = self.columns.get(key)
        if column is None or index >= len(column.list) or column.list[index] is None:
            return None
        return Node(column.list[index], f"{column.place}[{index}]")

    def ids(self) -> list[str]:
        """The name by which `asv compare` and `asv run --bench` know each combination."""
        column = self.columns.get("params")
        params = [[str(value) for value in each.list] for each in column.each()] if column else []
        longest = len(self.name) + sum(max(map(len, each), default=0) + 2 for each in params)
        if len(params) > 100 or longest * math.prod(map(len, params)) > _MOST_CHARACTERS:
            raise RowError(f"{self.place}.params: has too many combinations, or too long ones")
        if not params:
            return [self.name]
        return [f"{self.name}({', '.join(each)})" for each in product(*params)]

    def check(self, ids: list[str]) -> None:
        """Refuse a row whose results are not those of its combinations."""
        result = self.columns.get("result")
        if result is not None and len(result.list) != len(ids):
            raise RowError(f"{result.place}: has {len(result.list)} results, not {len(ids)}")


def _asv_row(name: str, node: Node, keys: list[str], known: Node | None) -> Iterator[_Entry]:
    """Read each combination of the params; text says why asv did not run it."""
    try:
        cells = zip(keys, node.list, strict=False)
        columns = {key: Node(v, f"{node.place}.{key}") for key, v in cells if v is not None}
        row = _Row(name, node.place, columns, known)
        ids = row.ids()
        row.check(ids)
    except RowError as error:
        yield failed(_ASV_NAME, name, str(error))
        return
    for index, id_ in enumerate(ids):
        try:
            value = row.entry("result", index)
            if value is None:
                yield failed(_ASV_NAME, id_, "it failed under asv, which does not say why")
            elif math.isnan(value.number):
                yield f"{id_}: asv skipped it"
            else:
                yield _benchmark(row, index, id_, value)
        except RowError as error:
            yield failed(_ASV_NAME, id_, str(error))


def _benchmark(row: _Row, index: int, id_: str, value: Node) -> BenchmarkResult:
    version = row.columns.get("version")
    hash_ = str(version.value) if version else None
    if number := row.entry("stats_number", index):
        series = _time(row, index, value, usual_loops([number.number]))
        return benchmark(_ASV_NAME, id_, [series], version=hash_)
    if row.known is None:
        note = "value: its unit is in benchmarks.json, beside the folder of the machine"
        series = summary("value", "", value.number, value.place)
        return benchmark(_ASV_NAME, id_, [series], version=hash_, notes=[note])
    metric = _ASV_METRICS.get(row.known["type"].text, "value")
    unit = row.known["unit"].text
    series = summary(metric, _UNITS.get(unit, unit), value.number, value.place)
    return benchmark(_ASV_NAME, id_, [series], version=hash_)


def _time(row: _Row, index: int, median: Node, loops: int) -> Series:
    if samples := row.entry("samples", index):
        return times([samples.list], samples.place, loops=loops)
    return time_summary(median.number, median.place)


ASV = ForeignFormat(_ASV_NAME, _ASV_ADVICE, _is_asv, _parse_asv)


_PYPERF_NAME = "pyperf"
_PYPERF_ADVICE = Advice(
    "python BENCHMARK.py --processes 20 -o FILE",
    launches="With `--processes 20`, which is the default, one file holds twenty launches.",
)

# For pyperf, less is better in every unit.
_PYPERF_METRICS = {"second": TIME, "byte": Metric("memory", "B"), "integer": Metric("value", "")}
_VERSIONS = ("1.0", 6)


def _is_pyperf(source: Source) -> bool:
    """Whether the content is that of pyperf."""
    head = source.head
    return head.startswith(b"{") and b'"benchmarks"' in head[:100] and b'"runs"' in head


def _parse_pyperf(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, of another version, or has no list of benchmarks.
    """
    root = read_json(source)
    try:
        rows = list(root["benchmarks"].each())
        version = root["version"].value
        tool = _metadata("perf_version", [root])
    except RowError as error:
        raise source.error("", str(error)) from None
    if version not in _VERSIONS:
        hint = "Let a newer pyperf convert the file: pyperf convert FILE -o NEW."
        raise source.error("", f"benchgate does not read version {shown(version)}", hint)
    found = (_pyperf_row(row, root) for row in rows)
    return Reading(
        f"{_PYPERF_NAME} {tool.value}" if tool else _PYPERF_NAME, distinct(_PYPERF_NAME, found)
    )


@dataclass(frozen=True, slots=True)
class _Process:
    """A run with values.

    Attributes:
        levels: where its metadata may stand, first what is particular to it.
    """

    values: Node
    levels: tuple[Node, ...]

    def count(self, key: str) -> float:
        found = _metadata(key, self.levels)
        return found.number if found else 1

    @property
    def loops(self) -> float:
        return self.count("loops") * self.count("inner_loops")

    @property
    def peak(self) -> Node | None:
        """The most memory that it needed, or that the command needed which it ran, in bytes."""
        command = _metadata("command_max_rss", self.levels)
        return command or _metadata("mem_max_rss", self.levels)


def _pyperf_row(row: Node, root: Node) -> BenchmarkResult:
    id_ = ""
    try:
        runs = list(row["runs"].each())
        name = _metadata("name", (*runs[:1], row, root))
        id_ = name.text if name else ""
        found = ((run.get("values"), run) for run in runs)
        processes = [_Process(values, (run, row, root)) for values, run in found if values]
        if not processes:
            return failed(_PYPERF_NAME, id_, "it was only calibrated: no run has values")
        return benchmark(_PYPERF_NAME, id_, _series(processes))
    except RowError as error:
        return failed(_PYPERF_NAME, id_, str(error))


def _series(processes: list[_Process]) -> list[Series]:
    unit = _metadata("unit", processes[0].levels)
    metric = _PYPERF_METRICS.get(unit.text) if unit else TIME
    if metric is None:
        raise RowError(f"the unit {shown(unit and unit.text)} is unknown")
    samples = [each.values.list for each in processes]
    places = [each.values.place for each in processes]
    loops = usual_loops([each.loops for each in processes]) if metric is TIME else 1
    series = [sampled(metric, samples, places, loops=loops)]
    peaks = [peak for each in processes if (peak := each.peak)]
    if len(peaks) == len(processes):
        values = [[peak.number] for peak in peaks]
        series.append(sampled(PEAK_RSS, values, [peak.place for peak in peaks]))
    return series


def _metadata(key: str, levels: tuple[Node, ...] | list[Node]) -> Node | None:
    """What the metadata say of a key, at the first of these levels that has it."""
    for level in levels:
        metadata = level.get("metadata")
        if metadata and (found := metadata.get(key)):
            return found
    return None


PYPERF = ForeignFormat(_PYPERF_NAME, _PYPERF_ADVICE, _is_pyperf, _parse_pyperf)


_PYTEST_NAME = "pytest-benchmark"
_PYTEST_ADVICE = Advice("pytest --benchmark-json=FILE")


def _is_pytest(source: Source) -> bool:
    """Whether the content is that of pytest-benchmark."""
    return source.head.startswith(b"{") and b'"machine_info"' in source.head


def _parse_pytest(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks.
    """
    root = read_json(source)
    try:
        rows = list(root["benchmarks"].each())
        version = root.get("version")
        tool = f"{_PYTEST_NAME} {version.text}" if version else _PYTEST_NAME
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(tool, distinct(_PYTEST_NAME, map(_pytest_row, rows)))


def _pytest_row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["fullname"].text
        stats = row["stats"]
        if data := stats.get("data"):
            iterations = stats.get("iterations")
            loops = usual_loops([iterations.number]) if iterations else 1
            return benchmark(_PYTEST_NAME, id_, [times([data.list], data.place, loops=loops)])
        median = stats["median"]
        return benchmark(_PYTEST_NAME, id_, [time_summary(median.number, median.place)])
    except RowError as error:
        return failed(_PYTEST_NAME, id_, str(error))


PYTEST_BENCHMARK = ForeignFormat(_PYTEST_NAME, _PYTEST_ADVICE, _is_pytest, _parse_pytest)
