"""hyperfine: `hyperfine --export-json FILE`, with the time of every execution, in seconds."""

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
    sampled,
    shown,
    times,
)
from benchgate.model.run import PEAK_RSS

if TYPE_CHECKING:
    from collections.abc import Collection

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "hyperfine"
_PERMIT = "(`ok_exit_codes` of the suite permits it, and so does --ok-exit-code)"
ADVICE = Advice("hyperfine --export-json FILE COMMAND")


def sniff(source: Source) -> bool:
    """Whether the content is that of hyperfine."""
    head = source.head
    return head.startswith(b"{") and b'"results"' in head[:100] and b'"command"' in head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of results.
    """
    try:
        rows = list(read_json(source)["results"].each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(NAME, distinct(NAME, (_row(row, source.ok_exit_codes) for row in rows)))


def _row(row: Node, ok: Collection[int]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = _id(row)
        exit_codes = row.get("exit_codes")
        ends = [each.value for each in exit_codes.each()] if exit_codes else []
        if bad := [code for code in ends if code not in ok]:
            why = f"it ended with {', '.join(sorted({_ended(code) for code in bad}))}"
            return failed(NAME, id_, why if None in bad else f"{why} {_PERMIT}")
        found = row["times"]
        series = [times([found.list], found.place)]
        if memory := row.get("memory_usage_byte"):
            series.append(sampled(PEAK_RSS, [memory.list], memory.place))
        return benchmark(NAME, id_, series)
    except RowError as error:
        return failed(NAME, id_, str(error))


def _ended(code: object) -> str:
    return "a signal" if code is None else f"exit code {shown(code)}"


def _id(row: Node) -> str:
    """The command or its name; its parameters, unless the command shows them already."""
    command = row["command"].text
    parameters = row.get("parameters")
    if parameters is None:
        return command
    named = ",".join(f"{key}={node.value}" for key, node in sorted(parameters.items()))
    return command if _shows(command, parameters) else f"{command}[{named}]"


def _shows(command: str, parameters: Node) -> bool:
    return all(str(node.value) in command.split() for _, node in parameters.items())
