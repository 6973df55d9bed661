"""What JMH writes: JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.contents import RowError, read_json, shown
from benchgate.formats.origin import environment, told
from benchgate.formats.rows import (
    begins,
    numbers,
    reads,
    sampled,
    summary,
)
from benchgate.model.metrics import TIME, Better, Kind, Metric

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
