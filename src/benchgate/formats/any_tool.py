"""Formats for programs in any language: hyperfine, Bencher, and lists of values.

The file does not say the unit of a measure, nor whether more of it is better. So only the measures
that Bencher itself defines are read.

An entry may say with `better` whether more is better: "higher" or "lower". If not, the format that
the user names says it, as in github-action-benchmark: see `custom_smaller` and `custom_bigger`.

The user must name this format: nothing in a file tells it from the other one.

The user must name this format: nothing in a file tells it from the other one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import read_json
from benchgate.formats.http_load import THROUGHPUT
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
    times,
)
from benchgate.model.run import INSTRUCTIONS, PEAK_RSS, TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Collection

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


_HYPERFINE_NAME = "hyperfine"
_PERMIT = "(`ok_exit_codes` of the suite permits it, and so does --ok-exit-code)"
_HYPERFINE_ADVICE = Advice("hyperfine --export-json FILE COMMAND")


def _is_hyperfine(source: Source) -> bool:
    """Whether the content is that of hyperfine."""
    head = source.head
    return head.startswith(b"{") and b'"results"' in head[:100] and b'"command"' in head


def _parse_hyperfine(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of results.
    """
    try:
        rows = list(read_json(source)["results"].each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(
        _HYPERFINE_NAME,
        distinct(_HYPERFINE_NAME, (_hyperfine_row(row, source.ok_exit_codes) for row in rows)),
    )


def _hyperfine_row(row: Node, ok: Collection[int]) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = _id(row)
        exit_codes = row.get("exit_codes")
        ends = [each.value for each in exit_codes.each()] if exit_codes else []
        if bad := [code for code in ends if code not in ok]:
            why = f"it ended with {', '.join(sorted({_ended(code) for code in bad}))}"
            return failed(_HYPERFINE_NAME, id_, why if None in bad else f"{why} {_PERMIT}")
        found = row["times"]
        series = [times([found.list], found.place)]
        if memory := row.get("memory_usage_byte"):
            series.append(sampled(PEAK_RSS, [memory.list], memory.place))
        return benchmark(_HYPERFINE_NAME, id_, series)
    except RowError as error:
        return failed(_HYPERFINE_NAME, id_, str(error))


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


HYPERFINE = ForeignFormat(_HYPERFINE_NAME, _HYPERFINE_ADVICE, _is_hyperfine, _parse_hyperfine)


_BENCHER_NAME = "bencher"
_BENCHER_ADVICE = Advice("", has_samples=False)

_TEXT = rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_START = re.compile(rb"\{" + _TEXT + rb"\{" + _TEXT + rb'\{\s*"(?:lower_|upper_)?value"\s*:')

# By slug: the metric, and the unit of Bencher in that of the metric.
_MEASURES = {
    "latency": (replace(TIME, kind=Kind.SUMMARY), 1e-9),
    "throughput": (THROUGHPUT, 1),
    "build-time": (Metric("build_time", "s", kind=Kind.SUMMARY), 1),
    "file-size": (Metric("file_size", "B", kind=Kind.SUMMARY), 1),
    "allocated": (Metric("allocated", "B", kind=Kind.SUMMARY), 1),
    "instructions": (INSTRUCTIONS, 1),
    "estimated-cycles": (Metric("estimated_cycles", "", kind=Kind.SUMMARY), 1),
}


def _is_bencher(source: Source) -> bool:
    """Whether the content is that of Bencher."""
    return _START.match(source.head) is not None


def _parse_bencher(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no object.
    """
    try:
        found = list(read_json(source, named=True).items())
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: list[str] = []
    rows = [row for id_, node in found if (row := _bencher_row(id_, node, skipped))]
    return Reading(_BENCHER_NAME, distinct(_BENCHER_NAME, rows), tuple(skipped))


def _bencher_row(id_: str, node: Node, skipped: list[str]) -> BenchmarkResult | None:
    """Read a benchmark, and say which measures are skipped; None if all of them are."""
    series: list[Series] = []
    try:
        for name, measure in node.items():
            known = _MEASURES.get(name.lower().replace(" ", "-"))
            if known is None:
                skipped.append(f"{id_}: {name}: Bencher does not define this measure")
                continue
            metric, unit = known
            value = measure["value"]
            series.append(sampled(metric, [[value.number]], value.place, scale=unit))
        return benchmark(_BENCHER_NAME, id_, series) if series else None
    except RowError as error:
        return failed(_BENCHER_NAME, id_, str(error))


BENCHER = ForeignFormat(_BENCHER_NAME, _BENCHER_ADVICE, _is_bencher, _parse_bencher)


_FIRST_BYTES: Final = 4000
_BETTER: Final = re.compile(rb'"better"\s*:(?!\s*null)')
_NAME: Final = re.compile(rb'"name"\s*:')
_UNITS_S: Final = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(
        ("us", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s", "microsecond", "microseconds"), 1e-6
    ),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
}


def is_custom(head: bytes) -> bool:
    """Whether the beginning of a file looks like a list of names, units and values."""
    first = head[:_FIRST_BYTES].partition(b"}")[0]
    keys = (b'"name"', b'"unit"', b'"value"')
    return head.startswith(b"[") and all(key in first for key in keys)


def says_what_is_better(source: Source) -> bool:
    """Whether every entry of a file looks as if it says whether more is better."""
    is_one = is_custom(source.head)
    return is_one and len(_BETTER.findall(source.data)) == len(_NAME.findall(source.data))


def read_custom(tool: str, source: Source, better: Better) -> Reading:
    """Read a file.

    Args:
        better: of the entries that do not say it themselves.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    try:
        rows = list(read_json(source).each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(tool, distinct(tool, (_custom_row(tool, row, better) for row in rows)))


def _custom_row(tool: str, row: Node, better: Better) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["name"].text
        unit, value = row["unit"].text, row["value"]
        if own := row.get("better"):
            better = _better(own)
        metric, scale = _metric(unit, better)
        series = sampled(metric, [[value.number]], value.place, scale=scale)
        return benchmark(tool, id_, [series])
    except RowError as error:
        return failed(tool, id_, str(error))


def _better(node: Node) -> Better:
    if node.text not in set(Better):
        raise RowError(f"{node.place}: {shown(node.text)} is neither 'higher' nor 'lower'")
    return Better(node.text)


def _metric(unit: str, better: Better) -> tuple[Metric, float]:
    """The metric of a unit, and the unit in that of the metric."""
    bare = unit.strip().removesuffix("/iter").removesuffix("/op")
    scale = _UNITS_S.get(bare) or _UNITS_S.get(bare.lower() if len(bare) > 2 else "")
    if scale is not None and better is Better.LOWER:
        return Metric(TIME.name, TIME.unit, better, Kind.SUMMARY), scale
    return Metric("value", unit, better, Kind.SUMMARY), 1


_CUSTOM_SMALLER_NAME = "customSmallerIsBetter"
_CUSTOM_SMALLER_ADVICE = Advice("", has_samples=False)


def _is_custom_smaller(source: Source) -> bool:
    """Whether every entry says whether more is better: then this format reads it as well."""
    return says_what_is_better(source)


def _parse_custom_smaller(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    return read_custom(_CUSTOM_SMALLER_NAME, source, Better.LOWER)


CUSTOM_SMALLER = ForeignFormat(
    _CUSTOM_SMALLER_NAME, _CUSTOM_SMALLER_ADVICE, _is_custom_smaller, _parse_custom_smaller
)


_CUSTOM_BIGGER_NAME = "customBiggerIsBetter"
_CUSTOM_BIGGER_ADVICE = Advice("", has_samples=False)


def _is_custom_bigger(source: Source) -> bool:  # noqa: ARG001 - every format has the same signature
    """Never: the direction cannot be known from the content."""
    return False


def _parse_custom_bigger(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    return read_custom(_CUSTOM_BIGGER_NAME, source, Better.HIGHER)


CUSTOM_BIGGER = ForeignFormat(
    _CUSTOM_BIGGER_NAME, _CUSTOM_BIGGER_ADVICE, _is_custom_bigger, _parse_custom_bigger
)
