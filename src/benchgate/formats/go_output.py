"""What `go test -bench` prints, line by line.

A result is a line `BenchmarkName-PROCS  N  VALUE UNIT  VALUE UNIT ...`. What the benchmark prints
itself may stand before its name, or split its line after the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from benchgate.model.run import Better

_OUTCOME = re.compile(r"--- (FAIL|SKIP): (Benchmark\S*)")
_NAME = re.compile(r"Benchmark(?![a-z])\S*")
_STARTED = re.compile(r"Benchmark(?![a-z])\S* *\t")
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
        if line.startswith("pkg: "):
            self.package = line[5:].strip()
        elif line.startswith("goos: "):  # a test program prints it once, before its first result
            self._process += 1
        elif line.startswith("Unit "):
            self._unit(line.split())
        elif line.startswith(("ok  \t", "FAIL\t")):
            self._end(line)
        elif outcome := _OUTCOME.search(line):
            self._outcome(*outcome.groups())
        else:
            self._result(place, line)

    def end(self) -> None:
        """Note that no line of this package comes any more."""
        if self._started:
            self._fail(self._started, ["it printed no result"])
        self._started, self._why = "", None

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
        if outcome == "FAIL":
            self._why = ["it failed under go test"]
            self._fail(name, self._why)
        else:
            self.skipped.append(f"{Key(self.package, name)}: go test skipped it")
        self._started = ""

    def _fail(self, name: str, why: list[str]) -> None:
        key = Key(self.package, name)
        self._failed_packages.add(self.package)
        self.results.setdefault(key, [])
        self.failures.setdefault(key, why)

    def _result(self, place: str, line: str) -> None:
        words = line.split()
        name = _NAME.search(words[0]) if words else None
        printed = name[0] if name else self._started
        values = _values(words)
        loops = words[-1] if words else ""
        if printed and values and loops.isdecimal() and len(loops) < 20:
            result = Result(place, self._process, int(loops), values)
            self.results.setdefault(Key(self.package, printed), []).append(result)
            self._started = ""
        elif name and _STARTED.match(line):
            self._started = printed


def _values(words: list[str]) -> dict[str, float]:
    """Take the values at the end of a line, by unit."""
    found = []
    while len(words) > 2 and _is_unit(words[-1]) and (value := _number(words[-2])) is not None:
        found.append((words[-1], value))
        del words[-2:]
    return dict(reversed(found))


def _is_unit(word: str) -> bool:
    return len(word) <= _LONGEST_UNIT and _number(word) is None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
