"""Ends all measured processes when benchgate ends, even if SIGKILL ends benchgate."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

from benchgate.measure import _guardian

if TYPE_CHECKING:
    from typing import IO


_SCRIPT = Path(_guardian.__file__)
_CLOSE_TIMEOUT_S = _guardian.PATIENCE_S + 3.5


def helper_environment() -> dict[str, str]:
    """The environment of benchgate's own helper processes.

    These processes end by themselves when benchgate ends. The environment leaves out the token of a
    surrounding session, so that its guardian gives them the time that they need to clean up.
    """
    return {name: value for name, value in os.environ.items() if name != _guardian.SESSION_VARIABLE}


class Guardian:
    """A small process that waits until this one ends, and then kills what is left over.

    It kills every process group that is watched and not released. On Linux it also kills every
    process that carries the session's token in its environment, whatever its group.
    """

    def __init__(self, token: str, process: subprocess.Popen[bytes], table: IO[bytes]) -> None:
        self._token = token
        self._process = process
        self._table = table
        self._slots: list[int] = []
        self._writing = Lock()

    @classmethod
    def start(cls, token: str | None = None) -> Self:
        """Start the guardian's process.

        Args:
            token: names the session; random if None.
        """
        token = token or secrets.token_hex(16)
        table = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), str(table.fileno()), token],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=helper_environment(),
            pass_fds=(table.fileno(),),
            start_new_session=True,
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
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, slot: int, pgid: int) -> None:
        self._slots[slot] = pgid
        os.pwrite(self._table.fileno(), _guardian.SLOT.pack(pgid), slot * _guardian.SLOT.size)


_COMMAND_CHARACTERS = 100
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Leftover:
    """A process that is still alive; without /proc, nothing more is known than its group."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})" if self.command else f"group {self.pid}"


def left_behind(group: int, variable: str) -> tuple[Leftover, ...]:
    """List the living processes of a group, and those that were started with a variable.

    Args:
        variable: `NAME=value`, in the environment that a process was started with.
    """
    if not (_PROC / "self").exists():
        return (Leftover(group, ""),) if _is_alive(group) else ()
    found = []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError, ValueError):  # it ended meanwhile, or belongs to another user
            # The name of the program, in parentheses, may hold anything.
            state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if state in {"Z", "X"}:
                continue
            environ = (entry / "environ").read_bytes().split(b"\0")
            if int(its_group) == group or variable.encode() in environ:
                words = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                found.append(Leftover(int(entry.name), words.strip()[:_COMMAND_CHARACTERS]))
    return tuple(found)


def kill_all(group: int, leftovers: tuple[Leftover, ...]) -> None:
    """Kill a process group, and processes that left it."""
    kill_group(group, signal.SIGKILL)
    for one in leftovers:
        if one.command:
            with suppress(OSError):
                os.kill(one.pid, signal.SIGKILL)


def kill_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:  # on macOS also if only zombies are left
        return False
    return True
