"""deno bench: `deno bench --json`, with the mean time of an iteration in nanoseconds.

A benchmark belongs to a file. Where the file lies differs between two checkouts, so its id has
only the name of the file, and more of the path if two files have the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    time_summary,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "deno-bench"
ADVICE = Advice("deno bench --json > FILE", has_samples=False)

_UNIT_S = 1e-9


def sniff(source: Source) -> bool:
    """Whether the content is that of deno bench."""
    head = source.head
    return head.startswith(b"{") and b'"benches"' in head and b'"runtime"' in head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks with their files.
    """
    root = read_json(source)
    try:
        rows = list(root["benches"].each())
        files = _short({row["origin"].text for row in rows})
        runtime = root.get("runtime")
        # "Deno/2.9.6 x86_64-unknown-linux-gnu"
        version = runtime.text.partition(" ")[0].partition("/")[2] if runtime else ""
    except RowError as error:
        raise source.error("", str(error)) from None
    tool = f"{NAME} {version}".rstrip()
    return Reading(tool, distinct(NAME, (_row(files, row) for row in rows)))


def _short(origins: Collection[str]) -> Mapping[str, str]:
    """Name each file so that the names are distinct."""
    names = {origin: origin.rpartition("/")[2] for origin in origins}
    if len(set(names.values())) == len(names):
        return names
    paths = [origin.split("/") for origin in origins]
    steps = zip(*paths, strict=False)
    shared = next((depth for depth, step in enumerate(steps) if len(set(step)) > 1), 0)
    return {origin: "/".join(origin.split("/")[shared:]) for origin in origins}


def _row(files: Mapping[str, str], row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        group = row.get("group")
        parts = [files[row["origin"].text], group.text if group else "", row["name"].text]
        id_ = " > ".join(part for part in parts if part)
        results = list(row["results"].each())
        if len(results) != 1:
            return failed(NAME, id_, f"{row.place}.results: there are {len(results)}, not one")
        if failure := results[0].get("failed"):
            return failed(NAME, id_, f"it failed: {shown(failure['message'].value)}")
        mean = results[0]["ok"]["avg"]
        return benchmark(NAME, id_, [time_summary(mean.number * _UNIT_S, mean.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))
