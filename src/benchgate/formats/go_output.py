"""What `go test -bench` prints, line by line.

A result is a line `BenchmarkName-PROCS  N  VALUE UNIT  VALUE UNIT ...`. What the benchmark prints
itself may stand before its name, or split its line after the name, with or without line ends. So
whatever names a benchmark or looks like a result is either read, or a failed row or a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from benchgate.formats.parsed import shown
from benchgate.model.run import Better

_OUTCOME = re.compile(r"--- (FAIL|SKIP): (Benchmark\S*)")
_NAME = re.compile(r"Benchmark(?![a-z])\S*")
_TIME = re.compile(r"ns ?/ ?op")
_DIGIT = re.compile(r"\d")
_PROCESS = re.compile(r"goos: \w+$")
# Go writes the number of iterations in eight columns, and makes no more than 10 ** 9 of them. So a
# shorter number has a space before it, and a longer one begins with that of a log line.
_LOOPS = re.compile(r"(?:(?:^|\s)|[^\s\d.,:/+-](?=\d{8}))([1-9]\d{0,18})$")
_MOST_LOOPS = 10**9
_VALUE = re.compile(r"\s*(\S+)\s+(\S+)\s*")
_WHY_LINES = 20
_LONGEST_UNIT = 100


class Key(NamedTuple):
    """A benchmark: the import path of its package, and its name as printed."""

    package: str
    name: str

    def __str__(self) -> str:
        return f"{self.package}.{self.name}" if self.package else self.name


@dataclass(frozen=True, slots=True)
class Result:
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
class Output:
    """What was printed so far.

    Attributes:
        package: whose lines come next.
        results: of every benchmark; none of one that only failed.
        failures: of those that failed, the lines that say why.
        better: the directions that lines `Unit UNIT better=...` state, by unit.
        skipped: what is not there, and why.
    """

    package: str = ""
    results: dict[Key, list[Result]] = field(default_factory=dict)
    failures: dict[Key, list[str]] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    _process: int = 0
    _started: str = ""
    _unread: str = ""
    _in_log: bool = False
    _why: list[str] | None = None
    _failed_packages: set[str] = field(default_factory=set)

    def add(self, place: str, line: str) -> None:
        """Read the next line.

        Args:
            place: of the line, for errors.
        """
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
            why = " [build failed]" if "[build failed]" in line else ""
            self.skipped.append(f"{package}: go test failed{why}, so benchmarks may be missing")

    def _outcome(self, outcome: str, name: str) -> None:
        if not self._started.startswith(name):
            self._start("")
        if outcome == "FAIL":
            self._why = ["it failed under go test"]
            self._failed_packages.add(self.package)
            self._fail(name, self._why)
        else:
            self.skipped.append(f"{Key(self.package, name)}: go test skipped it")
        self._started, self._unread = "", ""

    def _fail(self, name: str, why: list[str]) -> None:
        key = Key(self.package, name)
        self.results.setdefault(key, [])
        self.failures.setdefault(key, why)

    def _result(self, place: str, line: str) -> None:
        values, before = _values(line)
        loops = _loops(before)
        names = _started(line)
        looks_like_one = (values and (loops or names)) or (
            _TIME.search(line) and _DIGIT.search(line)
        )
        if looks_like_one and not names:
            name = _NAME.search(line.split(maxsplit=1)[0])
            names = [name[0]] if name else []
        for name_ in names:
            self._start(name_)
        if self._started and values and loops and not before.rstrip().endswith(self._started):
            result = Result(place, self._process, loops, values)
            self.results.setdefault(Key(self.package, self._started), []).append(result)
            self._started, self._unread = "", ""
        elif looks_like_one:
            unread = f"{place}: the result cannot be read: {shown(line.strip())}"
            if self._started:
                self._unread = unread
            else:
                self.skipped.append(unread)


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
    return None if value is None or not _is_unit(unit) else (unit, value)


def _is_unit(word: str) -> bool:
    return len(word) <= _LONGEST_UNIT and _number(word) is None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
