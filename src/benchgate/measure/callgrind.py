"""Observes which functions compiled benchmarks call, under valgrind's callgrind.

Callgrind counts calls and instructions exactly, from the place that a function is called from, and
for each line of the source, if the program has debug information. A function is edited if a line of
it that ran differs between the trees.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.measure.changed_lines import edits
from benchgate.measure.counters import CounterError
from benchgate.measure.inlined_calls import inlined
from benchgate.model.calls import MOST_NODES, CallTree, Edit, ObservedFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.measure.changed_lines import FunctionKey, Ran
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.worker import Worker


_SAMPLE: Final = "benchgate_sample"
"""What takes a sample in the workers of C++ and Rust: only what it calls is observed."""

_MAIN: Final = "main"
# The dynamic linker finds a function when it is first called.
_LINKER: Final = "_dl_"
_DEEPEST = 40
_SAMPLES = 3
# Only relations of times matter.
_INSTRUCTION_S = 1e-9


def under_callgrind(valgrind: str, folder: Path, *, samples: bool) -> tuple[str, ...]:
    """The beginning of a command whose process leaves its calls in a folder.

    Args:
        samples: those of its samples only.
    """
    only = ("--collect-atstart=no", f"--toggle-collect=*{_SAMPLE}*") if samples else ()
    return (
        valgrind,
        "--tool=callgrind",
        f"--callgrind-out-file={str(folder).replace('%', '%%')}/{_FILE}",
        *only,
        f"--separate-callers={_DEEPEST}",
        "--quiet",
        "--vgdb=no",
    )


def observe_compiled(
    workers: Sequence[Worker],
    end: Callable[[Worker], None],
    names: Sequence[str],
    folders: Mapping[ArmName, Path],
    *,
    loops: int,
    limit_s: float,
) -> Mapping[ArmName, CallTree]:
    """Observe a benchmark in every worker.

    Args:
        workers: ready workers that leave their calls in these folders; they are ended.
        end: ends one.
        names: the benchmark's name in each worker.
        loops: operations in a sample.
        limit_s: time limit for each worker.

    Raises:
        WorkerFailedError: it failed.
        CounterError: nothing was observed.
    """
    samples = 1 if loops == 1 else _SAMPLES
    try:
        for worker, name in zip(workers, names, strict=True):
            worker.allow(limit_s)
            worker.ask("open", name)
            worker.ask("loops", loops)
            for _ in range(samples):
                worker.sample()
            worker.ask("close")
            worker.hang_up()
            _wait_for(folders[worker.arm.name] / _FILE, limit_s)
    finally:
        for worker in workers:
            end(worker)
    sides = [(worker.arm, folders[worker.arm.name]) for worker in workers]
    return call_trees(sides, samples * loops)


def call_trees(folders: Sequence[tuple[Arm, Path]], operations: int) -> Mapping[ArmName, CallTree]:
    """What was called on both sides.

    Args:
        folders: where callgrind left it.
        operations: how many were observed.

    Raises:
        CounterError: nothing was observed.
    """
    sides = [_CallgrindSide(arm, read_profile(folder / _FILE)) for arm, folder in folders]
    if not all(side.profile.calls for side in sides):
        raise CounterError("valgrind has seen no calls")
    ran = [side.ran() for side in sides]
    base, head = ((side.arm.root, lines) for side, lines in zip(sides, ran, strict=True))
    edited = edits(base, head)
    trees = [side.tree(operations, edited) for side in sides]
    arms = [side.arm for side in sides]
    uncounted = inlined(list(zip(arms, ran, trees, strict=True)))
    return {
        arm.name: replace(
            tree,
            functions=tuple(
                replace(one, is_counted=(one.path, one.name) not in uncounted)
                for one in tree.functions
            ),
        )
        for arm, tree in zip(arms, trees, strict=True)
    }


def _wait_for(file: Path, limit_s: float) -> None:
    """Wait until callgrind has written a file, which it does when its program ends."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s and not (file.exists() and _TOTALS in file.read_bytes()[-99:]):
        time.sleep(_LOOK_S)


_FILE: Final = "calls"
_TOTALS: Final = b"totals: "
_LOOK_S: Final = 0.02


@dataclass(slots=True)
class Profile:
    """What callgrind has written.

    Attributes:
        lines: for each function, with the place that it is called from, by file and line the
            instructions that ran there.
        files: the file of each of these functions; "" if it has no debug information.
        calls: which of them calls which other one, and how often.
    """

    lines: defaultdict[str, Counter[tuple[str, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    files: dict[str, str] = field(default_factory=dict)
    calls: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def read_profile(path: Path) -> Profile:
    """Read a file of callgrind; https://valgrind.org/docs/manual/cl-format.html has the format."""
    profile = Profile()
    known: dict[tuple[str, str], str] = {}  # "(3) main" defines what "(3)" then stands for
    now = {"fn": "", "cfn": "", "fl": "", "file": ""}
    line, calls = 0, 0
    for row in path.read_text(errors="replace").splitlines() if path.exists() else ():
        key, _, value = row.partition("=")
        if key == "calls":
            calls = int(value.split()[0])
        elif key in _KINDS:
            number, _, name = value.partition(" ")
            name = known.setdefault((_KINDS[key], number), name)
            now[key] = name
            if key in _SOURCES:
                now["file"] = name
            if key == "fn":
                now["file"] = now["fl"]
                profile.files.setdefault(name, "" if now["fl"] == "???" else now["fl"])
        elif _COST.match(row):
            place, *costs = row.split()
            line = line if place == "*" else int(place) + (line if place[0] in "+-" else 0)
            if calls:  # it is what the callee took
                profile.calls[now["fn"]][now["cfn"]] += calls
                calls = 0
            else:
                profile.lines[now["fn"]][now["file"], line] += int(costs[0])
    return profile


_SOURCES: Final = frozenset({"fl", "fi", "fe"})
_KINDS: Final = {
    **dict.fromkeys(("fn", "cfn"), "function"),
    **dict.fromkeys((*_SOURCES, "cfi", "cfl"), "file"),
    **dict.fromkeys(("ob", "cob"), "object"),
}
_COST: Final = re.compile(r"[-+*\d]\S* *\d")


_HASH = re.compile(r"::h[0-9a-f]{16}$")
_MARKS = re.compile(r"\[abi:\w+\]| \[clone [^\]]*\]|@@?[\w.]+$")


def short_name(name: str) -> str:
    """The name of a function without its parameters, type arguments and marks of compilers."""
    name = _MARKS.sub("", _HASH.sub("", name)).replace("(anonymous namespace)::", "")
    name = name.replace("std::__cxx11::basic_string<", "std::string<")
    kept, depth = [], 0
    for place, character in enumerate(name):
        if character in "<(" and not (character == "<" and name[:place].endswith("operator")):
            if not depth and character == "(":
                break
            depth += 1
        elif character in ">)" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    # The type of what a template returns stands before it.
    short, operator, which = "".join(kept).strip().rpartition("operator")
    words = short.split(" ")
    # The type of what a template returns stands before it.
    return f"{words[-1]}{operator}{which}" if operator else which.split(" ")[-1] or name


@dataclass(slots=True)
class _CallgrindSide:
    """What ran on one side."""

    arm: Arm
    profile: Profile
    _paths: dict[str, str] = field(default_factory=dict)

    def path(self, file: str) -> str:
        """Where a file is in the tree; "" if it is not in it."""
        if file not in self._paths:
            path = self.arm.folder / file
            is_there = path.is_relative_to(self.arm.root) and path.is_file()
            self._paths[file] = path.relative_to(self.arm.root).as_posix() if is_there else ""
        return self._paths[file]

    def key(self, function: str) -> FunctionKey:
        """The file and the name of a function, which are the same on both sides."""
        file = self.profile.files.get(function, "")
        return self.path(file) or Path(file).name, short_name(function.partition("'")[0])

    def ran(self) -> Ran:
        """The lines of the tree that ran, by function, with those between that have no code."""
        found: defaultdict[FunctionKey, set[tuple[str, int]]] = defaultdict(set)
        begins: dict[FunctionKey, int] = {}
        for function, lines in self.profile.lines.items():
            key = self.key(function)
            places = [(path, line) for file, line in lines if line and (path := self.path(file))]
            found[key].update(places)
            if first := next((line for path, line in places if path == key[0]), 0):
                begins[key] = min(first, begins.get(key, first))
        for key, first in begins.items():
            path = key[0]
            ends = [line - 1 for other, line in begins.items() if other[0] == path and line > first]
            last = max(line for place, line in found[key] if place == path)
            found[key].update((path, line) for line in range(first, min([last, *ends]) + 1))
        return found

    def tree(self, operations: int, edited: Mapping[FunctionKey, Edit]) -> CallTree:
        """The calls from the samples on."""
        functions: dict[FunctionKey, ObservedFunction] = {}
        nodes: list[tuple[int, int, int]] = []

        def number(function: str) -> int:
            key = self.key(function)
            lines = self.profile.lines.get(function, Counter[tuple[str, int]]())
            own = [line for file, line in lines if line and file == self.profile.files[function]]
            known = functions.get(key) or ObservedFunction(
                key[0],
                0,
                key[1],
                0.0,
                bool(self.path(self.profile.files.get(function, ""))),
                edited.get(key, Edit.NONE),
            )
            functions[key] = replace(
                known,
                line=min([*own, *([known.line] if known.line else [])], default=0),
                own=known.own + _INSTRUCTION_S * sum(lines.values()),
            )
            return list(functions).index(key)

        seen: set[str] = set()
        below = [(-1, function, calls) for function, calls in self._roots()]
        while below and len(nodes) < MOST_NODES:
            parent, function, calls = below.pop(0)
            is_new = function not in seen
            seen.add(function)
            index = number(function) if is_new else list(functions).index(self.key(function))
            nodes.append((parent, index, calls))
            if is_new:
                place = len(nodes) - 1
                below += [(place, callee, count) for callee, count in self._calls(function)]
        return CallTree(operations, tuple(functions.values()), tuple(nodes))

    def _roots(self) -> list[tuple[str, int]]:
        """The first functions of the tree that a sample calls, or all that it calls itself.

        Of a program without samples, its main function.
        """
        names = {one: one.partition("'")[0] for one in self.profile.calls}
        samples = [one for one, name in names.items() if _SAMPLE in name]
        if not samples:
            return [(one, 1) for one, name in names.items() if short_name(name) == _MAIN]
        called = [pair for one in samples for pair in self._calls(one)]
        found, seen, left = [], set(samples), list(called)
        while left:
            function, calls = left.pop(0)
            if self.path(self.profile.files.get(function, "")):
                found.append((function, calls))
            elif function not in seen:
                seen.add(function)
                left += self._calls(function)
        return found or called

    def _calls(self, function: str) -> Iterator[tuple[str, int]]:
        called = self.profile.calls.get(function, Counter[str]())
        return (one for one in called.most_common() if not one[0].startswith(_LINKER))
