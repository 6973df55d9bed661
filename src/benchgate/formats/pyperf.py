"""pyperf: `python -m pyperf timeit -o FILE`, or what a `pyperf.Runner` writes.

Each run is a process of its own. Its values are per iteration and without the warmups; a run
without values only looked for the number of loops. What several runs or benchmarks have in common
stands once, in the metadata of the benchmark or of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.means import usual_loops
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
)
from benchgate.model.run import PEAK_RSS, TIME, Metric

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "pyperf"
ADVICE = Advice(
    "python BENCHMARK.py --processes 20 -o FILE",
    launches="With `--processes 20`, which is the default, one file holds twenty launches.",
)

# For pyperf, less is better in every unit.
_METRICS = {"second": TIME, "byte": Metric("memory", "B"), "integer": Metric("value", "")}
_VERSIONS = ("1.0", 6)


def sniff(source: Source) -> bool:
    """Whether the content is that of pyperf."""
    head = source.head
    return head.startswith(b"{") and b'"benchmarks"' in head[:100] and b'"runs"' in head


def parse(source: Source) -> Reading:
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
    found = (_row(row, root) for row in rows)
    return Reading(f"{NAME} {tool.value}" if tool else NAME, distinct(NAME, found))


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


def _row(row: Node, root: Node) -> BenchmarkResult:
    id_ = ""
    try:
        runs = list(row["runs"].each())
        name = _metadata("name", (*runs[:1], row, root))
        id_ = name.text if name else ""
        found = ((run.get("values"), run) for run in runs)
        processes = [_Process(values, (run, row, root)) for values, run in found if values]
        if not processes:
            return failed(NAME, id_, "it was only calibrated: no run has values")
        return benchmark(NAME, id_, _series(processes))
    except RowError as error:
        return failed(NAME, id_, str(error))


def _series(processes: list[_Process]) -> list[Series]:
    unit = _metadata("unit", processes[0].levels)
    metric = _METRICS.get(unit.text) if unit else TIME
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
