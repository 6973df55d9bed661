"""Observes which functions compiled benchmarks call, under valgrind's callgrind.

Callgrind counts calls and instructions exactly, from the place that a function is called from, and
for each line of the source, if the program has debug information. A function is edited if its text
differs between the trees. If only that of a function differs that was inlined, it holds that one.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.measure.machine import CounterError
from benchgate.measure.observing.callgrind_format import (
    FILE,
    TOTALS,
    WORD,
    Profile,
    read_profile,
    short_name,
    symbol_of,
)
from benchgate.measure.observing.changed_lines import edits, last_word
from benchgate.measure.observing.definitions import definitions
from benchgate.measure.observing.inlined_calls import inlined
from benchgate.model.calls import MOST_NODES, CallTree, Edit, ObservedFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.observing.changed_lines import FunctionKey, Ran
    from benchgate.measure.observing.definitions import DefinedFunction
    from benchgate.measure.workers import Worker


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
        f"--callgrind-out-file={str(folder).replace('%', '%%')}/{FILE}",
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
            _wait_for(folders[worker.arm.name] / FILE, limit_s)
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
    sides = [_CallgrindSide(arm, read_profile(folder / FILE)) for arm, folder in folders]
    if not all(side.profile.calls for side in sides):
        raise CounterError("valgrind has seen no calls")
    arms = [side.arm for side in sides]
    ran = [side.ran() for side in sides]
    base, head = zip((arm.root for arm in arms), ran, strict=True)
    edited = edits(base, head)
    held = _held(sides)
    trees = [side.tree(operations, edited, held) for side in sides]
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


def _held(sides: Sequence[_CallgrindSide]) -> Mapping[FunctionKey, str]:
    """Of each function the edited one that was inlined into it, and that takes most there."""
    inner = [side.inlined() for side in sides]
    ran = [
        {
            (path, one.name): {(path, line) for line in range(one.first, one.last + 1)}
            for found in each.values()
            for path, one in found
        }
        for each in inner
    ]
    base, head = zip((side.arm.root for side in sides), ran, strict=True)
    edited = edits(base, head)
    most: dict[FunctionKey, tuple[int, str]] = {}
    for each in inner:
        for key, found in each.items():
            for (path, one), instructions in found.items():
                if edited.get((path, one.name), Edit.BESIDE) is not Edit.BESIDE:
                    most[key] = max(most.get(key, (0, "")), (instructions, one.name))
    return {key: name for key, (_, name) in most.items()}


def _wait_for(file: Path, limit_s: float) -> None:
    """Wait until callgrind has written a file, which it does when its program ends."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s and not (file.exists() and TOTALS in file.read_bytes()[-99:]):
        time.sleep(_LOOK_S)


_LOOK_S: Final = 0.02


@dataclass(slots=True)
class _CallgrindSide:
    """What ran on one side."""

    arm: Arm
    profile: Profile
    _paths: dict[str, str] = field(default_factory=dict)
    _lines: defaultdict[str, Counter[tuple[str, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _own: dict[str, tuple[str, DefinedFunction | None]] = field(default_factory=dict)
    _inner: dict[tuple[str, int], DefinedFunction | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add up the lines of the tree that ran, wherever a function was called from."""
        for function, lines in self.profile.lines.items():
            for (file, line), instructions in lines.items():
                if line and (path := self.path(file)):
                    self._lines[symbol_of(function)][path, line] += instructions

    def path(self, file: str) -> str:
        """Where a file is in the tree; "" if it is not in it."""
        if file not in self._paths:
            path = self.arm.folder / file
            is_there = path.is_relative_to(self.arm.root) and path.is_file()
            self._paths[file] = path.relative_to(self.arm.root).as_posix() if is_there else ""
        return self._paths[file]

    def own(self, function: str) -> tuple[str, DefinedFunction | None]:
        """The file of a function in the tree, "" if it is not in it, and its text there, if found.

        The file that callgrind names may be that of what was inlined first.
        """
        symbol = symbol_of(function)
        if symbol not in self._own:
            named = self.path(self.profile.files.get(function, ""))
            short = short_name(symbol)
            words = set(WORD.findall(short))
            found = [
                (len(words.intersection(WORD.findall(one.name))), path == named, ran, path, one)
                for path in {named, *(path for path, _ in self._lines[symbol])} - {""}
                for one in definitions(self.arm.root / path)
                if last_word(one.name).replace("()", "") == last_word(short)
                if (ran := self._ran_in(symbol, path, one))
            ]
            best = max(found, key=lambda one: (one[:4], -one[4].line), default=None)
            self._own[symbol] = best[3:] if best else (named, None)
        return self._own[symbol]

    def _ran_in(self, symbol: str, path: str, one: DefinedFunction) -> int:
        lines = self._lines[symbol]
        return sum(file == path and one.first <= line <= one.last for file, line in lines)

    def key(self, function: str) -> FunctionKey:
        """The file and the name of a function, which are the same on both sides."""
        file = self.profile.files.get(function, "")
        return self.own(function)[0] or Path(file).name, short_name(symbol_of(function))

    def ran(self) -> Ran:
        """The text of each function, or the lines of it that ran, and those between them."""
        found: defaultdict[FunctionKey, set[tuple[str, int]]] = defaultdict(set)
        for function in self._functions():
            path, one = self.own(function)
            ran = self._lines[symbol_of(function)]
            if one:
                first, last = one.first, one.last
            else:
                lines = sorted(line for file, line in ran if file == path)
                first = next(iter(lines), 1)
                around = self._around(path, first)
                last = max((one for one in lines if not around or one <= around.last), default=0)
            between = {(path, line) for line in range(first, last + 1)}
            elsewhere = {place for place in ran if not self._around(*place)}
            found[self.key(function)] |= between | elsewhere
        return found

    def inlined(self) -> Mapping[FunctionKey, Mapping[tuple[str, DefinedFunction], int]]:
        """Into each function: what was inlined, and how many instructions ran there."""
        found: defaultdict[FunctionKey, Counter[tuple[str, DefinedFunction]]] = defaultdict(Counter)
        for function in self._functions():
            path, own = self.own(function)
            for (file, line), instructions in self._lines[symbol_of(function)].items():
                one = self._around(file, line)
                if own and one and not (file == path and own.first <= line <= own.last):
                    found[self.key(function)][file, one] += instructions
        return found

    def _functions(self) -> Iterable[str]:
        """Each function once."""
        return {symbol_of(one): one for one in self.profile.lines}.values()

    def _around(self, path: str, line: int) -> DefinedFunction | None:
        """The innermost function that a line belongs to."""
        if (path, line) not in self._inner:
            found = definitions(self.arm.root / path) if path else ()
            around = (one for one in found if one.first <= line <= one.last)
            self._inner[path, line] = max(around, key=lambda one: one.first, default=None)
        return self._inner[path, line]

    def tree(
        self, operations: int, edited: Mapping[FunctionKey, Edit], held: Mapping[FunctionKey, str]
    ) -> CallTree:
        """The calls from the samples on."""
        functions: dict[FunctionKey, ObservedFunction] = {}
        nodes: list[tuple[int, int, int]] = []

        def number(function: str) -> int:
            key = self.key(function)
            path, own = self.own(function)
            named = self.profile.files.get(function, "")
            lines = (line for file, line in self.profile.lines[function] if file == named and line)
            edit = edited.get(key, Edit.NONE)
            holds = held.get(key, "") if edit in {Edit.NONE, Edit.BESIDE} else ""
            line = own.line if own else min(lines, default=0)
            known = functions.get(key) or ObservedFunction(
                *(key[0], line, key[1], 0.0, bool(path)),
                edit=Edit.EDITED if holds else edit,
                holds=holds,
            )
            instructions = sum(self.profile.lines[function].values())
            functions[key] = replace(known, own=known.own + _INSTRUCTION_S * instructions)
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
        names = {one: symbol_of(one) for one in self.profile.calls}
        samples = [one for one, name in names.items() if _SAMPLE in name]
        if not samples:
            return [(one, 1) for one, name in names.items() if short_name(name) == _MAIN]
        called = [pair for one in samples for pair in self._calls(one)]
        found, seen, left = [], set(samples), list(called)
        while left:
            function, calls = left.pop(0)
            if self.own(function)[0]:
                found.append((function, calls))
            elif function not in seen:
                seen.add(function)
                left += self._calls(function)
        return found or called

    def _calls(self, function: str) -> Iterator[tuple[str, int]]:
        called = self.profile.calls.get(function, Counter[str]())
        return (one for one in called.most_common() if not one[0].startswith(_LINKER))
