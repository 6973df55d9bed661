"""BenchmarkDotNet: the files of its JSON exporters, `*-report-full.json` and `*-report-brief.json`.

Of the measurements, those of the workload in the stage `Result` count: without outliers, and with
the overhead subtracted. Each is the total time of its operations, in nanoseconds; each launch is a
process of its own. A brief file has only statistics. What diagnosers found has one value for each
benchmark, with its unit and its direction.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.means import means, usual_loops
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    summary,
    time_summary,
    times,
)
from benchgate.model.run import Better

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "benchmarkdotnet"
ADVICE = Advice(
    "dotnet run -c Release -- --exporters fulljson --launchCount 10",
    launches="With `--launchCount 10`, one file holds ten launches.",
)

_SIZES = {"ns": ("s", 1e-9), "B": ("B", 1.0), "Count": ("", 1.0)}


def sniff(source: Source) -> bool:
    """Whether the content is that of BenchmarkDotNet."""
    head = source.head
    return head.startswith(b"{") and b'"BenchmarkDotNetVersion"' in head[:4000]


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks.
    """
    root = read_json(source)
    try:
        rows = list(root["Benchmarks"].each())
        version = root["HostEnvironmentInfo"].get("BenchmarkDotNetVersion")
        names = Counter(name.text for row in rows if (name := row.get("FullName")))
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: list[str] = []
    found = distinct(NAME, (_benchmark(row, names, skipped) for row in rows))
    return Reading(f"{NAME} {version.value}" if version else NAME, found, tuple(skipped))


def _benchmark(row: Node, names: Counter[str], skipped: list[str]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["FullName"].text
        if names[id_] > 1:  # once for each job
            id_ += _job(row["DisplayInfo"].text)
        series = [_time(row), *_diagnosed(row, id_, skipped)]
        return benchmark(NAME, id_, series)
    except RowError as error:
        return failed(NAME, id_, str(error))


def _job(info: str) -> str:
    """How a job differs, from "Type.Method: Job-ABCDEF(Runtime=.NET 8.0) [N=10]"."""
    job = info.partition(": ")[2].partition(" [")[0]
    name, found, settings = job.partition("(")
    return f"[{settings.removesuffix(')') if found else name}]"


def _time(row: Node) -> Series:
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
        return times([samples for samples, _ in found], places, loops=loops)
    statistics = row.get("Statistics")
    if statistics is None:
        raise RowError("it failed under BenchmarkDotNet, whose log says why")
    median = statistics["Median"]
    return time_summary(median.number * 1e-9, median.place)


def _diagnosed(row: Node, id_: str, skipped: list[str]) -> list[Series]:
    metrics, memory = row.get("Metrics"), row.get("Memory")
    series = []
    for metric in metrics.each() if metrics else ():
        try:
            series.append(_metric(metric))
        except RowError as error:
            skipped.append(f"a metric of {id_}: {error}")
    if metrics is None and memory and (value := memory.get("BytesAllocatedPerOperation")):
        series.append(summary("Allocated Memory", "B", value.number, value.place))
    return series


def _metric(node: Node) -> Series:
    descriptor = node["Descriptor"]
    unit, scale = _SIZES.get(unit := descriptor["Unit"].text, (unit, 1.0))
    better = Better.HIGHER if descriptor["TheGreaterTheBetter"].value is True else Better.LOWER
    value = node["Value"]
    return summary(descriptor["Id"].text, unit, value.number * scale, value.place, better=better)
