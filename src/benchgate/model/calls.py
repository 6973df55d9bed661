"""The calls that one operation of a benchmark makes, observed outside of every timed launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.json_object import (
    MOST_COUNTED,
    Count,
    JsonObject,
    NotNegative,
    Positive,
    Text,
    misplaced,
)

MOST_NODES: Final = 5_000
"""Most nodes of a tree; what is called deeper counts as its caller."""

NOT_KNOWN: Final = "what it calls is not known: "
"""Begins the note on a benchmark that says why it could not be observed."""


class Edit(StrEnum):
    """How the text of a function differs between base and head.

    `BESIDE`: it does not, but code of its file outside of functions does.
    """

    NONE = ""
    EDITED = "edited"
    NEW = "new"
    GONE = "gone"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class ObservedFunction(JsonObject):
    """A function that ran.

    Attributes:
        path: its file, relative to the tree, or to the folder that it was imported from; "" if it
            is not written in Python.
        line: where it begins, from 1; 0 if unknown.
        name: qualified, "Version.__init__".
        own: what it took itself in all operations that were observed, with functions of other
            languages that it called: seconds, bytes or blocks. Observing takes time, too.
        is_own: whether its file belongs to the tree.
        is_counted: whether its calls are exact. Otherwise they are samples of a profiler; or those
            of a function that waits count again each time that it goes on; or a compiler inlined
            some of them.
        holds: the edited function that a compiler inlined into it, if its own text does not differ.
            `edit` is then `EDITED`, unless that function was observed itself.
    """

    path: Text
    line: Count
    name: Text
    own: NotNegative = 0.0
    is_own: bool = False
    edit: Edit = Edit.NONE
    is_counted: bool = True
    holds: Text = ""


@dataclass(frozen=True, slots=True)
class CallTree(JsonObject):
    """Which functions ran, and where they were called from.

    Attributes:
        operations: how many were observed.
        nodes: for each place that a function is called from: the index of the node that calls it
            (-1: none), which comes earlier; the index of the function; the number of calls.
    """

    operations: Positive
    functions: Annotated[tuple[ObservedFunction, ...], FailFast(), Field(max_length=MOST_NODES)]
    nodes: Annotated[tuple[tuple[int, int, int], ...], FailFast(), Field(max_length=MOST_NODES)] = (
        field(default=())
    )

    @model_validator(mode="after")
    def _leads_to_its_functions(self) -> Self:
        for index, (caller, function, calls) in enumerate(self.nodes):
            if not -1 <= caller < index:
                raise misplaced(f"{caller} is no node before it", "nodes", index, 0)
            if not 0 <= function < len(self.functions):
                raise misplaced(f"there is no function {function}", "nodes", index, 1)
            if not 0 <= calls <= MOST_COUNTED:
                raise misplaced(f"{calls} is no number of calls", "nodes", index, 2)
        return self
