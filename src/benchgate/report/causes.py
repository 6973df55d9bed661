"""Words where the cause of a change is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.calls import Edit
from benchgate.model.metrics import INSTRUCTIONS, TIME, observed_as
from benchgate.model.policy import CHANGED, Outcome
from benchgate.report.words import from_to
from benchgate.units import counted, format_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.row import CalledFunction, Cause, Row


_NAME_LIMIT: Final = 100
# Shares are estimates: from here on, one is more than the whole change.
_MORE: Final = 1.05
_EDITS: Final = {
    Edit.NONE: "",
    Edit.EDITED: "edited",
    Edit.NEW: "new",
    Edit.GONE: "gone",
    Edit.BESIDE: "in an edited file",
}
_HOLDS: Final = "holds the edited "
_SAME_CALLS: Final = (
    "both sides make the same calls equally often, and no edited function that benchgate observes "
    "{takes} more {amount}: look at data, dependencies and the interpreter, and at what benchgate "
    "does not observe: C extensions, and threads that ran before"
)
_EQUAL: Final = "both sides make the same calls equally often"
_DIFFERENT: Final = "some functions are called more or less often"
_BLOCKS: Final = "blocks"
_NOT_EDITED: Final = "no function explains the change"


@dataclass(frozen=True, slots=True)
class CauseView:
    """Where to look for the cause of a change, as strings.

    Attributes:
        function: the name of the function; "" if no function is the cause.
        edit: how its text differs, or that of what it holds, in words; "" if it does not.
        location: its place, `path:line`; "" if it is not in the tree of the head.
        what: what is said of the function, and of which benchmarks.

    In `edit` and `what`, `...` is code.
    """

    function: str
    edit: str
    location: str
    what: str

    @property
    def sentence(self) -> str:
        """All in one line, in which `...` is code."""
        about = [one for one in (self.edit, self.location) if one]
        # The location is that of the function, not that of the one that it holds.
        about = about[::-1] if self.edit.startswith(_HOLDS) else about
        named = f"`{self.function}`" if self.function else ""
        return " ".join(filter(None, (named, f"({', '.join(about)})" if about else "", self.what)))


def view_causes(rows: Sequence[Row]) -> tuple[CauseView, ...]:
    """Where to look for what got slower, the worst first, or else for what got faster.

    Args:
        rows: worst first.
    """
    explained = [row for row in rows if row.explanation]
    worse = [row for row in explained if row.outcome is not Outcome.IMPROVED]
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in worse or explained:
        alike.setdefault(_key(row), []).append(row)
    is_only = len({row.benchmark for row in explained}) == 1
    return tuple(_view(some, is_only=is_only) for some in alike.values())


def view_cause(row: Row) -> CauseView | None:
    """Where to look for what changed a row; None if that was not observed."""
    return _view([row], is_only=True) if row.explanation else None


def sentences(row: Row) -> tuple[str, ...]:
    """What is said of each cause, the most important first; in it, `...` is code."""
    explanation = row.explanation
    causes = explanation.causes if explanation else ()
    if explanation is None or not causes:
        return (_view([row], is_only=True).sentence,) if explanation else ()
    each = (replace(row, explanation=replace(explanation, causes=(one,))) for one in causes)
    return tuple(_view([one], is_only=True).sentence for one in each)


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A function that a changed benchmark calls, as strings.

    Attributes:
        calls, amount: "1 → 20": of base and head, in one iteration; once if they are equal.
        place: `path:line`.
    """

    function: str
    edit: str
    calls: str
    amount: str
    place: str


def function_titles(row: Row) -> tuple[str, ...]:
    """The titles of the columns of `FunctionView`."""
    return "function", "code", "calls", _amount(row), "place"


def view_functions(row: Row) -> tuple[FunctionView, ...]:
    """The functions whose calls or amounts differ most; empty if that was not observed."""
    return tuple(
        FunctionView(
            _plain(one.function),
            _edit(one).replace("`", ""),
            from_to(*map(_count, one.calls)) if one.calls else "",
            _amounts(one.amounts, row),
            plain_line(one.location),
        )
        for one in (row.explanation.functions if row.explanation else ())
    )


def _amounts(both: tuple[float, float], row: Row) -> str:
    if not any(both):
        return ""
    values = both if row.unit == TIME.unit else [float(round(one)) for one in both]
    return from_to(*format_values(values, _plain(row.unit), row.display_unit))


def _key(row: Row) -> tuple[str, ...]:
    causes = row.explanation.causes if row.explanation else ()
    first = causes[0] if causes else None
    return (first.function, first.location, first.callee) if first else (str(row.explanation),)


def _view(rows: Sequence[Row], *, is_only: bool) -> CauseView:
    first = rows[0]
    others = len({row.benchmark for row in rows}) - 1
    more = f" and {counted(others, 'other benchmark')}" if others else ""
    named = f"`{_plain(first.benchmark)}`{more}"
    explanation = first.explanation
    if explanation is None or not explanation.causes:
        same = explanation is not None and explanation.same_calls
        if first.outcome not in CHANGED:
            return CauseView("", "", "", f"{_EQUAL if same else _DIFFERENT} ({named})")
        if explanation and explanation.unobserved:
            return CauseView("", "", "", f"{_native(explanation.unobserved)} ({named})")
        alike = _SAME_CALLS.format(takes=_takes(first), amount=_amount(first))
        return CauseView("", "", "", f"{alike if same else _NOT_EDITED} ({named})")
    cause = explanation.causes[0]
    is_there = cause.is_own and cause.edit is not Edit.GONE
    place = plain_line(cause.location) if is_there else ""
    # What is said of the function is that of the first row.
    also = f"; the same function in {counted(others, 'other benchmark')}" if others else ""
    what = does(cause, first) + ("" if is_only else f" (`{_plain(first.benchmark)}`{also})")
    return CauseView(_plain(cause.function), _edit(cause), place, what)


def _native(files: Sequence[str]) -> str:
    """That these files were edited, and what that means."""
    more = len(files) - 1
    others = f" and {counted(more, 'other file')} were" if more else " was"
    return (
        f"`{_plain(files[0])}`{others} edited, and benchgate does not observe native code; "
        "no function that it observes explains the change"
    )


def _edit(one: Cause | CalledFunction) -> str:
    """How the text of a function differs, in words in which `...` is code."""
    return f"{_HOLDS}`{_plain(one.holds)}`" if one.holds else _EDITS[one.edit]


def does(cause: Cause, row: Row) -> str:
    """What a function does, and how much that explains of the change of a row."""
    total = (row.head or 0.0) - (row.base or 0.0)
    ratio = cause.amount / total if total else 0.0
    of_what = "" if row.metric == TIME.name else f" of {_plain(row.metric)}"
    # The rest is taken back by other functions.
    part = f"{100 * min(ratio, 1.0):.0f} %" if ratio < _MORE else "more than 100 %"
    share = f"{part} of the change{of_what}"
    if cause.calls:
        return f"{_calls(cause, cause.calls)}: {share}"
    if cause.instead_of:
        is_gone = cause.edit is Edit.GONE
        return (
            f"{'is replaced by' if is_gone else 'replaces'} `{_plain(cause.instead_of)}`: {share}"
        )
    most = f", most of it in `{_plain(cause.callee)}`" if cause.callee else ""
    is_same = row.explanation is not None and row.explanation.same_calls
    same = most
    if not most and _takes(row) == "takes" and cause.is_counted:
        same = ", with the same observed calls" if is_same else ", with other calls"
    less = "less" if row.unit else "fewer"
    return f"{_takes(row)} {'more' if total > 0 else less} {_amount(row)}{same}: {share}"


def _takes(row: Row) -> str:
    return "takes" if observed_as(row.metric, row.unit) == TIME.name else "allocates"


def _amount(row: Row) -> str:
    """What a row of times, instructions or allocations counts, in a word."""
    counted_as = row.metric if row.metric == INSTRUCTIONS.name else _BLOCKS
    return {"s": "time", "B": "memory"}.get(row.unit, counted_as)


def _calls(cause: Cause, calls: tuple[float, float]) -> str:
    before, after = calls
    callee = f"`{_plain(cause.callee)}`"
    if not after:
        was = f"({_times(before)} before)"
        return f"no longer calls {callee} {was}" if cause.callee else f"no longer runs {was}"
    now = f"{f'now calls {callee}' if cause.callee else 'runs'} {_times(after)}"
    return f"{now} instead of {_number(before)}" if before else now


def _count(count: float) -> str:
    return f"{count:,.4g}" if count < 1000 else f"{count:,.0f}"


def _times(count: float) -> str:
    """How often something is called: "once per iteration", "20 times per iteration"."""
    return f"{_number(count)} per iteration"


def _number(count: float) -> str:
    if count == 1:
        return "once"
    return f"{count:.3g} times" if count < 1000 else f"{count:,.0f} times"


def _plain(text: str) -> str:
    return plain_line(text, _NAME_LIMIT).replace("`", "'")
