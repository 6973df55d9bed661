"""One result file: both arms as they were measured in turn, and facts about the measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Self

from pydantic import FailFast, Field, model_validator

from benchgate.json_object import JsonObject, Name, NotNegative, Text, misplaced
from benchgate.model.policy import Policy
from benchgate.model.run import Run
from benchgate.model.screening import Screening

MAX_SHARDS = 1000
"""Most shards of a suite: each gets a share of alpha, which must stay above zero."""


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
