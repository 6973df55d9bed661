"""JMH, BenchmarkDotNet, criterion for Haskell, and benchmark-ips of Ruby.

`rawData` has a list for each fork, which is a process of its own, with the score of each iteration.
In the mode `sample` it is `rawDataHistogram`: for each iteration, pairs of a time and how often it
was measured. JMH writes NaN and infinity as text. A unit of operations per time is better if
higher, and one of an amount per operation if lower; JMH says of no other what is better.

Of the measurements, those of the workload in the stage `Result` count: without outliers, and with
the overhead subtracted. Each is the total time of its operations, in nanoseconds; each launch is a
process of its own. A brief file has only statistics. What diagnosers found has one value for each
benchmark, with its unit and its direction.

In JSON, `reportKeys` names the columns of `reportMeasured`, which has a row for each sample with
the totals of its iterations, in seconds. criterion itself leaves out the samples that took less
than 30 ms, and so does this module if there are others. CSV has only means, in seconds.

It has no samples, but for each benchmark the central tendency of its iterations per second.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.contents import Node, read_json
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    means,
    numbers,
    sampled,
    shown,
    summary,
    time_summary,
    times,
    usual_loops,
)
from benchgate.model.run import CPU_TIME, TIME, Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from benchgate.arrays import FloatArray
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


_JMH_NAME = "jmh"
_JMH_ADVICE = Advice(
    "java -jar benchmarks.jar -f 10 -rf json -rff FILE",
    launches="With `-f 10`, one file holds ten launches: the forks.",
)

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0}
_SECONDS["sec"] = 1.0  # so kotlinx-benchmark writes it
_TEXTS = {"NaN": np.nan, "+INF": np.inf, "-INF": -np.inf}
_MOST_PER_PAIR = 20


def _is_jmh(source: Source) -> bool:
    """Whether the content is that of JMH."""
    head = source.head
    return head.startswith(b"[") and b'"primaryMetric"' in head and b'"benchmark"' in head


def _parse_jmh(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    root = read_json(source)
    try:
        rows = list(root.each())
        version = rows[0].get("jmhVersion") if rows else None
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: dict[str, None] = {}
    found = distinct(_JMH_NAME, (_jmh_benchmark(row, skipped) for row in rows))
    return Reading(f"{_JMH_NAME} {version.value}" if version else _JMH_NAME, found, tuple(skipped))


def _jmh_benchmark(row: Node, skipped: dict[str, None]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["benchmark"].text
        id_ = f"{id_}[{','.join(_params(row))}]"
        series = [_primary(row["primaryMetric"])]
        secondary = row.get("secondaryMetrics")
        for name, node in secondary.items() if secondary else ():
            try:
                series.append(_secondary(name, node))
            except RowError as error:
                skipped[f"{name}: {error}"] = None
        return benchmark(_JMH_NAME, id_, series)
    except RowError as error:
        return failed(_JMH_NAME, id_, str(error))


def _params(row: Node) -> Iterator[str]:
    """The mode and the params; JMH runs the same method once for each combination of them."""
    yield f"mode={row['mode'].text}"
    params = row.get("params")
    for key, node in sorted(params.items()) if params else ():
        yield f"{key}={node.value}"


def _primary(node: Node) -> Series:
    unit = node["scoreUnit"].text
    metric, scale = _jmh_metric(unit, "")
    if histogram := node.get("rawDataHistogram"):
        forks = [_from_histogram(fork) for fork in histogram.each()]
        return sampled(metric, forks, [fork.place for fork in histogram.each()], scale=scale)
    raw = node.get("rawData")
    if raw is None or not raw.list:  # without them if -Djmh.json.rawData=false
        score = node["score"]
        value = float(_scores([score.value], score.place)[0]) * scale
        return summary(metric.name, metric.unit, value, score.place, better=metric.better)
    return _forks(raw, metric, scale)


def _secondary(name: str, node: Node) -> Series:
    metric, scale = _jmh_metric(node["scoreUnit"].text, name)
    return _forks(node["rawData"], metric, scale)


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
        return Metric(name or unit, "B" if amount == "B" else unit), 1.0
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


JMH = ForeignFormat(_JMH_NAME, _JMH_ADVICE, _is_jmh, _parse_jmh)


_DOTNET_NAME = "benchmarkdotnet"
_DOTNET_ADVICE = Advice(
    "dotnet run -c Release -- --exporters fulljson --launchCount 10",
    launches="With `--launchCount 10`, one file holds ten launches.",
)

_SIZES = {"ns": ("s", 1e-9), "B": ("B", 1.0), "Count": ("", 1.0)}


def _is_dotnet(source: Source) -> bool:
    """Whether the content is that of BenchmarkDotNet."""
    head = source.head
    return head.startswith(b"{") and b'"BenchmarkDotNetVersion"' in head[:4000]


def _parse_dotnet(source: Source) -> Reading:
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
    found = distinct(_DOTNET_NAME, (_dotnet_benchmark(row, names, skipped) for row in rows))
    return Reading(
        f"{_DOTNET_NAME} {version.value}" if version else _DOTNET_NAME, found, tuple(skipped)
    )


def _dotnet_benchmark(row: Node, names: Counter[str], skipped: list[str]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["FullName"].text
        if names[id_] > 1:  # once for each job
            id_ += _job(row["DisplayInfo"].text)
        series = [_time(row), *_diagnosed(row, id_, skipped)]
        return benchmark(_DOTNET_NAME, id_, series)
    except RowError as error:
        return failed(_DOTNET_NAME, id_, str(error))


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
            series.append(_dotnet_metric(metric))
        except RowError as error:
            skipped.append(f"a metric of {id_}: {error}")
    if metrics is None and memory and (value := memory.get("BytesAllocatedPerOperation")):
        series.append(summary("Allocated Memory", "B", value.number, value.place))
    return series


def _dotnet_metric(node: Node) -> Series:
    descriptor = node["Descriptor"]
    unit, scale = _SIZES.get(unit := descriptor["Unit"].text, (unit, 1.0))
    better = Better.HIGHER if descriptor["TheGreaterTheBetter"].value is True else Better.LOWER
    value = node["Value"]
    return summary(descriptor["Id"].text, unit, value.number * scale, value.place, better=better)


BENCHMARKDOTNET = ForeignFormat(_DOTNET_NAME, _DOTNET_ADVICE, _is_dotnet, _parse_dotnet)


_HASKELL_NAME = "haskell-criterion"
_HASKELL_ADVICE = Advice("./BENCHMARK --json FILE")

_HEADER = b"Name,Mean,MeanLB,MeanUB,Stddev"
_LEAST_S = 0.03
_METRICS = {"time": TIME, "cpuTime": CPU_TIME, "allocated": Metric("allocated", "B")}
_KNOWN = {*_METRICS, "iters", "cycles"}


def _is_haskell(source: Source) -> bool:
    """Whether the content is that of criterion for Haskell."""
    head = source.head
    is_json = head.startswith(b"[") and b'"criterion"' in head[:50] and b'"report' in head
    return is_json or head.startswith(_HEADER)


def _parse_haskell(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is neither JSON with a list of reports nor CSV with their means.
    """
    if source.head.startswith(_HEADER):
        return Reading(_HASKELL_NAME, distinct(_HASKELL_NAME, _csv_rows(source)))
    root = read_json(source)
    try:
        parts = list(root.each())
        if len(parts) != 3:
            raise source.error("", "is not a list of a name, a version and reports")
        reports = list(parts[2].each())
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: dict[str, None] = {}
    rows = distinct(_HASKELL_NAME, (_haskell_row(report, skipped) for report in reports))
    return Reading(f"{_HASKELL_NAME} {parts[1].value}", rows, tuple(skipped))


def _haskell_row(report: Node, skipped: dict[str, None]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = report["reportName"].text
        columns = _columns(report)
        for key, values in columns.items():
            if key not in _KNOWN and any(each is not None for each in values):
                skipped[f"the column {key}: benchgate reads only {', '.join(_METRICS)}"] = None
        return benchmark(_HASKELL_NAME, id_, _series(columns, report["reportMeasured"].place))
    except RowError as error:
        return failed(_HASKELL_NAME, id_, str(error))


def _columns(report: Node) -> dict[str, list[Any]]:
    """The measured values by their key."""
    keys = [key.text for key in report["reportKeys"].each()]
    rows = list(report["reportMeasured"].each())
    for row in rows:
        if len(row.list) != len(keys):
            raise RowError(f"{row.place}: has {len(row.list)} values, not {len(keys)}")
    return {key: [row.list[index] for row in rows] for index, key in enumerate(keys)}


def _series(columns: dict[str, list[Any]], place: str) -> list[Series]:
    for key in ("time", "iters"):
        if key not in columns:
            raise RowError(f"{place}: the key {key!r} is missing")
    long = [isinstance(each, float | int) and each >= _LEAST_S for each in columns["time"]]
    chosen = [index for index, is_long in enumerate(long) if is_long or not any(long)]
    loops = [columns["iters"][index] for index in chosen]
    series = []
    for key, metric in _METRICS.items():
        totals = [columns[key][index] for index in chosen] if key in columns else []
        if key == "time" or any(each is not None for each in totals):
            where = f"{place}: {key}"
            found, usual = means(totals, loops, 1.0, where)
            series.append(sampled(metric, [found], where, loops=usual))
    return series


def _csv_rows(source: Source) -> list[BenchmarkResult]:
    reader = csv.DictReader(io.StringIO(source.text("backslashreplace"), newline=""), strict=True)
    try:
        return [_csv_row(row, f"line {reader.line_num}") for row in reader]
    except csv.Error as error:
        raise source.error(f"line {reader.reader.line_num}", f"is not CSV: {error}") from None


def _csv_row(row: dict[str | Any, str | Any], place: str) -> BenchmarkResult:
    name = row.get("Name") or ""
    try:
        return benchmark(_HASKELL_NAME, name, [time_summary(float(row.get("Mean") or ""), place)])
    except ValueError:
        return failed(_HASKELL_NAME, name, f"{place}: Mean: {row.get('Mean')!r} is not a number")
    except RowError as error:
        return failed(_HASKELL_NAME, name, str(error))


HASKELL_CRITERION = ForeignFormat(_HASKELL_NAME, _HASKELL_ADVICE, _is_haskell, _parse_haskell)


_IPS_NAME = "benchmark-ips"
_IPS_ADVICE = Advice("ruby BENCHMARK.rb, with `x.json! 'FILE'` in it", has_samples=False)


def _is_ips(source: Source) -> bool:
    """Whether the content is that of benchmark-ips."""
    return source.head.startswith(b"[") and b'"central_tendency"' in source.head


def _parse_ips(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    root = read_json(source)
    try:
        rows = list(root.each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(_IPS_NAME, distinct(_IPS_NAME, map(_ips_row, rows)))


def _ips_row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["name"].text
        rate = row["central_tendency"]
        series = summary("throughput", "i/s", rate.number, rate.place, better=Better.HIGHER)
        return benchmark(_IPS_NAME, id_, [series])
    except RowError as error:
        return failed(_IPS_NAME, id_, str(error))


BENCHMARK_IPS = ForeignFormat(_IPS_NAME, _IPS_ADVICE, _is_ips, _parse_ips)
