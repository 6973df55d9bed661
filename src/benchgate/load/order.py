"""What benchgate asks the load generator to do, and what it answers: JSON in two files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from benchgate.json_object import Count, JsonObject, Name, Text
from benchgate.load.turns import TurnOrder
from benchgate.model.load import LoadLaunch

INTERRUPTED: Final = "interrupted before the load had ended"
"""The error of a launch that was told to stop, or whose counterpart in the other arm has ended."""


@dataclass(frozen=True, slots=True)
class LoadOrder(JsonObject):
    """One launch. It has no secret: the generator reads the scenario file itself.

    Attributes:
        scenario: absolute path of the scenario file.
        shown: what messages call that file.
        target: name of the target to load.
        folder: absolute path of the arm's folder of the configuration.
        scratch: absolute path of an empty folder.
        placeholders: what {root}, {env}, {sha}, {port}, {NAME_port} and {scratch} stand for.
        round: from 0; parameters are drawn from seed + round, the same in both arms.
        introspect: whether to ask the target for its version and settings.
        brief: only try whether everything works: no warm-up, and at most a second of load.
        turns: how the launch takes turns with that of the other arm; None if it runs alone.
    """

    scenario: Text
    shown: Text
    target: Name
    folder: Text
    scratch: Text
    placeholders: dict[Text, Text]
    round: Count
    introspect: bool = False
    brief: bool = False
    turns: TurnOrder | None = None


@dataclass(frozen=True, slots=True)
class LoadReply(JsonObject):
    """How the launch went.

    Attributes:
        error: why it failed as a whole, one line and then details; None if it did not.
        steps: what each step did, by its name.
        notes: what a reader of the numbers must know, such as a teardown that failed.
        server: version and settings of the target.
    """

    error: Text | None
    steps: dict[Name, LoadLaunch] = field(default_factory=dict)
    notes: tuple[Text, ...] = ()
    server: dict[Text, Text] = field(default_factory=dict)
