"""Formats for programs in any language: hyperfine, Bencher, and lists of values."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import RowError, read_json, shown
from benchgate.formats.http_load import THROUGHPUT
from benchgate.formats.rows import MEAN_TIME, ForeignFormat, begins, reads
from benchgate.model.metrics import INSTRUCTIONS, PEAK_RSS, Better, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows

_PERMIT = "(`ok_exit_codes` of the suite permits it, and so does --ok-exit-code)"


@reads(
    "hyperfine",
    "hyperfine --export-json FILE COMMAND",
    begins(b"{", b'"command"', near=(100, b'"results"')),
)
def hyperfine(source: ForeignFile, rows: ReadRows) -> None:
    """hyperfine: `hyperfine --export-json FILE`, with the time of each execution, in seconds."""
    for node in read_json(source)["results"].each():
        with rows.row() as row:
            row.id = _hyperfine_id(node)
            exit_codes = node.get("exit_codes")
            ends = [each.value for each in exit_codes.each()] if exit_codes else []
            if bad := [code for code in ends if code not in source.ok_exit_codes]:
                ended = {"a signal" if code is None else f"exit code {shown(code)}" for code in bad}
                why = f"it ended with {', '.join(sorted(ended))}"
                raise RowError(why if None in bad else f"{why} {_PERMIT}")
            row.samples(node["times"])
            if memory := node.get("memory_usage_byte"):
                row.samples(memory, PEAK_RSS)


def _hyperfine_id(row: Node) -> str:
    """The command or its name; its parameters, unless the command shows them already."""
    command = row["command"].text
    parameters = row.get("parameters")
    if parameters is None:
        return command
    named = ",".join(f"{key}={node.value}" for key, node in sorted(parameters.items()))
    are_shown = all(str(node.value) in command.split() for _, node in parameters.items())
    return command if are_shown else f"{command}[{named}]"


_TEXT = rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_START = re.compile(rb"\{" + _TEXT + rb"\{" + _TEXT + rb'\{\s*"(?:lower_|upper_)?value"\s*:')

# By slug: the metric, and the unit of Bencher in that of the metric.
_MEASURES = {
    "latency": (MEAN_TIME, 1e-9),
    "throughput": (THROUGHPUT, 1),
    "build-time": (Metric("build_time", "s", kind=Kind.SUMMARY), 1),
    "file-size": (Metric("file_size", "B", kind=Kind.EXACT), 1),
    "allocated": (Metric("allocated", "B", kind=Kind.EXACT), 1),
    "instructions": (INSTRUCTIONS, 1),
    "estimated-cycles": (Metric("estimated_cycles", "", kind=Kind.SUMMARY), 1),
}


@reads("bencher", "", lambda source: _START.match(source.head) is not None, has_samples=False)
def bencher(source: ForeignFile, rows: ReadRows) -> None:
    """Bencher Metric Format (BMF): JSON with the measures of each benchmark.

    The file does not say the unit of a measure, nor whether more of it is better. So only the
    measures that Bencher itself defines are read.
    """
    for id_, node in read_json(source, named=True).items():
        with rows.row(id_) as row:
            for name, measure in node.items():
                known = _MEASURES.get(name.lower().replace(" ", "-"))
                if known is None:
                    rows.skip(f"{id_}: {name}: Bencher does not define this measure")
                    continue
                value = measure["value"]
                row.value(known[0], value.number, value.place, scale=known[1])


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


def is_custom(source: ForeignFile) -> bool:
    """Whether the beginning of a file looks like a list of names, units and values."""
    head = source.head
    first = head[:_FIRST_BYTES].partition(b"}")[0]
    keys = (b'"name"', b'"unit"', b'"value"')
    return head.startswith(b"[") and all(key in first for key in keys)


def _says_what_is_better(source: ForeignFile) -> bool:
    """Whether every entry says whether more is better: then it does not matter which format reads.

    Without that, the user must name the format: nothing in a file tells one from the other.
    """
    return is_custom(source) and len(_BETTER.findall(source.data)) == len(
        _NAME.findall(source.data)
    )


def _read_custom(better: Better, source: ForeignFile, rows: ReadRows) -> None:
    """The JSON that github-action-benchmark takes from any tool: names, units and values.

    An entry may say with `better` whether more is better: "higher" or "lower". If not, the format
    that the user names says it, as in github-action-benchmark.
    """
    for node in read_json(source).each():
        with rows.row() as row:
            row.id = node["name"].text
            unit, value, direction = node["unit"].text, node["value"], better
            if own := node.get("better"):
                if own.text not in set(Better):
                    what = f"{shown(own.text)} is neither 'higher' nor 'lower'"
                    raise RowError(f"{own.place}: {what}")
                direction = Better(own.text)
            metric, scale = _custom_metric(unit, direction)
            row.value(metric, value.number, value.place, scale=scale)


def _custom_metric(unit: str, better: Better) -> tuple[Metric, float]:
    """The metric of a unit, and the unit in that of the metric."""
    bare = unit.strip().removesuffix("/iter").removesuffix("/op")
    scale = _UNITS_S.get(bare) or _UNITS_S.get(bare.lower() if len(bare) > 2 else "")
    if scale is not None and better is Better.LOWER:
        return MEAN_TIME, scale
    return Metric("value", unit, better, Kind.SUMMARY), 1


CUSTOM_SMALLER = ForeignFormat(
    "customSmallerIsBetter",
    _says_what_is_better,
    partial(_read_custom, Better.LOWER),
    has_samples=False,
)
CUSTOM_BIGGER = ForeignFormat(
    "customBiggerIsBetter",
    lambda _: False,
    partial(_read_custom, Better.HIGHER),
    has_samples=False,
)
