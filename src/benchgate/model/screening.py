"""What stored runs said of a head before anything was measured in turn with the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import FailFast, Field

from benchgate.json_object import JsonObject, Text
from benchgate.model.run import Run
from benchgate.model.skipped import SkippedResult

MOST_STORED: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun(JsonObject):
    """An earlier run that the head was held against.

    Attributes:
        name: by which messages call it.
        why: what makes it the base, in words.
    """

    name: Text
    why: Text
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class Screening(JsonObject):
    """A head that was measured alone, and what it was held against.

    Attributes:
        head: the run of it alone; None if stored runs could not have settled anything.
        earlier: in order of preference; none if nothing was held against them.
        skipped: what could not be used.
        warnings: what a reader of the verdict must know of them.
        is_first: whether there is nothing to compare with yet, and nobody is to blame.
    """

    head: Run | None
    earlier: Annotated[tuple[StoredRun, ...], FailFast(), Field(max_length=MOST_STORED)]
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[Text, ...] = ()
    is_first: bool = False
