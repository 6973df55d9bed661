"""The comparison of a head with stored runs, before anything is measured in turn with the base."""

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
    """An earlier run with which the head was compared.

    Attributes:
        name: what messages call it.
        why: why it serves as the base, in words.
    """

    name: Text
    why: Text
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class Screening(JsonObject):
    """A head that was measured alone, and the stored runs that it was compared with.

    Attributes:
        head: the run of it alone; None if stored runs could not have decided anything.
        earlier: in order of preference; empty if the head was not compared with any.
        skipped: stored results that could not be used.
        warnings: what a reader of the verdict must know about the stored runs.
        is_first: whether there is nothing to compare with yet, and that is not an error.
    """

    head: Run | None
    earlier: Annotated[tuple[StoredRun, ...], FailFast(), Field(max_length=MOST_STORED)]
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[Text, ...] = ()
    is_first: bool = False
