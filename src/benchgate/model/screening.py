"""What stored runs said of a head before anything was measured in turn with the base."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.model.result import Run
    from benchgate.model.verdict import Acceptance, Skipped


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


@dataclass(frozen=True, slots=True)
class Document:
    """A configuration as it was written.

    Attributes:
        name: what messages call it; one that ends in pyproject.toml is read as such.
        text: all of it.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said instead of a configuration; see `Config.with_overrides`."""

    rule: str | None = None
    alpha: float | None = None
    margin: str | None = None
    fail_on: tuple[str, ...] = ()
    budget: str | None = None
    rounds: int | None = None
    until_decided: bool = False
    seed: int | None = None
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """By what a result was judged, so that it can be judged so again.

    Attributes:
        head: the configuration of the head; None where it has none.
        base: that of the base, where it decides.
        accepted: what made the head's own waivers count, where they did.
    """

    head: Document | None
    base: Document | None
    options: Options = field(default_factory=Options)
    accepted: Acceptance | None = None
