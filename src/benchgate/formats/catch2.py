"""Catch2: the file of `--reporter xml`, of version 2 or 3.

It has no samples. Every value is in nanoseconds per iteration. A benchmark is named within its test
case and its sections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.elements import read_xml
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    time_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.elements import Element
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "catch2"
ADVICE = Advice("./TESTS --reporter xml --out FILE", has_samples=False)

_ROOTS = ("Catch", "Catch2TestRun")
_NAMED = ("TestCase", "Section")


def sniff(source: Source) -> bool:
    """Whether the content is an XML report of Catch2."""
    head = source.head[:2000]
    return head.startswith(b"<") and (b"<Catch name=" in head or b"<Catch2TestRun" in head)


def parse(source: Source) -> Reading:
    """Read a report.

    Raises:
        FormatError: it is not XML, or no report of Catch2.
    """
    root = read_xml(source)
    if root.tag not in _ROOTS:
        raise source.error(root.place, f"begins with <{root.tag}>, not <{'> or <'.join(_ROOTS)}>")
    version = root.attributes.get("catch2-version")
    rows = distinct(NAME, _benchmarks(root, ()))
    return Reading(f"{NAME} {version}" if version else NAME, rows)


def _benchmarks(parent: Element, names: tuple[str, ...]) -> Iterator[BenchmarkResult]:
    for element in parent.children:
        if element.tag == "BenchmarkResults":
            yield _benchmark(element, names)
        else:
            name = element.attributes.get("name") if element.tag in _NAMED else None
            yield from _benchmarks(element, (*names, name) if name else names)


def _benchmark(element: Element, names: tuple[str, ...]) -> BenchmarkResult:
    id_ = "/".join(names)
    try:
        id_ = "/".join((*names, element.attribute("name")))
        if failure := element.get("failed"):
            return failed(NAME, id_, f"it failed: {failure.attributes.get('message', '')}")
        mean = element["mean"]
        return benchmark(NAME, id_, [time_summary(mean.number("value") * 1e-9, mean.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))
