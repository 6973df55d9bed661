"""autocannon: `autocannon --json`; several results on lines of their own are several launches.

autocannon counts response times in whole milliseconds. A time of fewer than fifty of them is not
read: the next possible value would look like a change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.formats.best_input import APPEND, Advice
from benchgate.formats.load_metrics import (
    THROUGHPUT,
    TIME,
    LoadRun,
    benchmarks,
    no_answer,
    percentile,
)
from benchgate.formats.nodes import read_json, read_json_lines
from benchgate.formats.parsed import Reading, RowError

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import Metric

NAME = "autocannon"
ADVICE = Advice("autocannon --json URL > FILE", has_samples=False, launches=APPEND)

_LEAST_S = 0.05
_TIMES = {"average": TIME, **{f"p{p}": percentile(p) for p in ("50", "75", "90", "99")}}


def sniff(source: Source) -> bool:
    """Whether the content is that of autocannon."""
    head = source.head
    return head.startswith(b"{") and b'"pipelining"' in head and b'"non2xx"' in head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or a result has no URL.
    """
    lines = [line for _, line in read_json_lines(source)]
    results = [line for line in lines if line is not None]
    if len(results) < len(lines) or not lines:
        results = [read_json(source)]
    try:
        runs = [_run(result) for result in results]
    except RowError as error:
        raise source.error("", str(error)) from None
    # All runs or none: those above the limit alone would not be typical.
    coarse = dict.fromkeys(
        (run.id, metric)
        for run in runs
        for metric, value in run.figures.items()
        if metric.unit == "s" and 0 <= value < _LEAST_S
    )
    fine = [
        replace(run, figures={m: v for m, v in run.figures.items() if (run.id, m) not in coarse})
        for run in runs
    ]
    names: dict[str, list[str]] = {}
    for id_, metric in coarse:
        names.setdefault(id_, []).append(metric.name)
    skipped = [
        f"{id_}: too coarse in whole milliseconds (less than 50 ms): {', '.join(found)}"
        for id_, found in names.items()
    ]
    return Reading(NAME, benchmarks(NAME, fine), tuple(skipped))


def _run(result: Node) -> LoadRun:
    id_ = (result.get("title") or result["url"]).text
    place = result.place or "the result"
    try:
        requests = result["requests"]["total"].number
        errors = result["errors"].number  # without any answer; timeouts are among them
        if not requests > 0:
            raise no_answer(place, errors)
        figures: dict[Metric, float] = {
            THROUGHPUT: result["requests"]["average"].number,
        }
        failures = errors + result["non2xx"].number
        if mismatches := result.get("mismatches"):  # with --expectBody, a body that is another one
            failures += mismatches.number
        for key, metric in _TIMES.items():
            figures[metric] = result["latency"][key].number * 1e-3
    except RowError as error:
        return LoadRun(id_, place, {}, str(error))
    return LoadRun(id_, place, figures, errors=failures, requests=requests + errors)
