"""By what a result was judged, so that it can be judged so again."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchgate.json_object import JsonObject, Text
from benchgate.model.waiver import Acceptance


@dataclass(frozen=True, slots=True)
class Document(JsonObject):
    """A configuration as it was written.

    Attributes:
        name: what messages call it; one that ends in pyproject.toml is read as such.
        text: all of it.
    """

    name: Text
    text: Text


@dataclass(frozen=True, slots=True)
class Options(JsonObject):
    """What the command line said instead of a configuration; see `Config.with_overrides`."""

    rule: Text | None = None
    alpha: float | None = None
    margin: Text | None = None
    fail_on: tuple[Text, ...] = ()
    budget: Text | None = None
    rounds: int | None = None
    until_decided: bool = False
    seed: int | None = None
    baseline: Text | None = None


@dataclass(frozen=True, slots=True)
class Policy(JsonObject):
    """By what a result was judged, so that it can be judged so again.

    Attributes:
        head: the configuration of the head; None if it has none.
        base: that of the base, if it decides.
        accepted: what made the head's own waivers count, if they did.
    """

    head: Document | None
    base: Document | None
    options: Options = field(default_factory=Options)
    accepted: Acceptance | None = None
