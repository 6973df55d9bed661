"""k6: the end-of-test summary, or the points of `--out json=FILE`; times in milliseconds.

The summary is the file of `--summary-export`, or the `data` of `handleSummary` as JSON. The first
one does not say what a metric of the script measures, so only the metrics of k6 itself are read.
The id of a benchmark is what a threshold would name: `http_req_duration{name:E}`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.k6_metrics import RATIOS, THROUGHPUTS, UNIT_S, is_time, of_requests, unread
from benchgate.formats.k6_points import read_points
from benchgate.formats.load_metrics import THROUGHPUT, TIME, percentile
from benchgate.formats.means import usual_loops
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import Reading, RowError, benchmark, distinct, failed, sampled, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Metric, Series

NAME = "k6"
ADVICE = Advice("k6 run --out json=FILE SCRIPT.js")

_COUNTS = ("passes", "fails")
_POINT = b'"type":"Metric"'


def sniff(source: Source) -> bool:
    """Whether the content is that of k6."""
    head = source.head
    return head.startswith(b"{") and (b'"root_group"' in head or _POINT in head[:1000])


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no metrics; or a line of points is not JSON.
    """
    if _POINT in source.head[:1000]:
        return read_points(NAME, source)
    try:
        metrics = list(read_json(source, named=True)["metrics"].items())
    except RowError as error:
        raise source.error("", str(error)) from None
    rows = {name: _row(name, metric) for name, metric in metrics}
    found = distinct(NAME, (row for row in rows.values() if row is not None))
    skipped = unread(name for name, row in rows.items() if row is None)
    is_lost = _received_nothing(dict(metrics))
    return Reading(NAME, tuple(of_requests(NAME, found, lambda _: is_lost)), skipped)


def _received_nothing(metrics: dict[str, Node]) -> bool:
    """Whether there were requests, and not a byte came back."""
    counts = []
    for name in ("http_reqs", "data_received"):
        try:
            metric = metrics[name]
            counts.append((metric.get("values") or metric)["count"].number)
        except (KeyError, RowError):
            return False
    return counts[0] > 0 and counts[1] == 0


def _row(name: str, metric: Node) -> BenchmarkResult | None:
    """Read a metric; None if nobody knows whether more of it is better."""
    base = name.partition("{")[0]
    try:
        contains = metric.get("contains")
        values = metric.get("values") or metric
        if is_time(base, None if contains is None else contains.text):
            series = list(_times(values))
        elif base in THROUGHPUTS:
            series = [_one(THROUGHPUT, values["rate"])]
        elif ratio := RATIOS.get(base):
            counts = [found.number for key in _COUNTS if (found := values.get(key))]
            value = values.get("rate") or values["value"]
            series = [replace(_one(ratio, value), loops=usual_loops([sum(counts)]))]
        else:
            return None
        return benchmark(NAME, name, series, notes=_crossed(metric))
    except RowError as error:
        return failed(NAME, name, str(error))


def _times(values: Node) -> Iterator[Series]:
    typical = values.get("med") or values["avg"]
    yield sampled(TIME, [[typical.number]], typical.place, scale=UNIT_S)
    for key, value in sorted(values.items()):
        if key.startswith("p(") and key.endswith(")"):
            yield sampled(percentile(key[2:-1]), [[value.number]], value.place, scale=UNIT_S)


def _one(metric: Metric, value: Node) -> Series:
    return sampled(metric, [[value.number]], value.place)


def _crossed(metric: Node) -> list[str]:
    """The thresholds of the script that were crossed: `true`, or an object that is not ok."""
    thresholds = metric.get("thresholds")
    if thresholds is None:
        return []
    return [
        f"k6: the threshold {shown(text)} was crossed"
        for text, found in thresholds.items()
        if found.value is True or (isinstance(found.value, dict) and found.value.get("ok") is False)
    ]
