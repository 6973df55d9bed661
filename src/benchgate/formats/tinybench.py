"""tinybench: the tasks of a `Bench` as JSON, with the time of every call, in milliseconds.

tinybench writes no file itself. The script that runs it does, after `bench.run()`:

    JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))

Since version 6, it has the times only if the option `retainSamples` is set, and otherwise their
median.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    SORTED,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    time_summary,
    times,
)

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "tinybench"
ADVICE = Advice("node BENCHMARK.mjs > FILE, with `retainSamples: true` in it")
UNIT_S = 1e-3

_MARKS = (b'"latency"', b'"totalTime"', b'"state"')


def sniff(source: Source) -> bool:
    """Whether the content is that of tinybench."""
    head = source.head
    return head.startswith(b"[") and b'"result"' in head and any(mark in head for mark in _MARKS)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    try:
        rows = list(read_json(source).each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(NAME, distinct(NAME, map(_row, rows)))


def _row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["name"].text
        result = row.get("result")
        if result is None:
            return failed(NAME, id_, "it did not run")
        if why := _failure(result):
            return failed(NAME, id_, why)
        latency = result.get("latency") or result
        if samples := latency.get("samples"):
            series = times([samples.list], samples.place, scale=UNIT_S)
            return benchmark(NAME, id_, [series], notes=[SORTED])
        median = latency["p50"]
        return benchmark(NAME, id_, [time_summary(median.number * UNIT_S, median.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))


def _failure(result: Node) -> str | None:
    """Why a task has no complete measurement; None if it has one."""
    if error := result.get("error"):
        # An error object is {} in JSON, unless the script makes text of it.
        message = error.value.get("message") if isinstance(error.value, dict) else error.value
        return f"it failed: {shown(message)}" if message else "it threw an error"
    state = result.get("state")
    return f"its state is {state.text!r}" if state and state.text != "completed" else None
