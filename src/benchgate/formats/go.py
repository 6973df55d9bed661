"""What `go test -bench` prints.

A result is a line `BenchmarkName-PROCS  N  VALUE UNIT  VALUE UNIT ...`. What the benchmark prints
itself may stand before its name, or split its line after the name, with or without line ends. So
whatever names a benchmark or looks like a result is either read, or a failed row or a warning.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.contents import RowError, plain_lines, read_json_lines, read_lines, unread
from benchgate.formats.origin import environment
from benchgate.formats.rows import APPEND, reads, sampled, usual_loops
from benchgate.model.metrics import TIME, Better, Kind, Metric
from benchgate.units import counted

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows
    from benchgate.model.environment import Environment
    from benchgate.model.run import Series


_OUTCOME = re.compile(r"--- (FAIL|SKIP): (Benchmark\S*)")
_NAME = re.compile(r"Benchmark(?![a-z])\S*")
_TIME = re.compile(r"ns ?/ ?op")
_DIGIT = re.compile(r"\d")
_ABOUT = re.compile(r"(goarch|cpu|commit): (.{1,200})")
_PROCESS = re.compile(r"goos: \w+$")
# Go writes the number of iterations in eight columns, and makes no more than 10 ** 9 of them. So a
# shorter number has a space before it, and a longer one begins with that of a log line.
_LOOPS = re.compile(r"(?:(?:^|\s)|[^\s\d.,:/+-](?=\d{8}))([1-9]\d{0,18})$")
_MOST_LOOPS = 10**9
_VALUE = re.compile(r"\s*(\S+)\s+(\S+)\s*")
_WHY_LINES = 20
_LONGEST_UNIT = 100


@dataclass(frozen=True, slots=True)
class _Result:
    """A line with a result.

    Attributes:
        process: of the test program that printed it, by their order.
        values: by unit, each a mean over `loops` iterations.
    """

    place: str
    process: int
    loops: int
    values: dict[str, float]


@dataclass(slots=True)
class _GoOutput:
    """What was printed so far, by the package and the name of each benchmark.

    Attributes:
        package: whose lines come next.
        results: none of a benchmark that only failed.
        failures: the lines that say why a benchmark failed.
        better: the directions that lines `Unit UNIT better=...` state, by unit.
        about: what each test program says of its machine, by key.
        failed: packages without a failed benchmark that go test failed, with how.
    """

    rows: ReadRows
    package: str = ""
    results: dict[str, list[_Result]] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    about: list[dict[str, str]] = field(default_factory=lambda: [{}])
    failed: list[str] = field(default_factory=list)
    _process: int = 0
    _started: str = ""
    _unread: str = ""
    _in_log: bool = False
    _why: list[str] | None = None
    _failed_packages: set[str] = field(default_factory=set)

    def add(self, place: str, line: str) -> None:
        if self._why is not None and line.startswith("    ") and len(self._why) < _WHY_LINES:
            self._why.append(line.strip())
            return
        self._why = None
        self._in_log = "--- BENCH: " in line or (self._in_log and line.startswith("    "))
        if line.startswith("pkg: "):
            self.package = line[5:].strip()
        elif _PROCESS.search(line):  # a test program prints it once, before its first result
            self.end()
            self._process += 1
            self.about.append({"goos": line.rpartition(" ")[2]})
        elif about := _ABOUT.fullmatch(line):
            self.about[-1].setdefault(about[1], about[2].strip())
        elif line.startswith("Unit "):
            self._unit(line.split())
        elif line.startswith(("ok  \t", "FAIL\t")):
            self._end(line)
        elif outcome := _OUTCOME.search(line):
            self._result(place, line[: outcome.start()])
            self._outcome(*outcome.groups())
        elif not self._in_log:
            self._result(place, line)

    def end(self) -> None:
        """Note that no line of this package comes any more."""
        self._start("")
        self._why = None

    def _start(self, name: str) -> None:
        """Note that a benchmark begins, and so no result of the last one comes any more."""
        if self._started and self._unread:
            self._fail(self._started, [self._unread])
        elif self._started:
            self._failed_packages.add(self.package)
            self._fail(self._started, ["it printed no result"])
        self._started, self._unread = name, ""

    def _unit(self, words: list[str]) -> None:
        for word in words[2:]:
            if word in {"better=higher", "better=lower"}:
                self.better[words[1]] = Better(word.removeprefix("better="))

    def _end(self, line: str) -> None:
        package = line.split()[1] if len(line.split()) > 1 else self.package
        self.end()
        if line.startswith("FAIL") and package not in self._failed_packages:
            how = " [build failed]" if "[build failed]" in line else ""
            why = f"{package}: go test failed{how}"
            self.failed.append(why)
            self.rows.skip(f"{why}, so benchmarks may be missing")

    def _outcome(self, outcome: str, name: str) -> None:
        if not self._started.startswith(name):
            self._start("")
        if outcome == "FAIL":
            self._why = ["it failed under go test"]
            self._failed_packages.add(self.package)
            self._fail(name, self._why)
        else:
            self.rows.skip(f"{self._key(name)}: go test skipped it")
        self._started, self._unread = "", ""

    def _fail(self, name: str, why: list[str]) -> None:
        self.results.setdefault(self._key(name), [])
        self.failures.setdefault(self._key(name), why)

    def _key(self, name: str) -> str:
        return f"{self.package}.{name}" if self.package else name

    def _result(self, place: str, line: str) -> None:
        values, before = _values(line)
        loops = _loops(before)
        names = _started(line)
        has_time = _TIME.search(line) and _DIGIT.search(line)
        looks_like_one = has_time or (values and (loops or names))
        if looks_like_one and not names:
            name = _NAME.search(line.split(maxsplit=1)[0])
            names = [name[0]] if name else []
        for name_ in names:
            self._start(name_)
        if self._started and values and loops and not before.rstrip().endswith(self._started):
            result = _Result(place, self._process, loops, values)
            self.results.setdefault(self._key(self._started), []).append(result)
            self._started, self._unread = "", ""
        elif looks_like_one:
            if self._started:
                self._unread = unread(place, line)
            else:
                self.rows.skip(unread(place, line))


def _started(line: str) -> list[str]:
    """The names before a tab, which Go prints when a benchmark begins."""
    words = [field.rstrip(" ").rpartition(" ")[2] for field in line.split("\t")[:-1]]
    names = [found[0] for word in words if (found := _NAME.search(word))]
    return [name for name in names if len(name) > len("Benchmark") and name[-1] != ":"]


def _values(line: str) -> tuple[dict[str, float], str]:
    """Take the values at the end of a line, by unit, and what is before them."""
    found = []
    fields = line.split("\t")
    while fields and (match := _VALUE.fullmatch(fields[-1])) and (value := _value(*match.groups())):
        found.append(value)
        fields.pop()
    before = "\t".join(fields)
    words = before.split()
    if not _loops(before):  # Other tools write spaces for tabs.
        while len(words) > 2 and (value := _value(*words[-2:])):
            found.append(value)
            del words[-2:]
        before = " ".join(words)
    by_unit = dict(reversed(found))
    return by_unit if len(by_unit) == len(found) else {}, before


def _loops(text: str) -> int:
    """The number of iterations at the end of a text; 0 if there is none, or it is not certain."""
    match = _LOOPS.search(text.rstrip())
    loops = int(match[1]) if match else 0
    _, *rest = text.split() or [""]
    if len(rest) == 2 and _number(rest[0]) is not None:  # the second one is a value without a unit
        return 0
    return loops if loops <= _MOST_LOOPS or len(rest) == 1 else 0


def _value(number: str, unit: str) -> tuple[str, float] | None:
    value = _number(number)
    is_unit = len(unit) <= _LONGEST_UNIT and _number(unit) is None
    return (unit, value) if value is not None and is_unit else None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


_RESULT = re.compile(
    rb"goos: \w+\r?\ngoarch: |^Benchmark\S*[ \t]+\d+[ \t]+[\d.]+ ns/op", re.MULTILINE
)
_EVENT = re.compile(rb'^\{(?=[^\n]*"Action":)(?=[^\n]*(?:"Package"|"ImportPath"):)', re.MULTILINE)
_PROCS = re.compile(r"-\d+$")
# Of the units that Go itself prints, the metric and the size of the unit.
_KNOWN = {
    "ns/op": (TIME, 1e-9),
    "MB/s": (Metric("throughput", "B/s", Better.HIGHER), 1e6),
    "B/op": (Metric("B/op", "B", kind=Kind.EXACT), 1.0),
    "allocs/op": (Metric("allocs/op", "", kind=Kind.EXACT), 1.0),
}


def _is_go(source: ForeignFile) -> bool:
    return _are_events(source) or _RESULT.search(source.head) is not None


def _are_events(source: ForeignFile) -> bool:
    """Whether it is the output of -json; a line before it may be that of make or npm."""
    return _EVENT.search(source.head) is not None


@reads("go", "go test -run=NONE -bench=. -count=10 ./... > FILE", _is_go, launches=APPEND)
def go(source: ForeignFile, rows: ReadRows) -> None:
    """go: what `go test -bench` prints, as text or with -json.

    With -count, a benchmark has several results from one process; a file with the output of several
    runs has several processes. A line `Unit UNIT better=higher` says which direction of a unit is
    better. Without it, higher is better for a rate per second, and lower for everything else.
    """
    output = _GoOutput(rows)
    if source.head.startswith(b"{") or _are_events(source):
        _read_events(source, output)
    else:
        for place, line in read_lines(source):
            output.add(place, line)
        output.end()
    if not output.results:
        why = "; ".join(output.failed) or "expected lines of go test -bench"
        raise RowError(f"has no result of a benchmark; {why}")
    ends = _ends(output)
    procs = (ends.pop().removeprefix("-") or "1") if len(ends) == 1 else ""
    for each in output.about:
        rows.ran_on(_machine(each, procs))
        rows.measured(each.get("commit", ""))
    _add_rows(output, rows)


def _machine(about: dict[str, str], procs: str) -> Environment:
    return environment(
        cpu=about.get("cpu", ""),
        machine=about.get("goarch", ""),
        os=about.get("goos", ""),
        tools={"GOMAXPROCS": procs},
    )


def _add_rows(output: _GoOutput, rows: ReadRows) -> None:
    procs = _procs(output)
    results: dict[str, list[_Result]] = defaultdict(list)
    failures: dict[str, list[str]] = {}
    for key, found in output.results.items():
        id_ = key.removesuffix(procs)
        results[id_] += found
        if key in output.failures:
            failures.setdefault(id_, output.failures[key])
    names = sorted(failures)
    for id_, found in results.items():
        if id_ not in failures:
            with rows.row(id_) as row:
                for unit in dict.fromkeys(unit for result in found for unit in result.values):
                    row.series.append(_series(unit, found, output.better.get(unit)))
                    if unit not in output.better and unit not in _KNOWN:
                        row.notes.append(_note(unit))
        elif not _is_parent(id_, names):  # then it failed because a part of it did
            rows.fail(id_, "\n".join(failures[id_]))


def _read_events(source: ForeignFile, output: _GoOutput) -> None:
    """Read the events of -json; a line of the output may be in several of them."""
    printed: dict[str, list[str]] = defaultdict(list)
    others = []
    for number, node in read_json_lines(source):
        event = node.value if node else None
        if not isinstance(event, dict):
            others.append(number)
        elif event.get("Action") == "output":
            printed[str(event.get("Package", ""))].append(str(event.get("Output", "")))
    if others:
        more = f" and {counted(len(others) - 1, 'later line')}" if len(others) > 1 else ""
        verb = "are not events" if more else "is not an event"
        output.rows.skip(f"line {others[0]}{more} {verb} of go test -json")
    for package, parts in printed.items():
        output.package = package
        for line in plain_lines("".join(parts)):
            output.add(f"package {package}", line)
        output.end()


def _procs(output: _GoOutput) -> str:
    """The number of processors at the end of every name; "" if it differs, as with -cpu 1,2."""
    found = _ends(output)
    return found.pop() if len(found) == 1 else ""


def _ends(output: _GoOutput) -> set[str]:
    """The numbers of processors at the ends of the names; Go does not write that of one."""
    read = [key for key, results in output.results.items() if results]
    ends = (_PROCS.search(key) for key in read or output.results)
    return {end[0] if end else "" for end in ends}


def _is_parent(name: str, names: list[str]) -> bool:
    """Whether one of the sorted names is that of a part of this benchmark."""
    start = f"{name}/"
    after = bisect_left(names, start)
    return after < len(names) and names[after].startswith(start)


def _series(unit: str, results: list[_Result], better: Better | None) -> Series:
    metric, scale = _KNOWN.get(unit) or _custom(unit, better)
    processes: dict[int, list[_Result]] = defaultdict(list)
    for result in results:
        if unit in result.values:
            processes[result.process].append(result)
    return sampled(
        metric,
        [[result.values[unit] * scale for result in each] for each in processes.values()],
        [f"{each[0].place}: {unit}" for each in processes.values()],
        loops=usual_loops([result.loops for each in processes.values() for result in each]),
    )


def _custom(unit: str, better: Better | None) -> tuple[Metric, float]:
    """The metric of a unit of the benchmark's own."""
    direction = better or (Better.HIGHER if unit.endswith("/s") else Better.LOWER)
    amount = unit.partition("/")[0]
    if amount == "ns" or amount.endswith("-ns"):
        return Metric(unit, "s", direction), 1e-9
    return Metric(unit, "B" if amount == "B" else unit, direction), 1.0


def _note(unit: str) -> str:
    better = _custom(unit, None)[0].better
    stated = f"a line 'Unit {unit} better=higher' or 'better=lower' in the output says which"
    return f"{unit}: benchgate assumes that {better} is better; {stated}"
