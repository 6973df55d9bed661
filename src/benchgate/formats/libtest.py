"""What `#[bench]` and `cargo bench` of libtest print, as text or as events."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from benchgate.formats.contents import (
    Node,
    RowError,
    read_lines,
    shown,
)
from benchgate.formats.origin import built_by_cargo
from benchgate.formats.rows import reads, summary, time_summary
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows

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
_FAILED = "it failed under cargo bench"
_WHY_LINES = 10


def _is_libtest(source: ForeignFile) -> bool:
    return _are_events(source) or _TEXT.search(source.head) is not None


def _are_events(source: ForeignFile) -> bool:
    """Whether it is the output of `--format json`; a line before it may be that of make or npm."""
    return _EVENT.search(source.head) is not None


@reads("libtest", "cargo bench > FILE", _is_libtest, has_samples=False)
def libtest(source: ForeignFile, rows: ReadRows) -> None:
    """libtest: what `cargo bench` prints for `#[bench]`, as text or with `--format json`.

    `--output-format bencher` of Criterion is the same text. Of each benchmark there is only the
    median, per iteration: in JSON in nanoseconds, in text in the unit that is printed. The
    throughput is in units of 10^6 B/s, although its key says MiB. What a benchmark prints itself
    may stand before its result.
    """
    output = _LibtestOutput(rows)
    if source.head.startswith(b"{") or _are_events(source):
        output.read_events(source)
    else:
        rows.ran_on(built_by_cargo(source))
        output.read_text(source)
    for name in output.started:
        rows.fail(name, "it printed no result")
    known = {"", *(row.id for row in rows.found)}
    for name in (one for one in output.why if one not in known):
        rows.fail(name, _FAILED)
    if not rows.found:
        raise RowError("has no result of a benchmark; expected lines of cargo bench")
    found, rows.found = rows.found, []
    for row in found:
        if row.error and row.id in output.why:
            rows.fail(row.id, f"{row.error}\n{output.why[row.id]}")
        else:
            rows.found.append(row)


@dataclass(slots=True)
class _LibtestOutput:
    """What was printed so far.

    Attributes:
        started: the benchmarks without an outcome.
        why: what those that failed printed.
    """

    rows: ReadRows
    started: dict[str, None] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def read_events(self, source: ForeignFile) -> None:
        for place, line in read_lines(source):
            # Before an event may be what a benchmark printed without a line end.
            start = max(0, line.find("{"), line.rfind('{ "type"'), line.rfind('{"type"'))
            try:
                value = json.loads(line[start:])
            except (ValueError, RecursionError):
                if '"bench"' in line:
                    self._unread(place, "", line)
                continue  # what a benchmark printed; one that is cut off has no result
            if not isinstance(value, dict) or not isinstance(name := value.get("name"), str):
                continue
            self._explain(name, str(value.get("stdout", "")).split("\n"))
            if value.get("type") == "bench":
                self._result(place, name, Node(value, place))
            else:
                self._outcome(name, str(value.get("event")))

    def read_text(self, source: ForeignFile) -> None:
        started = telling = ""
        told: list[str] = []
        for place, line in read_lines(source):
            if line.count(_SEPARATOR) > 1:  # nobody knows which result is whose
                for name in _NAME.findall(line):
                    self._unread(place, name, line)
                continue
            name, outcome, result = _parts(line)
            if outcome == "bench":
                self._read(place, name or started, result, line)
                started = ""
            elif name:
                self._outcome(name, outcome)
                started = name if outcome == "started" else ""
            elif line.startswith("---- ") or line == "failures:":
                self._explain(telling, told)
                telling = line.removeprefix("---- ").removesuffix(" stdout ----")
                told = []
            else:
                told.append(line)

    def _read(self, place: str, name: str, text: str, line: str) -> None:
        match = _RESULT.fullmatch(text)
        if match is None or not name:
            self._unread(place, name, line)
            return
        time, unit, rate, prefix = match.groups()
        values = {"median": _number(time, _UNITS_NS[unit])}
        if rate:
            values["mib_per_second"] = _number(rate, _RATES_MB[prefix])
        self._result(place, name, Node(values, place))

    def _result(self, place: str, name: str, result: Node) -> None:
        """Read the median in ns, and the throughput if there is one."""
        self.started.pop(name, None)
        with self.rows.row(name) as row:
            row.series.append(time_summary(result["median"].number * 1e-9, place))
            if rate := result.get("mib_per_second"):
                better, value = Better.HIGHER, rate.number * 1e6
                row.series.append(summary("throughput", "B/s", value, place, better=better))

    def _outcome(self, name: str, outcome: str) -> None:
        self.started.pop(name, None)
        if outcome == "started":
            self.started[name] = None
        elif outcome == "failed":
            self.rows.fail(name, _FAILED)

    def _unread(self, place: str, name: str, line: str) -> None:
        self.started.pop(name, None)
        what = f"{place}: the result cannot be read: {shown(line)}"
        if name:
            self.rows.fail(name, what)
        else:
            self.rows.skip(what)

    def _explain(self, name: str, told: list[str]) -> None:
        """Keep what a failed one printed, up to the stack."""
        found = [line for line in takewhile(lambda line: line != "stack backtrace:", told) if line]
        if found:
            self.why[name] = "\n".join(found[:_WHY_LINES])


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
