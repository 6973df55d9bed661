"""What `cargo bench` prints: libtest, divan and gungraun."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from benchgate.formats.contents import (
    Node,
    RowError,
    amount_in,
    number_in,
    read_lines,
    shown,
    time_in,
    unread,
)
from benchgate.formats.origin import built_by_cargo
from benchgate.formats.rows import MEAN_TIME, reads, summary, time_summary
from benchgate.model.run import INSTRUCTIONS, Better, Kind, Metric

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


_COLUMNS = ("fastest", "slowest", "median", "mean", "samples", "iters")
_TREE = re.compile(r"((?:\u2502 {2}| {3})*)(\u251c\u2500 |\u2570\u2500 )?(.*)")
_BRANCH = re.compile(r"[\u251c\u2570]\u2500 ")
_DEPTH = 3
_IGNORED = "(ignored)"
_RATES = {
    "B/s": Metric("throughput", "B/s", Better.HIGHER, Kind.SUMMARY),
    "item/s": Metric("items_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "char/s": Metric("chars_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
    "Hz": Metric("cycles_per_second", "1/s", Better.HIGHER, Kind.SUMMARY),
}
_ALLOCATIONS = ("max alloc:", "alloc:", "grow:", "dealloc:", "shrink:")
_READ_ALLOCATIONS = frozenset({"max alloc:", "alloc:", "grow:"})


def _is_divan(source: ForeignFile) -> bool:
    head = source.head.decode(errors="replace")
    return any(_program_in(line) for line in head.split("\n"))


@reads("divan", "cargo bench > FILE", _is_divan, has_samples=False)
def divan(source: ForeignFile, rows: ReadRows) -> None:
    """divan: the tree that `cargo bench` prints, with a row of times for each benchmark.

    Only the median is read. Below it, there may be rates, and what was allocated. What a benchmark
    prints itself may stand between its name and its times.
    """
    output = _DivanOutput(rows)
    rows.ran_on(built_by_cargo(source))
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    if not output.found:
        raise RowError("has no row of a benchmark below 'fastest | slowest | median'")
    for one in output.found:
        with rows.row(one.id) as row:
            if one.error:
                raise RowError(one.error)
            for metric, value in one.figures.items():
                row.value(metric, value, f"{one.place}: {metric.name}")


@dataclass(slots=True)
class _DivanRow:
    id: str
    place: str
    figures: dict[Metric, float] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _DivanOutput:
    rows: ReadRows
    found: list[_DivanRow] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _started: str = ""
    _place: str = ""
    _last: _DivanRow | None = None
    _allocation: str = ""

    def add(self, place: str, line: str) -> None:
        if program := _program_in(line):
            self.end()
            self._names = [program]
            return
        tree = _TREE.match(line)
        if tree is None:
            return
        if not self._names:
            if line.count("\u2502") >= len(_COLUMNS) - 1:
                self.rows.skip(unread(place, line))
            return
        if _BRANCH.search(tree[3]):  # the row of another benchmark, at an unknown depth
            self.end()
            self.rows.skip(unread(place, line))
            return
        prefix, branch, rest = tree.groups()
        cells = [cell.strip() for cell in rest.split("\u2502")]
        if branch:
            self.end()
            name, _, first = rest.partition("  ")
            self._names[len(prefix) // _DEPTH + 1 :] = [name.split("\u2502", maxsplit=1)[0].strip()]
            self._started, self._place = "::".join(self._names), place
            cells[0] = first.partition("\u2502")[0].strip()
        self._row(place, cells, line)

    def end(self) -> None:
        """Note that no row of the last benchmark comes any more."""
        if self._started:
            why = f"{self._place}: it printed no result"
            self.found.append(_DivanRow(self._started, self._place, error=why))
        self._started, self._last, self._allocation = "", None, ""

    def _row(self, place: str, cells: list[str], line: str) -> None:
        is_whole = len(cells) >= len(_COLUMNS)
        cells = cells[-len(_COLUMNS) :]  # Before them may be what the benchmark printed.
        if self._started and is_whole and not any(cells[1:]):
            if cells[0].endswith(_IGNORED):
                self.rows.skip(f"{self._started}: divan ignored it")
            if not cells[0] or cells[0].endswith(_IGNORED):
                self._started = ""  # a group, or what is ignored
        elif self._started and is_whole:
            self._last = _DivanRow(self._started, place)
            self.found.append(self._last)
            self._started = ""
            self._read(self._last, place, cells[2], line)
        elif self._last and cells[0] in _ALLOCATIONS:
            self._allocation = cells[0]
        elif self._last and is_whole and cells[2]:
            self._read(self._last, place, cells[2], line)
        elif self._last and len(cells) > 1 and any(cells):
            self._last.error = unread(place, line)

    def _read(self, row: _DivanRow, place: str, text: str, line: str) -> None:
        if row.error:
            return
        try:
            metric, value = self._figure(row, text, place)
        except RowError as error:
            row.error = f"{error}: {shown(line.strip())}"
            return
        if metric in row.figures:
            row.error = f"{place}: the row is there twice: {shown(line.strip())}"
        elif metric:
            row.figures[metric] = value

    def _figure(self, row: _DivanRow, text: str, place: str) -> tuple[Metric | None, float]:
        """A median: first of the times, then of what is below them."""
        if not row.figures:
            return MEAN_TIME, time_in(text, place)
        value, unit = amount_in(text, place)
        if unit in _RATES:
            return _RATES[unit], value
        if unit not in {"", "B"} or not self._allocation:
            raise RowError(f"{place}: {shown(text)} is neither a rate nor an allocation")
        if self._allocation not in _READ_ALLOCATIONS:
            return None, value
        name = f"{self._allocation.rstrip(':').replace(' ', '_')}_{'bytes' if unit else 'count'}"
        return Metric(name, unit, kind=Kind.EXACT), value


def _program_in(line: str) -> str:
    """The name of the program in the line with the names of the columns; "" if it is another."""
    name, _, rest = line.partition(f"  {_COLUMNS[0]} ")
    columns = tuple(cell.strip() for cell in f"{_COLUMNS[0]} {rest}".split("\u2502"))
    return name.strip() if columns == _COLUMNS else ""


_METRICS = {
    "Instructions": INSTRUCTIONS,
    "Estimated Cycles": Metric("estimated_cycles", "", kind=Kind.SUMMARY),
}
# The arguments after the id may be cut off, so they are no part of it.
_HEADER = re.compile(r"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+(?: [A-Za-z_]\w*(?=:|$))?)(?::(?!:).*)?")
_COUNT = re.compile(rf"[ |-]*({'|'.join(_METRICS)}):\s*([^|]*)\|")
_LOOKS_LIKE_ONE = re.compile(rf"({'|'.join(_METRICS)}):")
_TOOL = "  ======= "
_PART = "  ## pid: "
_TOTAL = "  ## Total"
_EARLIER = ("  Comparison with ", "|-Comparison with ")
_END_OF_OUTPUT = "- end of std"
_GUNGRAUN_RESULT = re.compile(
    rb"^(?:Iai-Callgrind|Gungraun) result: |^  (?:Instructions|Estimated Cycles): +\S*\|",
    re.MULTILINE,
)


@reads(
    "gungraun",
    "cargo bench > FILE",
    lambda source: _GUNGRAUN_RESULT.search(source.head) is not None,
    has_samples=False,
)
def gungraun(source: ForeignFile, rows: ReadRows) -> None:
    """gungraun, which was iai-callgrind: the counts that `cargo bench` prints for each benchmark.

    Of each benchmark, the instructions and the estimated cycles are read, from the first tool that
    counts them. How often the caches were hit is in the cycles: alone, a few hits more are noise.
    If there are several threads or processes, the total counts. What an earlier run counted is not
    read.
    """
    output = _GungraunOutput(rows)
    rows.ran_on(built_by_cargo(source))
    for place, line in read_lines(source):
        output.add(place, line)
    output.end()
    for one in output.found:
        if not one.figures and not one.error:
            rows.skip(f"{one.id}: has neither {' nor '.join(_METRICS)}")
            continue
        with rows.row(one.id) as row:
            if one.error:
                raise RowError(one.error)
            if one.parts > 1:
                raise RowError(f"{one.place}: there is no total of its {one.parts} parts")
            for key, value in one.figures.items():
                row.value(_METRICS[key], value, f"{one.place}: {key}")
    if not rows.found:
        raise RowError("has no counts of a benchmark; expected lines such as 'Instructions:'")


@dataclass(slots=True)
class _GungraunRow:
    """What was printed about a benchmark.

    Attributes:
        figures: by the key of each count.
        parts: processes and threads, as long as no total of them was printed.
        has_total: whether the total was printed.
        is_over: whether what follows is of another tool, or an earlier benchmark.
        seen: the keys since the last line that begins a part.
    """

    id: str
    place: str
    figures: dict[str, float] = field(default_factory=dict)
    error: str = ""
    parts: int = 0
    has_total: bool = False
    is_over: bool = False
    seen: set[str] = field(default_factory=set)

    def begin_part(self, line: str) -> None:
        self.seen.clear()
        if line.startswith(_EARLIER) or (line.startswith(_TOOL) and self.figures):
            self.is_over = True
        elif line.startswith(_PART) and not self.has_total:
            self.parts += 1
        elif line.startswith(_TOTAL) and not (self.has_total or self.is_over):
            self.figures.clear()
            self.parts, self.has_total = 0, True


@dataclass(slots=True)
class _GungraunOutput:
    rows: ReadRows
    found: list[_GungraunRow] = field(default_factory=list)
    _named: list[tuple[str, str]] = field(default_factory=list)
    _is_open: bool = False

    def add(self, place: str, line: str) -> None:
        if header := _HEADER.fullmatch(line):
            self._named.append((header[1], place))
            self._look(place, line)
        elif line.startswith(_END_OF_OUTPUT):
            # What a program prints may look like a name.
            del self._named[0 if self._is_open else 1 :]
        elif line.startswith((_TOOL, _PART, _TOTAL, *_EARLIER)):
            self._open()
            if self.found:
                self.found[-1].begin_part(line)
            self._look(place, line)
        elif count := _COUNT.match(line):
            self._open()
            self._is_open = False
            self._count(place, line, *count.groups())
        else:
            self._look(place, line)

    def end(self) -> None:
        """Note that no count comes any more."""
        for id_, place in self._named:
            self.found.append(_GungraunRow(id_, place, error=f"{place}: it printed no result"))
        self._named.clear()

    def _look(self, place: str, line: str) -> None:
        """Keep that a count stands where none can be read."""
        if _LOOKS_LIKE_ONE.search(line):
            self._open()
            self._unread(place, line)

    def _open(self) -> None:
        """Begin with what is about the last name."""
        if self._named:
            name = self._named.pop()
            self.end()
            self.found.append(_GungraunRow(*name))
            self._is_open = True

    def _count(self, place: str, line: str, key: str, text: str) -> None:
        found = self.found[-1] if self.found else None
        if found and key in found.seen:  # whose it is, nobody knows
            self.rows.skip(unread(place, line))
            return
        if found:
            found.seen.add(key)
            if found.is_over:
                return
        try:
            value = number_in(text.strip(), place)
        except RowError:
            value = -1
        if found is None or value < 0:
            self._unread(place, line)
        else:
            found.figures.setdefault(key, value)

    def _unread(self, place: str, line: str) -> None:
        if not self.found:
            self.rows.skip(unread(place, line))
        elif not self.found[-1].is_over:
            self.found[-1].error = self.found[-1].error or unread(place, line)
