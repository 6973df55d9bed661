"""The JSON that github-action-benchmark takes from any tool: a list of names, units and values.

An entry may say with `better` whether more is better: "higher" or "lower". If not, the format that
the user names says it, as in github-action-benchmark: see `custom_smaller` and `custom_bigger`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
)
from benchgate.model.run import TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

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
    return Reading(tool, distinct(tool, (_row(tool, row, better) for row in rows)))


def _row(tool: str, row: Node, better: Better) -> BenchmarkResult:
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
