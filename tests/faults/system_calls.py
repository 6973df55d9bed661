"""Lets one system call of a program fail, with strace."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.done import Done

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
_CHANCE = re.compile(r"(?<=benchgate-)(?:job-)?\w{8}|\b[0-9a-f]{8,}\b|\d+")
_MODULE = re.compile(r"\.(py|pyc|so)[.\d]*$")
_SOURCE = Path(__file__).parents[2] / "src"
_INSIDE = Path(__file__).with_name("inside.py")
# Traces the first process with these words.
_PYTHON = """\
#!/bin/sh
case "$*" in
*{words}*) mkdir {begun} 2>&- && exec {tracing} "$@" ;;
esac
exec {python} "$@"
"""
_ENDED = re.compile(r"^\+\+\+ (exited|killed)", re.MULTILINE)
_END_S = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """A system call of a program.

    Attributes:
        number: how many calls of this name were made until then, with this one.
        about: the path that it is about, without what differs from run to run.
        is_injected: whether strace let it fail.
        is_import: whether Python looked for a module.
    """

    name: str
    number: int
    about: str
    is_injected: bool = False
    is_import: bool = False

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


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of benchgate is traced: by default the main thread.

    Attributes:
        process: words among the arguments of a process that benchgate starts; "" for its own.
        thread: how the name of a thread begins; "" for the main thread.
    """

    process: str = ""
    thread: str = ""

    @property
    def first(self) -> str:
        """What the path of its first call that counts is like, after what Python does first."""
        if self.thread:
            return ""
        return "/benchgate/" if self.process else r"^\.\./|/(benchgate\.toml|event\.json)$"


MAIN = Part()


@dataclass(frozen=True, slots=True)
class Command:
    """A call of benchgate.

    Attributes:
        trace: the file that strace writes.
        part: what is traced.
    """

    arguments: Sequence[str]
    cwd: Path
    environ: Mapping[str, str]
    trace: Path
    part: Part = MAIN


def calls_of(command: Command) -> tuple[Done, list[Call]]:
    """Run benchgate; also give the calls of a part of it that can fail.

    Those of the main thread begin with the first on benchgate.toml, on an event, or on a file
    beside the working folder; those of a process with the first module of benchgate. Imports and
    files that are not there are left out.
    """
    done, text = _traced(command, ERRORS)
    return done, _parsed(text, str(command.cwd.parent), command.part.first)


def run_with_fault(command: Command, call: Call) -> tuple[Done, Call | None, Call | None]:
    """Run benchgate and let the call of this name and number fail.

    Returns:
        What it said, the call that failed, and the call on the same path that can be tried if that
        was another one: how often a program looks into /proc depends on the other processes.
    """
    fault = f"inject={call.name}:error={ERRORS[call.name]}:when={call.number}"
    done, text = _traced(command, (call.name,), "-e", fault)
    calls = _parsed(text, str(command.cwd.parent))
    failed = next((each for each in calls if each.is_injected), None)
    there = (each for each in calls if each.about == call.about)
    return done, failed, next(there, None)


def _traced(command: Command, names: Iterable[str], *options: str) -> tuple[Done, str]:
    """Run benchgate under strace; also give the trace."""
    trace, part, environ = command.trace, command.part, command.environ
    trace.write_text("", encoding="utf-8")
    # With prctl, `benchgate ci` hides its files from other programs.
    shown = ("-e", f"trace=prctl,{','.join(names)}", "-e", "inject=prctl:retval=0")
    strace = ("strace", "-y", "-o", str(trace), *shown, *options)
    if part == MAIN:
        done = run((*strace, *python_module(*command.arguments)), command.cwd, environ)
        return done, _text(trace)
    python = trace.with_name("bin") / "python3"
    inside = (sys.executable, str(_INSIDE), str(python))
    begun = trace.with_name("begun")
    with suppress(OSError):
        begun.rmdir()
    python.parent.mkdir(exist_ok=True)
    # strace becomes a child of the process, which keeps its number.
    in_process = (
        (*inside, part.thread, *strace, "--") if part.thread else (*strace, "-D", sys.executable)
    )
    text = _PYTHON.format(
        words=shlex.quote(part.process or str(begun)),
        begun=shlex.quote(str(begun)),
        tracing=shlex.join(in_process),
        python=shlex.quote(sys.executable),
    )
    python.write_text(text, encoding="utf-8")
    python.chmod(0o755)
    # There benchgate looks for the Python of the project.
    environ = {**environ, "PATH": f"{python.parent}:{environ['PATH']}"}
    words = (*strace, "--", *python_module(*command.arguments)[1:])
    done = run((*inside, "" if part.process else part.thread, *words), command.cwd, environ)
    end_s = time.monotonic() + _END_S
    while _text(trace) and not _ENDED.search(_text(trace)) and time.monotonic() < end_s:
        time.sleep(0.02)
    return done, _text(trace)


def _text(trace: Path) -> str:
    return trace.read_text(encoding="utf-8", errors="replace")


def once_each(calls: Sequence[Call]) -> list[Call]:
    """Give the first call of each kind on each path."""
    return list({(each.name, each.about): each for each in reversed(calls)}.values())[::-1]


def _parsed(trace: str, own: str, first: str = "") -> list[Call]:
    calls = []
    counts = dict.fromkeys(ERRORS, 0)
    has_begun = False
    for line in trace.splitlines():
        name = line.partition("(")[0]
        if name not in counts:
            continue
        counts[name] += 1
        found = _CALL.match(line)
        path = _path(found["arguments"], name) if found else ""
        has_begun = has_begun or bool(re.search(first, path))
        is_injected = line.endswith("(INJECTED)")
        is_import = _is_import(path)
        could_fail = found is not None and int(found["value"]) >= 0 and not is_import
        if has_begun and (is_injected or could_fail):
            about = "" if name in _WITHOUT_PATH else _CHANCE.sub("#", path.replace(own, ""))
            calls.append(Call(name, counts[name], about, is_injected, is_import))
    return calls


def _path(arguments: str, name: str) -> str:
    """Name what a call is about: a descriptor's file, or the path that is named last."""
    descriptor = _DESCRIPTOR.match(arguments)
    named = [] if name in _CONTENT else _NAMED.findall(arguments)
    if not named or arguments.startswith("AT_FDCWD") or not descriptor:
        return named[-1] if named else descriptor["path"] if descriptor else ""
    return f"{descriptor['path']}/{named[-1]}"


def _is_import(path: str) -> bool:
    folders = (sys.prefix, sys.base_prefix, str(_SOURCE))
    return bool(_MODULE.search(path)) or path.startswith(folders)
