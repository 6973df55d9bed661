"""Where the time of a session went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from benchgate.json_object import JsonObject, NotNegative


class Phase(StrEnum):
    """What a session does; each value is what reports call it.

    `START_WORKERS` is a part of the rounds, done in several lanes at the same time: start a pair of
    processes, and import a file in both. All others come one after the other.
    """

    START = "start benchgate"
    CHECK_OUT = "check out"
    BUILD = "build"
    FIND = "find benchmarks"
    FIRST_ROUND = "first round"
    LATER_ROUNDS = "later rounds"
    COUNT = "count instructions"
    DECIDE = "decide"
    SAVE = "save the result"
    REPORT = "report"
    START_WORKERS = "start workers"


OF_THE_BUDGET: Final = frozenset(
    {Phase.FIRST_ROUND, Phase.LATER_ROUNDS, Phase.COUNT, Phase.DECIDE, Phase.SAVE}
)
"""The phases that the budget limits."""


@dataclass(frozen=True, slots=True)
class PhaseTime(JsonObject):
    """How long a phase took.

    Attributes:
        times: how often it was done.
        seconds: wall time of all of them together.
    """

    phase: Phase
    times: Annotated[int, Field(ge=1)]
    seconds: NotNegative
