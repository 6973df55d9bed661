"""What a process printed when it crashed or was aborted, without the frames of benchgate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# What faulthandler prints. Each thread has its header, and a line for each of its frames.
_FATAL = re.compile(r"^Fatal Python error: .*\n", re.MULTILINE)
_THREAD = re.compile(r"(Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):")
_FRAME = re.compile(r'  File "(.*)", line \d+ in .*')
_IMPORT_SYSTEM = "<frozen importlib._bootstrap"


def without_own_frames(output: str, own: Path, *, is_asked_for: bool = False) -> str:
    """Remove benchgate's frames from the trace at the end of a process's output.

    Args:
        output: the end of all that the process printed.
        own: the folder whose frames are benchgate's.
        is_asked_for: benchgate sent the signal, so its name tells the user nothing.

    Returns:
        The output as it is if there is no such trace in it.
    """
    fatal = list(_FATAL.finditer(output))
    if not fatal:
        return output
    printed, trace = output[: fatal[-1].start()], output[fatal[-1].end() :]
    threads = [_cut(block, str(own)) for block in _blocks(trace)]
    name = "" if is_asked_for else fatal[-1].group()
    return f"{printed}{name}{''.join(threads)}".rstrip()


# What Go prints if it is aborted: each goroutine in a block, then the registers of the CPU.
_GO_ABORTED = re.compile(r"^SIGABRT: abort\nPC=.*\n", re.MULTILINE)
_GO_ADDRESSES = re.compile(r" fp=0x\w+ sp=0x\w+ pc=0x\w+$", re.MULTILINE)
_GO_OWN = ("goroutine ", "\t", "runtime.", "testing.", "main.main(", "created by ")


def goroutines_of_users(output: str) -> str:
    """Keep those goroutines that run the user's code, at the end of what an aborted Go printed."""
    *printed, trace = _GO_ABORTED.split(output)
    if not printed:
        return output
    blocks = [one for one in trace.strip().split("\n\n") if one.startswith("goroutine ")]
    users = [
        one for one in blocks if any(not line.startswith(_GO_OWN) for line in one.splitlines())
    ]
    return _GO_ADDRESSES.sub("", "".join(printed) + "\n\n".join(users or blocks))


def _blocks(trace: str) -> list[list[str]]:
    """Split a trace at the headers of its threads; drop what belongs to none."""
    blocks: list[list[str]] = []
    for line in trace.splitlines():
        if _THREAD.fullmatch(line):
            blocks.append([line])
        elif blocks and _FRAME.fullmatch(line):
            blocks[-1].append(line)
    return blocks


def _cut(block: list[str], own: str) -> str:
    header, *frames = block
    users = [frame for frame in frames if not _is_own(frame, own)]
    if not users:
        return ""
    which = "Traceback" if header.startswith("Current") else "Another thread"
    return "\n".join([f"{which} (most recent call first):", *users, ""])


def _is_own(frame: str, own: str) -> bool:
    match = _FRAME.fullmatch(frame)
    return match is not None and match[1].startswith((own, _IMPORT_SYSTEM))
