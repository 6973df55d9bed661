"""Ends the processes that a killed benchgate left behind; runs in a small process of its own.

Started as `python -I -S _guardian.py TABLE TOKEN`. Standard input is a pipe that nobody
writes to: when it ends, benchgate has ended. TABLE is the descriptor of a file of 8-byte
process group numbers, 0 for a free place. The guardian reads it only then. So it does not run
during the measurement, and disturbs nothing. Standard library only.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from struct import Struct

SESSION_VARIABLE = "BENCHGATE_SESSION"
SLOT = Struct("=q")
PATIENCE_S = 1.5
PAUSE_S = 0.05


def kill_bearers(token: str) -> int:
    """Kill every process whose initial environment carries the session's token, once found.

    Returns:
        The number of these processes; 0 if /proc is absent.
    """
    variable = f"{SESSION_VARIABLE}={token}".encode()
    found = 0
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with suppress(OSError):  # it ended meanwhile, or belongs to another user
                if variable in (entry / "environ").read_bytes().split(b"\0"):
                    found += 1
                    os.kill(int(entry.name), signal.SIGKILL)
    return found


def end(groups: list[int], token: str) -> None:
    """Kill the groups and the processes with the token, until two scans in a row find none.

    Two scans, because the environment of a process that is just starting reads as empty. A
    process that cannot die (in an uninterruptible call), or that forks and leaves its group
    faster than /proc can be read, is given up after `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        for group in groups:
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        quiet = 0 if kill_bearers(token) else quiet + 1
        time.sleep(PAUSE_S)


def read_groups(table: int) -> list[int]:
    data = os.pread(table, os.fstat(table).st_size, 0)
    whole = len(data) - len(data) % SLOT.size
    return [group for (group,) in SLOT.iter_unpack(data[:whole]) if group > 0]


def main() -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    end(read_groups(int(sys.argv[1])), sys.argv[2])


if __name__ == "__main__":
    main()
