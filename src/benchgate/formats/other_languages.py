"""Formats of Java, .NET, Haskell and Ruby: JMH, BenchmarkDotNet, criterion and benchmark-ips."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.contents import RowError, read_json, read_table, shown
from benchgate.formats.origin import BUILD, environment, told
from benchgate.formats.rows import (
    begins,
    means,
    numbers,
    reads,
    sampled,
    summary,
    time_summary,
    usual_loops,
)
from benchgate.model.run import CPU_TIME, TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from benchgate.arrays import FloatArray
    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows
    from benchgate.model.run import Series

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0}
_SECONDS["sec"] = 1.0  # so kotlinx-benchmark writes it
_TEXTS = {"NaN": np.nan, "+INF": np.inf, "-INF": -np.inf}
_MOST_PER_PAIR = 20


@reads(
    "jmh",
    "java -jar benchmarks.jar -f 10 -rf json -rff FILE",
    begins(b"[", b'"primaryMetric"', b'"benchmark"'),
    launches="With `-f 10`, one file holds ten launches: the forks.",
)
def jmh(source: ForeignFile, rows: ReadRows) -> None:
    """JMH: `-rf json -rff FILE`.

    `rawData` has a list for each fork, which is a process of its own, with the score of each
    iteration. In the mode `sample` it is `rawDataHistogram`: for each iteration, pairs of a time
    and how often it was measured. JMH writes NaN and infinity as text. A unit of operations per
    time is better if higher, and one of an amount per operation if lower; JMH says of no other what
    is better.
    """
    nodes = list(read_json(source).each())
    if nodes and (version := nodes[0].get("jmhVersion")):
        rows.version = str(version.value)
    for node in nodes:
        with rows.row() as row:
            row.id = node["benchmark"].text
            row.id = f"{row.id}[{','.join(_params(node))}]"
            vm = f"{told(node, 'vmName')} {told(node, 'vmVersion')}".strip()
            rows.ran_on(environment(tools={"JDK": told(node, "jdkVersion"), "VM": vm}))
            row.series.append(_primary(node["primaryMetric"]))
            secondary = node.get("secondaryMetrics")
            for name, metric in secondary.items() if secondary else ():
                try:
                    found, scale = _jmh_metric(metric["scoreUnit"].text, name)
                    row.series.append(_forks(metric["rawData"], found, scale))
                except RowError as error:
                    rows.skip(f"{name}: {error}")


def _params(row: Node) -> Iterator[str]:
    """The mode and the params; JMH runs the same method once for each combination of them."""
    yield f"mode={row['mode'].text}"
    params = row.get("params")
    for key, node in sorted(params.items()) if params else ():
        yield f"{key}={node.value}"


def _primary(node: Node) -> Series:
    metric, scale = _jmh_metric(node["scoreUnit"].text, "")
    if histogram := node.get("rawDataHistogram"):
        forks = [_from_histogram(fork) for fork in histogram.each()]
        return sampled(metric, forks, [fork.place for fork in histogram.each()], scale=scale)
    raw = node.get("rawData")
    if raw is None or not raw.list:  # without them if -Djmh.json.rawData=false
        score = node["score"]
        value = float(_scores([score.value], score.place)[0]) * scale
        return summary(metric.name, metric.unit, value, score.place, better=metric.better)
    return _forks(raw, metric, scale)


def _forks(raw: Node, metric: Metric, scale: float) -> Series:
    forks = list(raw.each())
    samples = [_scores(fork.list, fork.place) for fork in forks]
    return sampled(metric, samples, [fork.place for fork in forks], scale=scale)


def _jmh_metric(unit: str, name: str) -> tuple[Metric, float]:
    """The metric of a unit, and the size of the unit.

    Args:
        name: of a secondary metric; "" for the primary one.
    """
    amount, _, per = unit.partition("/")
    if amount == "ops" and per in _SECONDS:
        return Metric(name or "throughput", "ops/s", Better.HIGHER), 1 / _SECONDS[per]
    if amount in _SECONDS and per == "op":
        return (Metric(name, "s") if name else TIME), _SECONDS[amount]
    if per == "op":
        is_counted = amount == "B" or name.startswith("instructions")
        kind = Kind.EXACT if is_counted else Kind.SAMPLED
        return Metric(name or unit, "B" if amount == "B" else unit, kind=kind), 1.0
    raise RowError(f"JMH does not say which direction of {shown(unit)} is better")


def _scores(values: list[Any], place: str) -> FloatArray:
    known: list[Any] = [
        _TEXTS.get(each, each) if isinstance(each, str) else each for each in values
    ]
    return numbers(known, place)


def _from_histogram(fork: Node) -> FloatArray:
    """The times of a fork in ascending order; of very many, as many as show their shape."""
    pairs = [pair for iteration in fork.each() for pair in iteration.each()]
    if any(len(pair.list) != 2 for pair in pairs):
        raise RowError(f"{fork.place}: is not a list of pairs for each iteration")
    values = _scores([pair.list[0] for pair in pairs], fork.place)
    counts = numbers([pair.list[1] for pair in pairs], fork.place)
    if not counts.size or not np.all((counts >= 1) & (counts < 2.0**53 / len(counts))):
        raise RowError(f"{fork.place}: is not a histogram")
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order])
    total = int(ends[-1])
    count = min(total, _MOST_PER_PAIR * len(pairs))
    ranks = (np.arange(count) + 0.5) * (total / count)
    found: FloatArray = values[order][np.searchsorted(ends, ranks)]
    return found


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


_HEADER = b"Name,Mean,MeanLB,MeanUB,Stddev"
_LEAST_S = 0.03
_COLUMNS = {
    "time": TIME,
    "cpuTime": CPU_TIME,
    "allocated": Metric("allocated", "B", kind=Kind.EXACT),
}


def _is_haskell_criterion(source: ForeignFile) -> bool:
    is_json = begins(b"[", b'"report', near=(50, b'"criterion"'))(source)
    return is_json or source.head.startswith(_HEADER)


@reads("haskell-criterion", "./BENCHMARK --json FILE", _is_haskell_criterion)
def haskell_criterion(source: ForeignFile, rows: ReadRows) -> None:
    """Criterion for Haskell: the files of `--json` and of `--csv`.

    In JSON, `reportKeys` names the columns of `reportMeasured`, which has a row for each sample
    with the totals of its iterations, in seconds. criterion itself leaves out the samples that took
    less than 30 ms, and so does benchgate if there are others. CSV has only means, in seconds.
    """
    if source.head.startswith(_HEADER):
        for place, cells in read_table(source, source.text("backslashreplace")):
            with rows.row(cells.get("Name", "")) as row:
                try:
                    mean_s = float(cells.get("Mean", ""))
                except ValueError:
                    what = f"{cells.get('Mean')!r} is not a number"
                    raise RowError(f"{place}: Mean: {what}") from None
                row.series.append(time_summary(mean_s, place))
        return
    parts = list(read_json(source).each())
    if len(parts) != 3:
        raise RowError("is not a list of a name, a version and reports")
    rows.version = str(parts[1].value)
    for report in parts[2].each():
        with rows.row() as row:
            row.id = report["reportName"].text
            columns = _columns(report)
            for key, values in columns.items():
                is_known = key in _COLUMNS or key in {"iters", "cycles"}
                if not is_known and any(each is not None for each in values):
                    rows.skip(f"the column {key}: benchgate reads only {', '.join(_COLUMNS)}")
            row.series += _haskell_series(columns, report["reportMeasured"].place)


def _columns(report: Node) -> dict[str, list[Any]]:
    keys = [key.text for key in report["reportKeys"].each()]
    rows = list(report["reportMeasured"].each())
    for row in rows:
        if len(row.list) != len(keys):
            raise RowError(f"{row.place}: has {len(row.list)} values, not {len(keys)}")
    return {key: [row.list[index] for row in rows] for index, key in enumerate(keys)}


def _haskell_series(columns: dict[str, list[Any]], place: str) -> Iterator[Series]:
    for key in ("time", "iters"):
        if key not in columns:
            raise RowError(f"{place}: the key {key!r} is missing")
    long = [isinstance(each, float | int) and each >= _LEAST_S for each in columns["time"]]
    chosen = [index for index, is_long in enumerate(long) if is_long or not any(long)]
    loops = [columns["iters"][index] for index in chosen]
    for key, metric in _COLUMNS.items():
        totals = [columns[key][index] for index in chosen] if key in columns else []
        if key == "time" or any(each is not None for each in totals):
            where = f"{place}: {key}"
            found, usual = means(totals, loops, 1.0, where)
            yield sampled(metric, [found], where, loops=usual)


@reads(
    "benchmark-ips",
    "ruby BENCHMARK.rb, with `x.json! 'FILE'` in it",
    begins(b"[", b'"central_tendency"'),
    has_samples=False,
)
def benchmark_ips(source: ForeignFile, rows: ReadRows) -> None:
    """benchmark-ips: the file that `x.json! FILE` writes.

    It has no samples, but for each benchmark the central tendency of its iterations per second.
    """
    for node in read_json(source).each():
        with rows.row() as row:
            row.id = node["name"].text
            rate = node["central_tendency"]
            better = Better.HIGHER
            row.series.append(summary("throughput", "i/s", rate.number, rate.place, better=better))
