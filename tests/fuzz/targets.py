"""All readers that are tried with damaged inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.formats.fuzz.target import FormatTarget
from tests.fuzz.own_readers import OWN_READERS

from benchgate.formats import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fuzz.target import Target


def targets(commands_every: int = 0) -> Mapping[str, Target]:
    """Give every reader by its name.

    Args:
        commands_every: every n-th file of another tool goes through the command line; 0 for none.
    """
    return {**OWN_READERS, **{name: FormatTarget(name, commands_every) for name in NAMES}}
