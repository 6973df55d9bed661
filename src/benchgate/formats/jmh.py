"""JMH: `-rf json -rff FILE`.

`rawData` has a list for each fork, which is a process of its own, with the score of each iteration.
In the mode `sample` it is `rawDataHistogram`: for each iteration, pairs of a time and how often it
was measured. JMH writes NaN and infinity as text. A unit of operations per time is better if
higher, and one of an amount per operation if lower; JMH says of no other what is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.best_input import Advice
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    numbers,
    sampled,
    shown,
    summary,
)
from benchgate.model.run import TIME, Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from benchgate.arrays import FloatArray
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "jmh"
ADVICE = Advice(
    "java -jar benchmarks.jar -f 10 -rf json -rff FILE",
    launches="With `-f 10`, one file holds ten launches: the forks.",
)

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0}
_SECONDS["sec"] = 1.0  # so kotlinx-benchmark writes it
_TEXTS = {"NaN": np.nan, "+INF": np.inf, "-INF": -np.inf}
_MOST_PER_PAIR = 20


def sniff(source: Source) -> bool:
    """Whether the content is that of JMH."""
    head = source.head
    return head.startswith(b"[") and b'"primaryMetric"' in head and b'"benchmark"' in head


def parse(source: Source) -> Reading:
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
    found = distinct(NAME, (_benchmark(row, skipped) for row in rows))
    return Reading(f"{NAME} {version.value}" if version else NAME, found, tuple(skipped))


def _benchmark(row: Node, skipped: dict[str, None]) -> BenchmarkResult:
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
        return benchmark(NAME, id_, series)
    except RowError as error:
        return failed(NAME, id_, str(error))


def _params(row: Node) -> Iterator[str]:
    """The mode and the params; JMH runs the same method once for each combination of them."""
    yield f"mode={row['mode'].text}"
    params = row.get("params")
    for key, node in sorted(params.items()) if params else ():
        yield f"{key}={node.value}"


def _primary(node: Node) -> Series:
    unit = node["scoreUnit"].text
    metric, scale = _metric(unit, "")
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
    metric, scale = _metric(node["scoreUnit"].text, name)
    return _forks(node["rawData"], metric, scale)


def _forks(raw: Node, metric: Metric, scale: float) -> Series:
    forks = list(raw.each())
    samples = [_scores(fork.list, fork.place) for fork in forks]
    return sampled(metric, samples, [fork.place for fork in forks], scale=scale)


def _metric(unit: str, name: str) -> tuple[Metric, float]:
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
