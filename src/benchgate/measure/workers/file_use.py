"""Whether a process reads or writes files: then a disk that is disturbed may explain its times.

Linux counts the bytes that a process, and each child that it has waited for, reads and writes. What
a worker says to benchgate is among them, and a little that runtimes read for each sample.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchgate.measure.workers.worker import Worker

_COUNTED: Final = ("rchar", "wchar", "read_bytes", "write_bytes")
# What a worker may read and write for a sample without a file: its clock, and wake-ups of threads.
_OVERHEAD_BYTES: Final = 256


class FileUse:
    """Watches a worker from construction on."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._before = bytes_of(worker.pid)
        self._said_bytes = worker.said_bytes

    def has_used(self, samples: int) -> bool:
        """Whether the worker has read or written files; also if nobody knows.

        Args:
            samples: that it has taken meanwhile.
        """
        after = bytes_of(self._worker.pid)
        if self._before is None or after is None or not is_counted():
            return True
        said = self._worker.said_bytes - self._said_bytes
        return after - self._before - said > _OVERHEAD_BYTES * max(1, samples)


def bytes_of(pid: int) -> int | None:
    """The bytes that a process has read and written; None if the OS does not tell."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
        counted = dict(line.split(": ") for line in lines)
        return sum(int(counted[each]) for each in _COUNTED)
    except (OSError, ValueError, KeyError):
        return None


@cache
def is_counted() -> bool:
    """Whether this system really counts: some have the file, and only zeros in it."""
    before = bytes_of(os.getpid())
    with tempfile.TemporaryFile() as file:
        file.write(bytes(8192))
        file.flush()
    after = bytes_of(os.getpid())
    return before is not None and after is not None and after - before >= 8192
