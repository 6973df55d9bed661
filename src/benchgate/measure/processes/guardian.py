"""Ends all measured processes when benchgate ends, even if SIGKILL ends benchgate."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

from benchgate.errors import UsageError
from benchgate.measure.processes import _guardian
from benchgate.measure.processes.budget import Budget
from benchgate.process import ProcessTree, Streams

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import IO


_CLOSE_TIMEOUT_S = _guardian.PATIENCE_S + 3.5


def helper_environment() -> dict[str, str]:
    """The environment of benchgate's own helper processes.

    These processes end by themselves when benchgate ends. The environment leaves out the token of a
    surrounding session, so that its guardian gives them the time that they need to clean up.
    """
    return {name: value for name, value in os.environ.items() if name != _guardian.SESSION_VARIABLE}


def require_processes(root: Path = Path("/proc")) -> None:
    """Refuse a Linux whose /proc does not show the processes."""
    if sys.platform == "linux" and not (root / "self").exists():
        raise UsageError(
            f"{root} is empty, so benchgate cannot see the processes that benchmarks start",
            hint="Mount it: mount -t proc proc /proc",
        )


def start_helper(
    program: ModuleType, *arguments: str, stdout: int, pass_fds: Sequence[int] = ()
) -> ProcessTree:
    """Start one of benchgate's own small programs, with a pipe as its standard input."""
    return ProcessTree(
        [sys.executable, "-I", "-S", str(program.__file__), *arguments],
        cwd="/",
        env=helper_environment(),
        streams=Streams(subprocess.PIPE, stdout, pass_fds=pass_fds),
    )


class Guardian:
    """A small process that waits until this one ends, and then kills what is left over.

    It kills every process group that is watched and not released. On Linux it also kills every
    process that carries the session's token in its environment, whatever its group.

    Attributes:
        budget: bounds how long the session's processes may take; unlimited at first.
    """

    def __init__(self, token: str, process: ProcessTree, table: IO[bytes]) -> None:
        self._token = token
        self._process = process
        self._table = table
        self._slots: list[int] = []
        self._writing = Lock()
        self.budget = Budget()

    @classmethod
    def start(cls, token: str | None = None) -> Self:
        """Start the guardian's process.

        Args:
            token: names the session; random if None.

        Raises:
            UsageError: nobody could see what processes a benchmark leaves behind.
        """
        require_processes()
        token = token or secrets.token_hex(16)
        table = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
        process = start_helper(
            _guardian,
            str(table.fileno()),
            token,
            stdout=subprocess.DEVNULL,
            pass_fds=(table.fileno(),),
        )
        return cls(token, process, table)

    @property
    def pid(self) -> int:
        """The process id of the guardian itself."""
        return self._process.pid

    @property
    def variables(self) -> dict[str, str]:
        """The variables that every process of the session must have; they never change."""
        return {_guardian.SESSION_VARIABLE: self._token}

    def watch(self, pgid: int) -> None:
        """Let the guardian kill this process group at the end, unless it is released before."""
        with self._writing:
            if 0 not in self._slots:
                self._slots.append(0)
            self._write(self._slots.index(0), pgid)

    def release(self, pgid: int) -> None:
        """Forget a process group that has ended: its number may soon belong to another."""
        with self._writing:
            if pgid in self._slots:
                self._write(self._slots.index(pgid), 0)

    def close(self) -> None:
        """Let the guardian kill what is left, and wait for its end."""
        if self._table.closed:
            return
        self._process.end(_CLOSE_TIMEOUT_S)
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, slot: int, pgid: int) -> None:
        self._slots[slot] = pgid
        os.pwrite(self._table.fileno(), _guardian.SLOT.pack(pgid), slot * _guardian.SLOT.size)
