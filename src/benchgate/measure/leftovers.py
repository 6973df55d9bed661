"""Finds the processes that a program has left behind."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
