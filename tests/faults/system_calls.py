"""Lets one system call of a program fail, with strace."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.done import Done

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ERRORS: Mapping[str, str] = {
    **dict.fromkeys(("write", "pwrite64", "mkdir", "symlink", "link", "rename"), "ENOSPC"),
    **dict.fromkeys(("fsync", "ftruncate", "getdents64"), "EIO"),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir", "chmod", "fchmod"), "EACCES"),
    **dict.fromkeys(("pipe2", "socket", "socketpair"), "EMFILE"),
    **dict.fromkeys(("vfork", "clone3", "fork"), "EAGAIN"),
    "openat": "EMFILE",
    "flock": "ENOLCK",
    "sched_setaffinity": "EPERM",
}
"""What each system call fails with."""

_LONGEST_S = 180.0
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<value>-?\d+)(?P<rest>.*)")
_DESCRIPTOR = re.compile(r"\[?[\w-]+<(?P<path>[^<>]*)>")
_NAMED = re.compile(r'"([^"]*)"')
_CONTENT = frozenset({"write", "pwrite64"})
_WITHOUT_PATH = frozenset({"pipe2", "socket", "socketpair", "vfork", "fork", "clone3"})
# What differs from run to run: numbers of processes and pipes, and names of temporary folders.
_CHANCE = re.compile(r"(?<=benchgate-)\w{8}|\b[0-9a-f]{8,}\b|\d+")
_MODULE = re.compile(r"\.(py|pyc|so)[.\d]*$")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call of a program.

    Attributes:
        number: how many calls of this name were made until then, with this one.
        about: the path that it is about, without what differs from run to run.
        is_injected: whether strace let it fail.
    """

    name: str
    number: int
    about: str
    is_injected: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.number}, {self.about}"


def python_module(*arguments: str | Path) -> tuple[str, ...]:
    """Give the command that runs `benchgate`."""
    return (sys.executable, "-m", "benchgate", *map(str, arguments))


def run(command: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Done:
    """Run a program to its end."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def calls_of(
    command: Sequence[str], cwd: Path, environ: Mapping[str, str], trace: Path
) -> tuple[Done, list[Call]]:
    """Run a program; also give the calls that can fail.

    They begin with the first on benchgate.toml or on a file beside the working folder. Imports,
    files that are not there, and the calls of other threads, which come in any order, are left out.
    """
    every = f"trace={','.join(ERRORS)}"
    done = run(("strace", "-y", "-o", str(trace), "-e", every, *command), cwd, environ)
    return done, _parsed(trace.read_text(encoding="utf-8", errors="replace"), str(cwd.parent))


def run_with_fault(
    command: Sequence[str], cwd: Path, environ: Mapping[str, str], trace: Path, call: Call
) -> tuple[Done, Call | None, Call | None]:
    """Run a program and let the call of this name and number fail.

    Returns:
        What it said, the call that failed, and the call on the same path that can be tried if that
        was another one: how often a program looks into /proc depends on the other processes.
    """
    fault = f"inject={call.name}:error={ERRORS[call.name]}:when={call.number}"
    options = ("-y", "-o", str(trace), "-e", f"trace={call.name}", "-e", fault)
    done = run(("strace", *options, *command), cwd, environ)
    text = trace.read_text(encoding="utf-8", errors="replace")
    calls = _parsed(text, str(cwd.parent), begun=True)
    failed = next((each for each in calls if each.is_injected), None)
    there = (each for each in calls if each.about == call.about)
    return done, failed, next(there, None)


def once_each(calls: Sequence[Call]) -> list[Call]:
    """Give the first call of each kind on each path."""
    return list({(each.name, each.about): each for each in reversed(calls)}.values())[::-1]


def _parsed(trace: str, own: str, *, begun: bool = False) -> list[Call]:
    calls = []
    counts = dict.fromkeys(ERRORS, 0)
    has_begun = begun
    for line in trace.splitlines():
        name = line.partition("(")[0]
        if name not in counts:
            continue
        counts[name] += 1
        found = _CALL.match(line)
        path = _path(found["arguments"], name) if found else ""
        has_begun = has_begun or path.startswith("../") or path.endswith("/benchgate.toml")
        is_injected = line.endswith("(INJECTED)")
        could_fail = found is not None and int(found["value"]) >= 0 and not _is_import(path)
        if has_begun and (is_injected or could_fail):
            about = "" if name in _WITHOUT_PATH else _CHANCE.sub("#", path.replace(own, ""))
            calls.append(Call(name, counts[name], about, is_injected))
    return calls


def _path(arguments: str, name: str) -> str:
    """Name what a call is about: a descriptor's file, or the path that is named last."""
    descriptor = _DESCRIPTOR.match(arguments)
    named = [] if name in _CONTENT else _NAMED.findall(arguments)
    if not named or arguments.startswith("AT_FDCWD") or not descriptor:
        return named[-1] if named else descriptor["path"] if descriptor else ""
    return f"{descriptor['path']}/{named[-1]}"


def _is_import(path: str) -> bool:
    folders = (sys.prefix, sys.base_prefix)
    return bool(_MODULE.search(path)) or path.startswith(folders) or "/src/benchgate" in path
