"""What stored runs said of a head before anything was measured in turn with the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.model.result import Run
    from benchgate.model.verdict import Skipped


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """An earlier run.

    Attributes:
        name: by which messages call it.
        why: what makes it the base, in words.
    """

    name: str
    why: str
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """A head that was measured alone, and what it was held against.

    Attributes:
        head: the run of it alone; None where stored runs could not have settled anything.
        earlier: in order of preference; none where nothing was held against them.
        skipped: what could not be used.
        warnings: what a reader of the verdict must know of them.
        is_first: whether there is nothing to compare with yet, and nobody is to blame.
    """

    head: Run | None
    earlier: tuple[StoredRun, ...]
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    is_first: bool = False
