"""One result file: both arms as they were measured in turn, and the stored runs compared before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.json_object import JsonObject, Name, NotNegative, Text, misplaced
from benchgate.model.policy import Policy
from benchgate.model.row import MOST_RECENT
from benchgate.model.run import Run
from benchgate.model.timing import Phase, PhaseTime

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SHARDS = 1000
"""Most shards of a suite: each gets a share of alpha, which must stay above zero."""

MOST_STORED: Final = 100
EXAMPLES: Final = 3
MOST_REASONS: Final = 20


@dataclass(frozen=True, slots=True)
class Shard(JsonObject):
    """One shard of a suite that is measured in several jobs.

    Attributes:
        number: from 1.
        count: how many there are.
        dealt: all ids of the suite, including those that other shards measure.
    """

    number: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    dealt: Annotated[tuple[Name, ...], FailFast()] = ()

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.count:
            raise misplaced(f"there is no shard {self.number} of {self.count}", "number")
        return self


@dataclass(frozen=True, slots=True)
class SkippedResult(JsonObject):
    """A stored result that was not used.

    Attributes:
        what: its file, or its artifact and the run that left it.
        reason: in plain words, to follow "because".
    """

    what: Text
    reason: Text


def by_reason(skipped: Iterable[SkippedResult]) -> tuple[SkippedResult, ...]:
    """One entry per result, or one per reason if more than `EXAMPLES` results share it.

    If there are many reasons, the last ones are only counted.
    """
    found: dict[str, list[str]] = {}
    for one in skipped:
        found.setdefault(one.reason, []).append(one.what)
    shown: list[SkippedResult] = []
    for reason, names in found.items():
        if len(names) > EXAMPLES:
            examples = ", ".join(names[:EXAMPLES])
            shown.append(
                SkippedResult(f"{len(names)} results", f"{reason}; for example {examples}")
            )
        else:
            shown += [SkippedResult(name, reason) for name in names]
    rest = len(shown) - MOST_REASONS
    if rest <= 0:
        return tuple(shown)
    return (
        *shown[:MOST_REASONS],
        SkippedResult(f"{rest} more", "the JSON verdict has all of them"),
    )


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


@dataclass(frozen=True, slots=True)
class Course(JsonObject):
    """What earlier runs measured for a row; decides nothing.

    Attributes:
        values: see `Row.recent`.
    """

    benchmark: Name
    metric: Text
    statistic: Text
    values: Annotated[tuple[float, ...], Field(max_length=MOST_RECENT)]


@dataclass(frozen=True, slots=True, eq=False)
class Screening(JsonObject):
    """A head that was measured alone, and the stored runs that it was compared with.

    Attributes:
        head: the run of it alone; None if stored runs could not have decided anything.
        earlier: in order of preference; empty if the head was not compared with any.
        skipped: stored results that could not be used.
        warnings: what a reader of the verdict must know about the stored runs.
        is_first: whether there is nothing to compare with yet, and that is not an error.
        recent: what stored runs of this machine measured, if the head was not compared with them.
    """

    head: Run | None
    earlier: Annotated[tuple[StoredRun, ...], FailFast(), Field(max_length=MOST_STORED)]
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[Text, ...] = ()
    is_first: bool = False
    recent: Annotated[tuple[Course, ...], FailFast()] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Result(JsonObject):
    """A result file of benchgate: one run, and the run of the base measured in turn with it.

    Attributes:
        tool: name and version of the program that measured.
        head: the run of the head.
        base: the run of the base; None if the two were not measured in turn.
        duration_s: wall time of building and measuring.
        warnings: about the measurement as a whole.
        shard: which part of the suite this is; None if it is the whole suite.
        shards: the results that were joined, ordered by number: `head` and `base` then hold what
            all of them measured, except for the canary that each had. A file holds the first of
            them, with the others in its `shards`.
        screening: what the comparison with stored runs decided first; `base` is then None if that
            decided everything, or else both arms hold what it did not decide.
        policy: the settings that judged it, so that the decision can be repeated elsewhere.
        phases: where the time went until the result was saved; empty if shards were joined.
    """

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    tool: Text = field(default="benchgate", kw_only=True)
    head: Run
    base: Run | None = None
    duration_s: NotNegative = 0.0
    warnings: tuple[Text, ...] = ()
    shard: Shard | None = None
    shards: Annotated[tuple[Result, ...], FailFast()] = ()
    screening: Screening | None = None
    policy: Policy | None = None
    phases: Annotated[tuple[PhaseTime, ...], Field(max_length=len(Phase))] = ()
