"""What pyperf writes: JSON with every process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.formats.contents import Node, RowError, read_json, shown
from benchgate.formats.origin import cpu_of, environment, told
from benchgate.formats.rows import begins, reads, sampled, usual_loops
from benchgate.model.metrics import PEAK_RSS, TIME, Metric
from benchgate.model.run import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows
    from benchgate.model.environment import Environment
    from benchgate.model.run import Series


# For pyperf, less is better in every unit.
_PYPERF_METRICS = {"second": TIME, "byte": Metric("memory", "B"), "integer": Metric("value", "")}


@reads(
    "pyperf",
    "python BENCHMARK.py --processes 20 -o FILE",
    begins(b"{", b'"runs"', near=(100, b'"benchmarks"')),
    launches="With `--processes 20`, which is the default, one file holds twenty launches.",
)
def pyperf(source: ForeignFile, rows: ReadRows) -> None:
    """pyperf: `python -m pyperf timeit -o FILE`, or what a `pyperf.Runner` writes.

    Each run is a process of its own. Its values are per iteration and without the warmups; a run
    without values only looked for the number of loops. What several runs or benchmarks have in
    common stands once, in the metadata of the benchmark or of the file.
    """
    root = read_json(source)
    nodes = list(root["benchmarks"].each())
    version = root["version"].value
    if tool := _metadata("perf_version", [root]):
        rows.version = str(tool.value)
    if version not in ("1.0", 6):
        hint = "Let a newer pyperf convert the file: pyperf convert FILE -o NEW."
        raise source.error("", f"benchgate does not read version {shown(version)}", hint)
    rows.measured(told(root, "metadata", "commit_id"))
    for node in nodes:
        with rows.row() as row:
            runs = list(node["runs"].each())
            if name := _metadata("name", [*runs[:1], node, root]):
                row.id = name.text
            found = ((run.get("values"), run) for run in runs)
            processes = [_Process(values, (run, node, root)) for values, run in found if values]
            if not processes:
                raise RowError("it was only calibrated: no run has values")
            for each in processes:
                rows.ran_on(_pyperf_machine(each))
            row.series += _pyperf_series(processes)


@dataclass(frozen=True, slots=True)
class _Process:
    """A run with values.

    Attributes:
        levels: where its metadata may stand, first what is particular to it.
    """

    values: Node
    levels: tuple[Node, ...]

    def told(self, key: str) -> str:
        return told(_metadata(key, self.levels))

    def count(self, key: str) -> float:
        found = _metadata(key, self.levels)
        return found.number if found else 1


def _pyperf_machine(process: _Process) -> Environment:
    system, _, release = process.told("platform").partition("-")
    version = f"{process.told('python_implementation')} {process.told('python_version')}"
    return environment(
        cpu=process.told("cpu_model_name") or cpu_of(process.told("hostname")),
        cores=process.told("cpu_count"),
        os=system,
        kernel=release,
        tools={PYTHON: version.strip()},
    )


def _pyperf_series(processes: list[_Process]) -> list[Series]:
    unit = _metadata("unit", processes[0].levels)
    metric = _PYPERF_METRICS.get(unit.text) if unit else TIME
    if metric is None:
        raise RowError(f"the unit {shown(unit and unit.text)} is unknown")
    loops = 1
    if metric is TIME:
        loops = usual_loops([each.count("loops") * each.count("inner_loops") for each in processes])
    samples = [each.values.list for each in processes]
    series = [sampled(metric, samples, [each.values.place for each in processes], loops=loops)]
    found = (
        # That of the command, if the benchmark ran one.
        _metadata("command_max_rss", each.levels) or _metadata("mem_max_rss", each.levels)
        for each in processes
    )
    peaks = [peak for peak in found if peak]
    if len(peaks) == len(processes):
        values = [[peak.number] for peak in peaks]
        series.append(sampled(PEAK_RSS, values, [peak.place for peak in peaks]))
    return series


def _metadata(key: str, levels: Iterable[Node]) -> Node | None:
    """What the metadata say of a key, at the first of these levels that has it."""
    for level in levels:
        metadata = level.get("metadata")
        if metadata and (found := metadata.get(key)):
            return found
    return None
