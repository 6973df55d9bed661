"""One result file: both arms as they were measured in turn, and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Self

from pydantic import FailFast, Field, model_validator

from benchgate.json_object import JsonObject, Name, NotNegative, Text, misplaced
from benchgate.model.policy import Policy
from benchgate.model.run import Run
from benchgate.model.screening import Screening

MAX_SHARDS = 1000
"""A suite is split into no more parts: each has its share of alpha, which must stay a number."""


@dataclass(frozen=True, slots=True)
class Shard(JsonObject):
    """Which of the parts that a suite was split into.

    Attributes:
        number: from 1.
        count: how many there are.
        dealt: ids of the whole suite, what the other parts measure among them.
    """

    number: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    dealt: Annotated[tuple[Name, ...], FailFast()] = ()

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.count:
            raise misplaced(f"there is no shard {self.number} of {self.count}", "number")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Result(JsonObject):
    """A result file of benchgate: one run, and the base's run measured in turn with it.

    Attributes:
        tool: name and version of what measured it.
        head: the run.
        base: the run of the other arm, when both were measured in turn.
        duration_s: wall time of building and measuring.
        warnings: about the whole of it.
        shard: which part of the suite it is; None if it is all of it.
        shards: the results that it was joined from, in the order of their numbers: `head` and
            `base` then hold what all of them measured, but for the canary that each had. A file
            holds the first of them, with the others in its `shards`.
        screening: what stored runs said first; `base` is then None if they settled all, or
            both arms hold what they did not settle.
        policy: by what it was judged, if that is to be repeated elsewhere.
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
