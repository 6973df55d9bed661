"""What BenchmarkDotNet writes: its full JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchgate.formats.contents import RowError, read_json
from benchgate.formats.origin import BUILD, environment, told
from benchgate.formats.rows import (
    begins,
    means,
    reads,
    sampled,
    summary,
    time_summary,
    usual_loops,
)
from benchgate.model.metrics import TIME, Better, Kind

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows
    from benchgate.model.run import Series


_SIZES = {"ns": ("s", 1e-9), "B": ("B", 1.0), "Count": ("", 1.0)}


@reads(
    "benchmarkdotnet",
    "dotnet run -c Release -- --exporters fulljson --launchCount 10",
    begins(b"{", near=(4000, b'"BenchmarkDotNetVersion"')),
    launches="With `--launchCount 10`, one file holds ten launches.",
)
def benchmarkdotnet(source: ForeignFile, rows: ReadRows) -> None:
    """BenchmarkDotNet: its JSON exporters, `*-report-full.json` and `*-report-brief.json`.

    Of the measurements, those of the workload in the stage `Result` count: without outliers, and
    with the overhead subtracted. Each is the total time of its operations, in nanoseconds; each
    launch is a process of its own. A brief file has only statistics. What diagnosers found has one
    value for each benchmark, with its unit and its direction.
    """
    root = read_json(source)
    nodes = list(root["Benchmarks"].each())
    host = root["HostEnvironmentInfo"]
    if version := host.get("BenchmarkDotNetVersion"):
        rows.version = str(version.value)
    rows.ran_on(
        environment(
            cpu=told(host, "ProcessorName"),
            machine=told(host, "Architecture"),
            cores=told(host, "LogicalCoreCount"),
            os=told(host, "OsVersion"),
            tools={".NET": told(host, "RuntimeVersion"), BUILD: told(host, "Configuration")},
        )
    )
    names = Counter(name.text for node in nodes if (name := node.get("FullName")))
    for node in nodes:
        with rows.row() as row:
            row.id = node["FullName"].text
            if names[row.id] > 1:  # once for each job
                row.id += _job(node["DisplayInfo"].text)
            row.series.append(_dotnet_time(node))
            metrics, memory = node.get("Metrics"), node.get("Memory")
            for metric in metrics.each() if metrics else ():
                try:
                    row.series.append(_diagnosed(metric))
                except RowError as error:
                    rows.skip(f"a metric of {row.id}: {error}")
            if metrics is None and memory and (size := memory.get("BytesAllocatedPerOperation")):
                row.series.append(
                    summary("Allocated Memory", "B", size.number, size.place, kind=Kind.EXACT)
                )


def _job(info: str) -> str:
    """How a job differs, from "Type.Method: Job-ABCDEF(Runtime=.NET 8.0) [N=10]"."""
    job = info.partition(": ")[2].partition(" [")[0]
    name, found, settings = job.partition("(")
    return f"[{settings.removesuffix(')') if found else name}]"


def _dotnet_time(row: Node) -> Series:
    launches: dict[float, list[tuple[float, float]]] = {}
    measurements = row.get("Measurements")
    for each in measurements.each() if measurements else ():
        stage = each.get("IterationStage")
        if stage and stage.value == "Result" and each["IterationMode"].value == "Workload":
            total = each["Nanoseconds"].number, each["Operations"].number
            launches.setdefault(each["LaunchIndex"].number, []).append(total)
    if launches:
        places = [f"{row.place}.Measurements, launch {index:g}" for index in sorted(launches)]
        found = [
            means([ns for ns, _ in launch], [loops for _, loops in launch], 1e-9, place)
            for place, (_, launch) in zip(places, sorted(launches.items()), strict=True)
        ]
        loops = usual_loops([loops for _, loops in found])
        return sampled(TIME, [samples for samples, _ in found], places, loops=loops)
    statistics = row.get("Statistics")
    if statistics is None:
        raise RowError("it failed under BenchmarkDotNet, whose log says why")
    median = statistics["Median"]
    return time_summary(median.number * 1e-9, median.place)


def _diagnosed(node: Node) -> Series:
    descriptor = node["Descriptor"]
    unit, scale = _SIZES.get(unit := descriptor["Unit"].text, (unit, 1.0))
    better = Better.HIGHER if descriptor["TheGreaterTheBetter"].value is True else Better.LOWER
    value, kind = node["Value"], Kind.EXACT if unit == "B" else Kind.SUMMARY
    return summary(
        descriptor["Id"].text, unit, value.number * scale, value.place, better=better, kind=kind
    )
