"""Observes what a benchmark calls on both sides, and what differs in the text of that.

Functions of Python are compared as syntax trees, those of other languages by their lines.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.json_object import MAX_NAME
from benchgate.measure.observing.changed_lines import edits
from benchgate.measure.observing.pprof import PROFILED, read_profile
from benchgate.measure.observing.python_text import (
    MODULE,
    MOST_LINES,
    NAMELESS,
    UNSAID,
    PythonText,
    TextDefinition,
    read_text,
)
from benchgate.measure.workers import WorkerFailedError
from benchgate.model.calls import MOST_NODES, CallTree, Edit, ObservedFunction
from benchgate.model.metrics import TIME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.observing.changed_lines import FunctionKey, Ran
    from benchgate.measure.workers import Worker

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Observed:
    """What was observed on one side.

    Attributes:
        files: by its path in the tree, or in the folder that it was imported from, each file that
            has a function that ran.
        ran: the lines of the functions of other languages than Python.
        digests: of the functions with a name whose code is in no file.
        inlined: by function, those that were inlined into it.
    """

    arm: Arm
    tree: CallTree
    files: Mapping[str, Path]
    ran: Ran
    digests: Mapping[FunctionKey, AbstractSet[str]]
    inlined: Mapping[FunctionKey, AbstractSet[FunctionKey]]

    @classmethod
    def of(
        cls,
        arm: Arm,
        folders: Sequence[str],
        reply: Mapping[str, Any],
        loops: int,
        unit: float = 1e-9,
    ) -> Observed:
        """Read what a worker, or a program, says that it called.

        Args:
            folders: those that its Python imports from.
            loops: how many operations these are if it does not say so.
            unit: that of what the functions took: ns, or 1 for bytes and blocks.
        """
        files: dict[str, Path] = {}
        ran: defaultdict[FunctionKey, set[tuple[str, int]]] = defaultdict(set)
        deepest_first = sorted(map(Path, folders), key=lambda one: len(one.parts), reverse=True)
        digests: defaultdict[FunctionKey, set[str]] = defaultdict(set)
        functions = []
        _require_bounds(reply)
        for name_of_file, line, name, own, *more in reply["functions"]:
            last, is_counted, digest = more + UNSAID[len(more) :]
            file = Path(name_of_file)
            path, is_own = _place(file, arm, deepest_first) if name_of_file else ("", False)
            if path:
                files[path] = file
            if digest:
                digests[path, name].add(digest)
            if is_own and last:
                ran[path, name].update((path, one) for one in range(line, last + 1))
            functions.append(
                ObservedFunction(path, line, name, own * unit, is_own, is_counted=is_counted)
            )
        nodes = tuple((parent, function, calls) for parent, function, calls in reply["nodes"])
        for at, (parent, function, _) in enumerate(nodes):
            if not (-1 <= parent < at and 0 <= function < len(functions)):
                raise ValueError(f"node {at} has the caller {parent} and the function {function}")
        tree = CallTree(reply.get("operations", loops), tuple(functions), nodes)
        keys = [(one.path, one.name) for one in functions]
        inlined: defaultdict[FunctionKey, set[FunctionKey]] = defaultdict(set)
        for outer, inner in reply.get("inlined", ()):
            inlined[keys[outer]].add(keys[inner])
        return cls(arm, tree, files, ran, digests, inlined)


def _require_bounds(reply: Mapping[str, Any]) -> None:
    """Refuse what is larger than any code is, before it costs time or memory."""
    functions, nodes = reply["functions"], reply["nodes"]
    if max(len(functions), len(nodes)) > MOST_NODES:
        raise ValueError(f"it has more than {MOST_NODES:,} functions or nodes")
    lines = 0
    for _, line, name, own, *more in functions:
        last = more[0] if more else 0
        lines += max(0, last - line)
        if not 0 <= min(line, last) <= max(line, last, lines) <= MOST_LINES:
            raise ValueError(f"its functions have more than {MOST_LINES:,} lines")
        if not (isinstance(name, str) and len(name) <= MAX_NAME and _is_number(own)):
            raise ValueError(f"the function in line {line} has a wrong name or time")
    numbers = [calls for _, _, calls in nodes] + [reply.get("operations", 1)]
    if not all(map(_is_number, numbers)) or numbers[-1] < 1:
        raise ValueError("a number of calls is wrong")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _LARGEST


def observe(
    workers: Sequence[Worker],
    names: Sequence[str],
    metrics: Collection[str],
    *,
    loops: int,
    warms_up: bool,
    limit_s: float,
) -> Mapping[ArmName, Mapping[str, CallTree]]:
    """Observe a benchmark in every worker, for each of these metrics.

    Args:
        workers: ready workers with no benchmark open.
        names: the benchmark's name in each worker.
        metrics: `time`, `alloc_peak` or `alloc_blocks`.
        loops: operations to observe.
        warms_up: whether to call it before, to fill caches.
        limit_s: time limit for counting the calls of each worker.

    Raises:
        WorkerFailedError: it failed, or it makes too many calls.
    """
    sides: defaultdict[str, list[Observed]] = defaultdict(list)
    for worker, name in zip(workers, names, strict=True):
        worker.ask("open", name)
        worker.ask("loops", loops)
        if warms_up:
            worker.sample()
        if "begin" in worker.steps:
            worker.ask("begin")
        replies = _observed(worker, metrics, round(1e9 * limit_s))
        if "end" in worker.steps:
            worker.ask("end")
        worker.ask("close")
        try:
            for metric, reply in replies.items():
                unit = 1e-9 if metric == TIME.name else 1.0
                one = Observed.of(worker.arm, worker.folders, reply, loops, unit)
                sides[metric].append(one)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            why = f"its reply to `observe` is not as benchgate knows it: {error}"
            raise WorkerFailedError(worker, why, "") from error
    trees = {metric: compared(both) for metric, both in sides.items()}
    return {
        worker.arm.name: {metric: both[worker.arm.name] for metric, both in trees.items()}
        for worker in workers
    }


def compared(sides: Sequence[Observed]) -> Mapping[ArmName, CallTree]:
    """The calls of both sides, with how the text of each function differs."""
    base, head = sides
    edited = edits((base.arm.root, base.ran), (head.arm.root, head.ran))
    changed = {key for key, edit in edited.items() if edit is not Edit.BESIDE}
    holds = {
        outer: min(held)[1]
        for side in sides
        for outer, inner in side.inlined.items()
        if (held := inner & changed) and outer not in changed
    }
    return {
        side.arm.name: replace(
            side.tree,
            functions=tuple(
                replace(one, holds=holds.get((one.path, one.name), ""))
                for one in _compared(side, other, edited)
            ),
        )
        for side, other in ((base, head), (head, base))
    }


def _observed(
    worker: Worker, metrics: Collection[str], limit_ns: int
) -> Mapping[str, Mapping[str, Any]]:
    """What a worker counts, or else what its profiler says, by metric."""
    found: dict[str, Mapping[str, Any]] = {}
    allocations = [one for one in metrics if one != TIME.name]
    if TIME.name in metrics:
        if "observe" in worker.steps:
            found[TIME.name] = worker.ask("observe", limit_ns)
        elif "profile" in worker.steps:
            reply = worker.ask("profile", limit_ns)
            found[TIME.name] = {**reply, **_profile(worker, reply, TIME.name)}
        else:
            raise WorkerFailedError(worker, "its worker has no step `observe` or `profile`", "")
    if allocations and "observe_allocations" in worker.steps:
        reply = worker.ask("observe_allocations", limit_ns)
        found.update({one: reply[one] for one in allocations})
    elif allocations and "profile_allocations" in worker.steps:
        reply = worker.ask("profile_allocations", limit_ns)
        found.update({one: {**reply, **_profile(worker, reply, one)} for one in allocations})
    return found


def _profile(worker: Worker, reply: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    try:
        before = bytes.fromhex(reply.get("before", ""))
        profile = bytes.fromhex(reply["pprof"])
        return read_profile(profile, PROFILED[metric], before, reply.get("label"))
    except (TypeError, ValueError) as error:
        raise WorkerFailedError(worker, str(error), "") from error


def _place(file: Path, arm: Arm, folders: Sequence[Path]) -> tuple[str, bool]:
    """Where a file is: in the tree, or relative to the folder that it was imported from."""
    if file.is_relative_to(arm.root):
        return file.relative_to(arm.root).as_posix(), True
    for folder in folders:
        if file.is_relative_to(folder):
            path = file.relative_to(folder)
            # The project itself may be installed.
            for place in (path, "src" / path):
                if (arm.root / place).is_file():
                    return place.as_posix(), True
            return path.as_posix(), False
    return file.name, False


def _compared(
    side: Observed, other: Observed, edited: Mapping[FunctionKey, Edit]
) -> Iterator[ObservedFunction]:
    """Give the functions of a side their full names, and say how their text differs."""
    for function in side.tree.functions:
        key = function.path, function.name
        if key in side.ran:
            yield replace(function, edit=edited.get(key, Edit.NONE))
            continue
        if key in side.digests and key in other.digests:
            edit = Edit.EDITED if side.digests[key] != other.digests[key] else Edit.NONE
            yield replace(function, edit=edit)
            continue
        file = side.files.get(function.path)
        if file is None:
            yield function
            continue
        text = (
            read_text(file)
            if function.is_own or _differs(file, function.path, other)
            else PythonText()
        )
        definition = text.at(function.line)
        if definition is None:
            is_module = function.name == MODULE
            edit = _edit_of_module(side, other, function.path) if is_module else Edit.NONE
            yield replace(function, edit=edit)
            continue
        nameless = f".<locals>.{function.name.rpartition('.')[2]}"
        is_inner = function.name.rpartition(".")[2].startswith(NAMELESS)
        named = replace(function, name=f"{definition.name}{nameless if is_inner else ''}")
        yield replace(named, edit=_edit(side, other, function.path, definition))


def _differs(file: Path, path: str, other: Observed) -> bool:
    theirs = other.files.get(path)
    return theirs is not None and theirs != file and theirs.read_bytes() != file.read_bytes()


def _edit_of_module(side: Observed, other: Observed, path: str) -> Edit:
    """How the text differs that runs when a file is imported."""
    theirs = other.files.get(path) or other.arm.root / path
    if not theirs.is_file():
        return Edit.GONE if side.arm.name == "base" else Edit.NEW
    return Edit.EDITED if read_text(theirs).rest != read_text(side.files[path]).rest else Edit.NONE


def _edit(side: Observed, other: Observed, path: str, definition: TextDefinition) -> Edit:
    """How the text of a function differs from that of the other side."""
    theirs = read_text(other.files.get(path) or other.arm.root / path)
    digest = theirs.digests().get(definition.name)
    if digest is None:
        return Edit.GONE if side.arm.name == "base" else Edit.NEW
    if digest != definition.digest:
        return Edit.EDITED
    return Edit.BESIDE if theirs.rest != read_text(side.files[path]).rest else Edit.NONE
