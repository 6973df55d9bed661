"""Finds the functions that a change of a benchmark comes from, by the calls of both sides.

The numbers of calls are exact. Times were observed together with the calls, which slows small
functions down: they only tell which functions matter most. The same is done for allocations.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.errors import without_it
from benchgate.model.calls import Edit
from benchgate.model.metrics import TIME, observed_as
from benchgate.model.policy import CHANGED
from benchgate.model.row import MOST_FUNCTIONS, CalledFunction, Cause, Explanation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from benchgate.model.calls import CallTree, ObservedFunction
    from benchgate.model.row import Row
    from benchgate.model.run import Run


_Key: TypeAlias = "tuple[str, str]"

_NATIVE: Final = frozenset(
    {
        *(".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".cu", ".f", ".f90", ".s", ".asm"),
        *(".pyx", ".pxd", ".pxi", ".rs", ".go", ".zig"),
    }
)
_MOST_CAUSES: Final = 3
# A function that explains less of a change than this is not named.
_LEAST_SHARE: Final = 0.1
# Calls that are not counted are named if they take this part of what a function explains.
_MOST_OF_IT: Final = 0.5
# If it takes more than this, other code takes more of it back than is left: no reason.
_TAKEN_BACK: Final = 2.0
# A function that moved by less is not listed.
_TRACE: Final = 0.01
_EDITED: Final = frozenset({Edit.EDITED, Edit.NEW, Edit.GONE})
_FILES: Final = _EDITED | {Edit.BESIDE}


def explained(
    rows: Iterable[Row], base: Run, head: Run, warn: Callable[[str], None], *, every: bool = False
) -> list[Row]:
    """Explain the typical rows that changed, as far as their calls were observed.

    Args:
        warn: is told if a row cannot be explained.
        every: whether to say of unchanged ones, too, which calls differ.
    """
    before, after = ({one.id: one.calls for one in run.benchmarks} for run in (base, head))
    found = []
    for row in rows:
        metric = observed_as(row.metric, row.unit)
        was = before.get(row.renamed_from or row.benchmark, {}).get(metric)
        now = after.get(row.benchmark, {}).get(metric)
        is_explained = row.is_typical and (every or row.outcome in CHANGED)
        explanation = None
        if was and now and is_explained:
            explanation = without_it("cause", partial(explain, row, was, now), None, warn)
        if explanation and not explanation.causes and was and now:
            native = _unobserved(head.source.changed_files, was, now)
            explanation = replace(explanation, unobserved=native)
        found.append(replace(row, explanation=explanation) if explanation else row)
    return found


def explain(row: Row, base: CallTree, head: CallTree) -> Explanation:
    """Explain why a row of times or allocations changed, or which calls of it differ.

    What a function takes counts for the nearest edited one that it is called from. If edited
    functions do not explain the change, look for those of which something else in their file is
    edited, or into which an edited one was inlined, and then for any that calls another one more or
    less often.
    """
    sides = _CallSide(base, row.base or 0.0), _CallSide(head, row.head or 0.0)
    uncounted = sides[0].uncounted() | sides[1].uncounted()
    total = (row.head or 0.0) - (row.base or 0.0)
    is_changed = row.outcome in CHANGED
    least = _TRACE * abs(total) if is_changed else math.inf
    every = _functions(*sides, uncounted)
    moved = [one for one in every if max(_moved(one)[0] - least, _moved(one)[1]) > 0]
    same_calls = all(one.calls is not None and one.calls[0] == one.calls[1] for one in moved)
    # Such as generator expressions, which are no functions of their own in the list.
    before, after = (side.calls() for side in sides)
    parts = {key for key in before.keys() | after.keys() if key[1].endswith(">")} - uncounted
    return Explanation(
        _first_causes(*sides, uncounted, row) if is_changed else (),
        tuple(sorted(moved, key=_moved, reverse=True)[:MOST_FUNCTIONS]),
        same_calls=same_calls and all(before.get(one) == after.get(one) for one in parts),
    )


def _unobserved(files: Iterable[str], *sides: CallTree) -> tuple[str, ...]:
    """The files of native code, if none of that was observed."""
    seen = {
        PurePosixPath(one.path).suffix for side in sides for one in side.functions if one.is_own
    }
    native = () if seen & _NATIVE else files
    return tuple(file for file in native if PurePosixPath(file).suffix in _NATIVE)


def _first_causes(
    base: _CallSide, head: _CallSide, uncounted: frozenset[_Key], row: Row
) -> tuple[Cause, ...]:
    total = (row.head or 0.0) - (row.base or 0.0)
    sign = 1 if total > 0 else -1
    by_amount = observed_as(row.metric, row.unit) != TIME.name
    before, after = base.calls(), head.calls()
    same = frozenset(key for key, calls in before.items() if after.get(key) == calls)
    replaced = _replaced(base, head) | _replaced(head, base)
    for owners in (
        base.with_edit(_EDITED) | head.with_edit(_EDITED),
        base.with_edit(_FILES) | head.with_edit(_FILES) | base.holders() | head.holders(),
        same,
    ):
        causes = list(_causes(base, head, owners, uncounted, replaced, by_amount=by_amount))
        if owners is same:
            causes = [one for one in causes if one.calls]
        causes.sort(key=lambda one: sign * one.amount, reverse=True)
        least = _LEAST_SHARE * abs(total)
        if kept := [one for one in causes[:_MOST_CAUSES] if sign * one.amount >= least]:
            return tuple(kept)
    return ()


def _functions(
    base: _CallSide, head: _CallSide, uncounted: frozenset[_Key]
) -> list[CalledFunction]:
    every = frozenset(base.functions) | frozenset(head.functions)
    before, after = base.shares(every), head.shares(every)
    found = []
    for key in before.keys() | after.keys():
        was, now = before.get(key, _Share()), after.get(key, _Share())
        calls = None if key in uncounted else (was.calls, now.calls)
        amounts = was.amount, now.amount
        function = head.functions.get(key) or base.functions[key]
        found.append(CalledFunction(*_named(function), calls, amounts, function.holds))
    return found


def _moved(one: CalledFunction) -> tuple[float, float]:
    """How far the amount and the calls of a function differ."""
    before, after = one.calls or (0.0, 0.0)
    return abs(one.amounts[1] - one.amounts[0]), abs(after - before)


def _replaced(side: _CallSide, other: _CallSide) -> dict[_Key, _Key]:
    """The functions of only one side, with the unedited one that runs for them on the other side.

    It has the same name, such as a method that is overridden, and the same callers call it as much
    more often there.
    """
    here, there = side.callers(), other.callers()
    by_name: defaultdict[str, list[_Key]] = defaultdict(list)
    for one in sorted(there.keys() - other.with_edit(_EDITED) - other.uncounted()):
        by_name[_last_name(one)].append(one)
    found: dict[_Key, _Key] = {}
    for key in sorted(side.with_edit({Edit.NEW, Edit.GONE}) & (here.keys() - there.keys())):
        alike = by_name[_last_name(key)]
        for one in alike:
            before = here.get(one, {})
            callers = there[one].keys() | before.keys()
            more = {by: there[one].get(by, 0.0) - before.get(by, 0.0) for by in callers}
            if here[key] == {by: count for by, count in more.items() if count}:
                found[key] = one
                alike.remove(one)
                break
    return found


def _around(key: _Key) -> _Key:
    """The function that a lambda or a generator expression is written in."""
    path, name = key
    while name.endswith(">") and ".<locals>." in name:
        name = name.rpartition(".<locals>.")[0]
    return path, name


def _last_name(key: _Key) -> str:
    """The name of a function without its class; that of a lambda only as a whole."""
    return key[1] if key[1].endswith(">") else key[1].rpartition(".")[2]


@dataclass(slots=True)
class _Share:
    """What one operation takes in a function, and in what it calls that is not edited.

    Attributes:
        calls: of the function itself.
        amounts_below, below: amount and calls of what it calls directly, with all below.
    """

    amount: float = 0.0
    calls: float = 0.0
    amounts_below: defaultdict[_Key, float] = field(default_factory=lambda: defaultdict(float))
    below: defaultdict[_Key, float] = field(default_factory=lambda: defaultdict(float))

    def __add__(self, other: _Share) -> _Share:
        """Add the amounts and calls; those below do not matter together."""
        return _Share(self.amount + other.amount, self.calls + other.calls)


class _CallSide:
    """The calls of one side.

    Args:
        operation: what an operation took when it was not observed.
    """

    def __init__(self, tree: CallTree, operation: float) -> None:
        self.tree = tree
        self.functions = {(one.path, one.name): one for one in tree.functions}
        observed = sum(one.own for one in tree.functions)
        scale = operation / observed if observed else 0.0
        calls = [0] * len(tree.functions)
        for _, function, count in tree.nodes:
            calls[function] += count
        self._per_call = [
            scale * one.own / count if count else 0.0
            for one, count in zip(tree.functions, calls, strict=True)
        ]

    def with_edit(self, edits: Collection[Edit]) -> frozenset[_Key]:
        """The functions with one of these edits."""
        return frozenset(key for key, one in self.functions.items() if one.edit in edits)

    def holders(self) -> frozenset[_Key]:
        """The functions into which an edited one was inlined."""
        return frozenset(key for key, one in self.functions.items() if one.holds)

    def uncounted(self) -> frozenset[_Key]:
        """The functions whose calls are not exact."""
        return frozenset(key for key, one in self.functions.items() if not one.is_counted)

    def calls(self) -> Mapping[_Key, float]:
        """How often one operation calls each function."""
        found: defaultdict[_Key, float] = defaultdict(float)
        for _, number, count in self.tree.nodes:
            function = self.tree.functions[number]
            found[function.path, function.name] += count / self.tree.operations
        return found

    def callers(self) -> Mapping[_Key, Mapping[_Key | None, float]]:
        """How often each function is called by each of the others, in one operation."""
        found: defaultdict[_Key, defaultdict[_Key | None, float]]
        found = defaultdict(lambda: defaultdict(float))
        keys: list[_Key] = []
        for parent, number, count in self.tree.nodes:
            function = self.tree.functions[number]
            keys.append((function.path, function.name))
            by = keys[parent] if parent >= 0 else None
            found[keys[-1]][by] += count / self.tree.operations
        return found

    def shares(self, of: Collection[_Key]) -> Mapping[_Key, _Share]:
        """Attribute each call to the nearest of these functions above it, or to itself.

        A lambda, or the inner part of a generator expression, is a part of the function that it
        is written in, whoever calls it, or of what it is called from.
        What a function of another language calls is called by the function around: `set.add` calls
        `__hash__`, and so does a set comprehension.
        """
        found: defaultdict[_Key, _Share] = defaultdict(_Share)
        # For each node the function that it counts for, and the one right below that.
        owners: list[tuple[_Key | None, _Key | None]] = []
        for parent, number, count in self.tree.nodes:
            function = self.tree.functions[number]
            key = function.path, function.name
            owner, below = owners[parent] if parent >= 0 else (None, None)
            calls, amount = count / self.tree.operations, count * self._per_call[number]
            around = _around(key)
            if around != key and around in of and around != owner:
                owner, below = around, key  # which does not call it
            is_part = owner is not None and function.name.endswith(">")
            if below is not None and not below[0] and function.path:
                below = None
            if key in of and not is_part:
                if owner is not None:
                    found[owner].below[below or key] += 0.0 if below else calls
                owner, below = key, None
                found[owner].calls += calls
            elif owner is not None:
                if below is None:
                    found[owner].below[key] += calls
                found[owner].amounts_below[below or key] += amount
                below = below if is_part else below or key
            if owner is not None:
                found[owner].amount += amount
            owners.append((owner, below))
        return found


def _causes(
    base: _CallSide,
    head: _CallSide,
    owners: Collection[_Key],
    uncounted: frozenset[_Key],
    replaced: Mapping[_Key, _Key],
    *,
    by_amount: bool,
) -> Iterator[Cause]:
    replaced = {key: one for key, one in replaced.items() if key in owners}
    others = frozenset(replaced.values())
    before, after = base.shares({*owners, *others}), head.shares({*owners, *others})
    for key in (before.keys() | after.keys()) - others:
        was, now = before.get(key, _Share()), after.get(key, _Share())
        instead_of = replaced.get(key, ("", ""))
        if key in replaced:
            was += before.get(instead_of, _Share())
            now += after.get(instead_of, _Share())
        function = head.functions.get(key) or base.functions[key]
        callee, calls, amount = _evidence(key, was, now, uncounted, by_amount=by_amount)
        yield Cause(
            *_named(function),
            callee=_full_name(head.functions.get(callee) or base.functions.get(callee)),
            calls=calls,
            amount=amount,
            is_counted=key not in uncounted,
            holds=function.holds,
            instead_of=_full_name(head.functions.get(instead_of) or base.functions.get(instead_of)),
        )


def _named(function: ObservedFunction) -> tuple[str, str, bool, Edit]:
    """Name, place and kind of a function, as a verdict has them."""
    location = f"{function.path}:{function.line}" if function.path else ""
    return _full_name(function), location, function.is_own, function.edit


def _full_name(function: ObservedFunction | None) -> str:
    """The name of a function, after its module if it is not the project's."""
    if function is None:
        return ""
    if function.is_own or not function.path.endswith(".py"):
        return function.name
    module = function.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{module}.{function.name}"


def _evidence(
    key: _Key, was: _Share, now: _Share, uncounted: frozenset[_Key], *, by_amount: bool
) -> tuple[_Key, tuple[float, float] | None, float]:
    """What carries a change: more or fewer calls of the function, or else of what it calls.

    They carry it if most of it is their time, and if they are more where it takes more.

    Args:
        by_amount: a call that takes little is no evidence. Most calls allocate nothing, and none
            takes no time.

    Returns:
        Of the function that it calls, path and name, or nothing; the calls before and after; and
        the amount that is due to them.
    """
    change = now.amount - was.amount
    calls = was.calls, now.calls
    if was.calls != now.calls and key not in uncounted:
        more = now if now.calls > was.calls else was
        per_call = more.amount / more.calls
        if change and (now.calls - was.calls) * per_call / change > _MOST_OF_IT:
            return ("", ""), calls, change
    called = was.below.keys() | now.below.keys()
    further = {one: now.amounts_below[one] - was.amounts_below[one] for one in called}
    carrying = [one for one in called if _carries(further[one], change)]
    differ = [
        one for one in carrying if one not in uncounted and _differs(one, was, now) * change > 0
    ]
    if not by_amount:
        # What a comprehension calls says more than that it runs.
        differ = [one for one in differ if not one[1].endswith(">")] or differ
    if differ:
        most = max(differ, key=lambda one: (abs(further[one]), abs(_differs(one, was, now)), one))
        return most, (was.below[most], now.below[most]), further[most]
    if carrying and (by_amount or key in uncounted):
        return max(carrying, key=lambda one: (abs(further[one]), one)), None, change
    return ("", ""), None, change


def _carries(amount: float, change: float) -> bool:
    """Whether an amount is most of a change, and little of it is taken back."""
    return change != 0 and _MOST_OF_IT < amount / change <= _TAKEN_BACK


def _differs(one: _Key, was: _Share, now: _Share) -> float:
    """How much more often a function is called."""
    return now.below[one] - was.below[one]
