"""Waivers in a configuration, and how a change loosens the gate that judges it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from benchgate.json_object import Day, JsonObject, Text
from benchgate.model.outcome import Outcome


class AcceptanceMethod(StrEnum):
    """How somebody accepted the waivers that a change brings along."""

    REVIEW = "review"
    LABEL = "label"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Acceptance(JsonObject):
    """Why the waivers of a change count although the base does not have them.

    Attributes:
        by: login of the person who accepted them.
    """

    by: Text
    how: AcceptanceMethod


@dataclass(frozen=True, slots=True)
class Waiver(JsonObject):
    """Permission for a benchmark to regress, to be missing, or to do other work than before.

    Attributes:
        outcome: what it permits: regressed, missing or incomparable.
        ceiling: the largest permitted regression, as a fraction; None for other outcomes.
        until: the last day on which it is valid, UTC, ISO 8601.
        accepted: what makes a waiver count that the change itself brings.
    """

    outcome: Outcome
    ceiling: Annotated[float, Field(gt=0)] | None
    until: Day
    reason: Text
    accepted: Acceptance | None = None


@dataclass(frozen=True, slots=True)
class PolicyChange(JsonObject):
    """One way in which the head's configuration is laxer than the base's.

    Attributes:
        key: the key as written in the head, "gate.margin" or "waive[0]".
        about: the benchmarks that the key applies to, ids or globs; "" for all.
        before, after: what the base and the head say, in words.
        place: its file and line in the head, "benchgate.toml:3".
        in_force: whether the head's value was used, because only the head has it; else the base's.
    """

    key: Text
    about: Text
    before: Text
    after: Text
    place: Text
    in_force: bool = False
