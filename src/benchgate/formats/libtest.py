"""libtest: what `cargo bench` prints for `#[bench]`, as text or with `--format json`.

`--output-format bencher` of Criterion is the same text. Of each benchmark there is only the median,
per iteration: in JSON in nanoseconds, in text in the unit that is printed. The throughput is in
units of 10^6 B/s, although its key says MiB. What a benchmark prints itself may stand before its
result.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import read_lines
from benchgate.formats.nodes import Node
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    summary,
    time_summary,
)
from benchgate.model.run import Better

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "libtest"
ADVICE = Advice("cargo bench > FILE", has_samples=False)

# Other tools also print "running 3 tests", of the tests that are beside the benchmarks.
_TEXT = re.compile(rb"\btest [^\n]* \.\.\. [^\n]*bench: |bench: +[\d,.]+ \S{1,2}/iter")
_EVENT = re.compile(rb'^\{(?=[^\n]*"event")(?=[^\n]*"type" ?: ?"(?:suite|test)")', re.MULTILINE)
_RESULT = re.compile(
    r"\s*([\d,.]+) ?([nu\u00b5\u03bcm]?s)/iter(?: \(\+/- [\d,.]+\))?"
    r"(?: = ([\d,.]+) ([KMG]?)B/s)?\s*"
)
_NUMBER = re.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?")
_UNITS_NS = {"ns": 1, "us": 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, "ms": 1e6, "s": 1e9}
_RATES_MB = {"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3}
_SEPARATOR = " ... "
_NAME = re.compile(r"test (\S+) +\.\.\. ")
_OUTCOMES = {"FAILED": "failed", "ok": "ok", "ignored": "ignored"}
_WHY_LINES = 10


def sniff(source: Source) -> bool:
    """Whether the content is the output of cargo bench."""
    return _are_events(source) or _TEXT.search(source.head) is not None


def _are_events(source: Source) -> bool:
    """Whether it is the output of `--format json`; a line before it may be that of make or npm."""
    return _EVENT.search(source.head) is not None


def parse(source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it is not text, or has no benchmark.
    """
    is_json = source.head.startswith(b"{") or _are_events(source)
    events = _json_events(source) if is_json else _text_events(source)
    rows: list[BenchmarkResult] = []
    started: dict[str, None] = {}
    why: dict[str, str] = {}
    skipped = []
    for event in events:
        if event.outcome == "unread":
            unread = f"{event.place}: the result cannot be read: {shown(event.why)}"
            if event.name:
                rows.append(failed(NAME, event.name, unread))
            else:
                skipped.append(unread)
        elif event.why:
            why[event.name] = event.why
        if event.outcome == "started":
            started[event.name] = None
        elif event.outcome != "why":
            started.pop(event.name, None)
        if event.outcome == "bench":
            rows.append(_row(event))
        elif event.outcome == "failed":
            rows.append(failed(NAME, event.name, "it failed under cargo bench"))
    rows += [failed(NAME, name, "it printed no result") for name in started]
    rows += [
        failed(NAME, name, "it failed under cargo bench")
        for name in why.keys() - {row.id for row in rows} - {""}
    ]
    if not rows:
        raise source.error("", "has no result of a benchmark; expected lines of cargo bench")
    explained = (
        failed(NAME, row.id, f"{row.error}\n{why[row.id]}") if row.error and row.id in why else row
        for row in rows
    )
    return Reading(NAME, distinct(NAME, explained), tuple(skipped))


@dataclass(frozen=True, slots=True)
class _Event:
    """What a line says about a benchmark or a test.

    Attributes:
        outcome: "started", "bench", "unread", "failed", "why" or another one, of no interest.
        result: the median in ns, and the throughput if there is one; of "bench" alone.
        why: what a failed one printed, or the result that cannot be read; it may have no name.
    """

    place: str
    name: str
    outcome: str
    result: Node | None = None
    why: str = ""


def _row(event: _Event) -> BenchmarkResult:
    result = event.result or Node({}, event.place)
    try:
        series = [time_summary(result["median"].number * 1e-9, event.place)]
        if rate := result.get("mib_per_second"):
            value = rate.number * 1e6
            series.append(summary("throughput", "B/s", value, event.place, better=Better.HIGHER))
        return benchmark(NAME, event.name, series)
    except RowError as error:
        return failed(NAME, event.name, str(error))


def _json_events(source: Source) -> Iterator[_Event]:
    for place, line in read_lines(source):
        try:
            value = json.loads(line[_start_of_event(line) :])
        except (ValueError, RecursionError):
            if '"bench"' in line:
                yield _Event(place, "", "unread", why=line)
            continue  # what a benchmark printed; one that is cut off has no result
        if not isinstance(value, dict) or not isinstance(name := value.get("name"), str):
            continue
        outcome = "bench" if value.get("type") == "bench" else str(value.get("event"))
        why = _first_lines(str(value.get("stdout", "")).split("\n"))
        yield _Event(place, name, outcome, Node(value, place), why)


def _start_of_event(line: str) -> int:
    """Where an event begins after what a benchmark printed without a line end."""
    return max(0, line.find("{"), line.rfind('{ "type"'), line.rfind('{"type"'))


def _text_events(source: Source) -> Iterator[_Event]:
    started = telling = ""
    told: list[str] = []
    for place, line in read_lines(source):
        if line.count(_SEPARATOR) > 1:  # nobody knows which result is whose
            for name in _NAME.findall(line):
                yield _Event(place, name, "unread", why=line)
            continue
        name, outcome, result = _parts(line)
        if outcome == "bench":
            yield _result_event(place, name or started, result, line)
            started = ""
        elif name and outcome != "started":
            yield _Event(place, name, outcome)
            started = ""
        elif name:
            yield _Event(place, name, outcome)
            started = name
        elif line.startswith("---- ") or line == "failures:":
            yield _Event(place, telling, "why", why=_first_lines(told))
            telling = line.removeprefix("---- ").removesuffix(" stdout ----")
            told = []
        else:
            told.append(line)


def _result_event(place: str, name: str, text: str, line: str) -> _Event:
    match = _RESULT.fullmatch(text)
    if match is None or not name:
        return _Event(place, name, "unread", why=line)
    time, unit, rate, prefix = match.groups()
    values = {"median": _number(time, _UNITS_NS[unit])}
    if rate:
        values["mib_per_second"] = _number(rate, _RATES_MB[prefix])
    return _Event(place, name, "bench", Node(values, place))


def _parts(line: str) -> tuple[str, str, str]:
    """The name, the outcome and the result in a line `test NAME ... OUTCOME`.

    Before the line, and before the outcome, may be what a benchmark printed.
    """
    _, found, result = line.rpartition("bench:")
    is_result = bool(found) and "/iter" in result
    before, found, after = line.partition(_SEPARATOR)
    start = 0 if before.startswith("test ") else before.rfind("test ")
    is_known = is_result or after.startswith("FAILED")
    if not found or start < 0 or (start > 0 and not is_known):
        return "", "bench" if is_result else "", result if is_result else ""
    name = before[start + 5 :]
    if is_result or after.lstrip().startswith("bench:"):
        return name.strip(), "bench", result
    word = after.strip().partition(",")[0]
    return name.strip(), _OUTCOMES.get(word, "started"), ""


def _number(text: str, scale: float) -> float | str:
    return float(text.replace(",", "")) * scale if _NUMBER.fullmatch(text) else text


def _first_lines(lines: list[str]) -> str:
    """What was printed, up to the stack."""
    found = [line for line in takewhile(lambda line: line != "stack backtrace:", lines) if line]
    return "\n".join(found[:_WHY_LINES])
