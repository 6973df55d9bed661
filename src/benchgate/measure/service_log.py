"""What a service prints, in a file that does not grow without end."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES: Final = 16 << 20
"""When the log of a service is larger, only its end is kept."""

_KEPT_BYTES = 1 << 20
_TAIL_BYTES = 8192
_TAIL_LINES = 15
_TAIL_CHARACTERS = 200
_CUT = b"[benchgate removed what came before]\n"


@dataclass(frozen=True, slots=True)
class ServiceLog:
    """The standard output and error of one service in one launch."""

    path: Path

    def open(self) -> BinaryIO:
        """Open it for a process that appends to it.

        Raises:
            OSError: there is no room for it.
        """
        return self.path.open("ab")

    def text(self) -> str:
        """All of it."""
        return self._end(MOST_BYTES).decode(errors="replace")

    def tail(self) -> str:
        """The last lines, the long ones cut."""
        lines = self._end(_TAIL_BYTES).decode(errors="replace").strip().splitlines()[-_TAIL_LINES:]
        return "\n".join(line[:_TAIL_CHARACTERS] for line in lines)

    def trim(self) -> None:
        """Remove its beginning if it is too large; a line that is written meanwhile may be lost."""
        with suppress(OSError):
            if self.path.stat().st_size > MOST_BYTES:
                end = self._end(_KEPT_BYTES)
                os.truncate(self.path, 0)
                with self.path.open("ab") as file:
                    file.write(_CUT + end)

    def _end(self, size_bytes: int) -> bytes:
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size_bytes))
            return file.read(size_bytes)
        return b""


class KeptLogs:
    """A folder in the system's folder for temporary files, which stays there for the user.

    Args:
        redact: removes secrets.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self.redact = redact
        self._folder: Path | None = None

    def keep(self, log: ServiceLog, name: str) -> Path | None:
        """Copy a log; return where to, or None if there is no room for it."""
        with suppress(OSError):
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="benchgate-logs-"))
            place = self._folder / name
            place.write_text(self.redact(log.text()), encoding="utf-8")
            return place
        return None

    def discard(self) -> None:
        """Remove the folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
