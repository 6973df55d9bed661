"""mitata: `await run({ format: "json" })`, under any runtime, with times in nanoseconds.

It has the samples unless they are turned off: `{ json: { samples: false } }`. A sample is the mean
of as many calls as one batch has. The figures on the heap are not read: mitata leaves out the
batches in which the heap shrank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.means import usual_loops
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
    from collections.abc import Iterator

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "mitata"
ADVICE = Advice('node BENCHMARK.mjs > FILE, with `run({ format: "json" })` in it')

_UNIT_S = 1e-9


def sniff(source: Source) -> bool:
    """Whether the content is that of mitata."""
    head = source.head
    return head.startswith(b"{") and b'"layout"' in head[:20] and b'"runs"' in head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks with runs.
    """
    try:
        return Reading(NAME, distinct(NAME, _rows(read_json(source))))
    except RowError as error:
        raise source.error("", str(error)) from None


def _rows(root: Node) -> Iterator[BenchmarkResult]:
    layout = root.get("layout")  # old versions have no groups
    groups = list(layout.each()) if layout else []
    for trial in root["benchmarks"].each():
        alias = trial.get("alias")
        for run in trial["runs"].each():
            yield _row(_group(groups, trial), alias, run)


def _group(groups: list[Node], trial: Node) -> Node | None:
    """The name of the group of a benchmark; None if it has none."""
    number = trial.get("group")
    if number is None or not isinstance(number.value, int):
        return None
    return groups[number.value].get("name") if 0 <= number.value < len(groups) else None


def _row(group: Node | None, alias: Node | None, run: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = _id(group, alias, run)
        if error := run.get("error"):
            message = error.value.get("message") if isinstance(error.value, dict) else error.value
            return failed(NAME, id_, f"it failed: {shown(message)}")
        stats = run["stats"]
        if samples := stats.get("samples"):
            ticks = stats.get("ticks")
            loops = usual_loops([ticks.number / max(1, len(samples.list))]) if ticks else 1
            series = times([samples.list], samples.place, loops=loops, scale=_UNIT_S)
            return benchmark(NAME, id_, [series], notes=[SORTED])
        median = stats["p50"]
        return benchmark(NAME, id_, [time_summary(median.number * _UNIT_S, median.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))


def _id(group: Node | None, alias: Node | None, run: Node) -> str:
    """The name, in its group; its arguments, unless the name has places for them."""
    name = run["name"].text
    arguments = run.get("args")
    if arguments and alias and alias.value == name:
        named = ",".join(f"{key}={node.value}" for key, node in sorted(arguments.items()))
        name = f"{name}[{named}]" if named else name
    return f"{group.text} > {name}" if group and group.value else name
