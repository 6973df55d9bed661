"""A format of another tool, as a fuzzer sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.formats.fuzz.command_line import check_command_line
from tests.formats.fuzz.inputs import CRASHERS, inputs_of
from tests.formats.fuzz.sanity import check_outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.formats.contents import ForeignFile

_WHOLE_EVERY = 10


@dataclass(frozen=True, slots=True)
class FormatTarget:
    """Reads files with a format; some of them also through the command line.

    Attributes:
        commands_every: every n-th input goes through the command line; 0 for none.
    """

    name: str
    commands_every: int = 0

    @property
    def finds(self) -> Path:
        """The folder of the files that once were too much for it."""
        return CRASHERS / self.name

    def inputs(self, seed: int) -> Iterator[ForeignFile]:
        """Damage genuine files, without end."""
        return inputs_of(self.name, seed)

    def check(self, source: ForeignFile, index: int) -> bool:
        """Read a file; give whether it was accepted."""
        was_read = check_outcome(source, self.name, whole=index % _WHOLE_EVERY == 0)
        if self.commands_every and index % self.commands_every == 0:
            check_command_line(source, self.name)
        return was_read
