"""The logs of services, and the copies that are kept for the user."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from benchgate.errors import UsageError
from benchgate.files import state_folder, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


MOST_BYTES: Final = 16 << 20
"""When the log of a service is larger, only its end is kept."""

MOST_KEPT: Final = 50
"""Logs that are kept for the user."""

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
        return self._end(MOST_BYTES).decode(errors="replace")

    def tail(self, redact: Callable[[str], str] = str) -> str:
        """The last lines, the long ones cut.

        Args:
            redact: removes secrets, before they might be cut and not be recognized.
        """
        text = redact(self._end(_TAIL_BYTES).decode(errors="replace"))
        lines = text.strip().splitlines()[-_TAIL_LINES:]
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


def keep_log(
    log: ServiceLog, name: str, environ: Mapping[str, str], redact: Callable[[str], str]
) -> Path | None:
    """Copy a log to the user's folder, in which only the newest stay.

    Args:
        environ: that of benchgate, which tells where the folder is.
        redact: removes secrets.

    Returns:
        Where the copy is; None if it is impossible.
    """
    with suppress(OSError, UsageError):
        folder = state_folder(environ) / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{time.time_ns() // 1_000_000}-{name}.log"
        write_atomic(place, redact(log.text()).encode())
        in_order = sorted(folder.glob("*.log"))
        for old in in_order[:-MOST_KEPT]:
            old.unlink(missing_ok=True)
        return place
    return None
