"""Runs the `[build]` commands of one arm in its tree, before anything is measured."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from benchgate.errors import BaselineError, MeasureError
from benchgate.git.repository import clean_environ
from benchgate.measure.arm import ArmName
from benchgate.process import Ending, ProcessTree, Streams, how_ended
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.processes.guardian import Guardian

TAIL_LINES = 40
MOST_WARNINGS = 3
_LINE_BYTES = 8192  # a longer line is split
_MOST_LINES = 1000
_LONGEST_WARNING = 300
_MOST_ERRORS = 10
_DRAIN_S = 2.0
# Of pip, uv, cargo and npm. Those of compilers begin with a file: they are about its code.
_WARNING = re.compile(r"warning:|npm warn\b", re.IGNORECASE)
# Of npm, cargo, compilers, make and Python; what follows the first ones often has their help.
_ERROR = re.compile(
    r"(?:npm |fatal |CMake |.*: )?(?:error|ERR!)\b|E: |\w*Error: |make(?:\[\d+\])?: \*\*\*",
    re.IGNORECASE,
)
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_LIMIT = "; `timeout` of [build] sets the limit"
USERS_ENVIRONMENT = ("VIRTUAL_ENV", "PYTHONHOME", "__PYVENV_LAUNCHER__")
"""Variables that would lead into the environment that benchgate was started from."""


@dataclass(frozen=True, slots=True)
class _Output:
    """The end of what a command prints, and in all of it the first errors and the last warnings."""

    tail: deque[str]
    errors: list[str] = field(default_factory=list)
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_WARNINGS))

    def add(self, line: str) -> None:
        self.tail.append(line)
        plain = _COLOR.sub("", line).strip()[:_LONGEST_WARNING]
        if _WARNING.match(plain) and plain not in self.warnings:
            self.warnings.append(plain)
        if _ERROR.match(plain) and plain not in self.errors and len(self.errors) < _MOST_ERRORS:
            self.errors.append(plain)

    @property
    def told(self) -> list[str]:
        """The first errors if they are not in the end, and the end."""
        seen = {_COLOR.sub("", line).strip()[:_LONGEST_WARNING] for line in self.tail}
        first = [line for line in self.errors if line not in seen]
        return [*first, *(["[...]"] if first else []), *self.tail]


def build(
    arm: Arm,
    commands: Sequence[Sequence[str]],
    *,
    timeout_s: float,
    variables: Mapping[str, str],
    guardian: Guardian,
) -> tuple[str, ...]:
    """Run the commands one after the other in the folder of an arm's configuration.

    Args:
        arm: the arm, whose root, env and sha replace {root}, {env} and {sha} in every word.
        commands: each a program and its arguments.
        timeout_s: limit for each command; after it, the command's process group is killed.
        variables: added to the environment after the arm's own, with placeholders replaced.
        guardian: kills the command if benchgate is killed.

    Returns:
        The last warnings that they printed.
    """
    environment = build_environment(arm, variables) | guardian.variables
    warnings: list[str] = []
    for command in commands:
        argv = [arm.substitute(word) for word in command]
        output = _Output(deque(maxlen=TAIL_LINES))
        failure = _run(argv, arm, output, timeout_s, environment=environment, guardian=guardian)
        if failure is not None:
            raise _error(arm, argv, failure, "\n".join(output.told))
        warnings += map(arm.generalize, output.warnings)
    return last_warnings(warnings)


def run_command(
    arm: Arm,
    command: Sequence[str],
    *,
    timeout_s: float,
    variables: Mapping[str, str],
    guardian: Guardian,
) -> tuple[list[str], str | None]:
    """Run a command of benchgate's own in an arm; for the arguments see `build`.

    Returns:
        The last lines that it printed, after the first errors if it failed; and how it failed,
        None if it did not.
    """
    environment = build_environment(arm, variables) | guardian.variables
    output = _Output(deque(maxlen=TAIL_LINES))
    failure = _run(command, arm, output, timeout_s, environment=environment, guardian=guardian)
    return [arm.generalize(line) for line in (output.told if failure else output.tail)], failure


def last_warnings(warnings: Iterable[str]) -> tuple[str, ...]:
    """The last few warnings, equal ones once."""
    return tuple(dict.fromkeys(warnings))[-MOST_WARNINGS:]


def with_warnings(said: str, warnings: Sequence[str]) -> str:
    """Add to what is said of a failure what the build warned of, if it did."""
    return "\n".join(filter(None, (said, "[build] warned:", *warnings))) if warnings else said


def versions(
    arm: Arm,
    commands: Mapping[str, Sequence[str]],
    *,
    timeout_s: float,
    variables: Mapping[str, str],
    guardian: Guardian,
) -> dict[str, str]:
    """Ask the tools of an arm for their versions; the first line that each prints is its version.

    Args:
        commands: by the name of the tool; for the other arguments see `build`.
    """
    environment = build_environment(arm, variables) | guardian.variables
    found = {}
    for name, command in commands.items():
        argv = [arm.substitute(word) for word in command]
        said = _Output(deque(maxlen=_MOST_LINES))
        failure = _run(argv, arm, said, timeout_s, environment=environment, guardian=guardian)
        version = next((line.strip() for line in said.tail if line.strip()), "")
        if failure is not None or not version:
            details = "\n".join(said.tail) if failure else ""
            raise _error(arm, argv, failure or "printed nothing", details, f"the version of {name}")
        found[name] = arm.generalize(version)
    return found


def build_environment(arm: Arm, variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of commands in an arm, without the guardian's variables."""
    environment = clean_environ(os.environ)
    for name in USERS_ENVIRONMENT:
        environment.pop(name, None)
    added = {**arm.variables, **variables}
    return environment | {name: arm.substitute(value) for name, value in added.items()}


def _run(
    argv: Sequence[str],
    arm: Arm,
    output: _Output,
    timeout_s: float,
    *,
    environment: Mapping[str, str],
    guardian: Guardian,
) -> str | None:
    """Run one command and kill what is left of its group; return how it failed, or None.

    Args:
        output: gets the lines that it prints.
    """
    try:
        process = ProcessTree(
            argv,
            cwd=arm.folder,
            env=environment,
            ending=Ending(guardian),
            streams=Streams(stdout=subprocess.PIPE, stderr=subprocess.STDOUT),
        )
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    drain = threading.Thread(target=_drain, args=(process.stdout, output), daemon=True)
    try:
        drain.start()
        exit_code = process.wait(timeout_s)
    finally:
        process.kill()
        # A process that left the group, such as a compiler's server, may keep the pipe open.
        if drain.ident:
            drain.join(_DRAIN_S)
    if exit_code is None:
        return f"was stopped after {format_duration(timeout_s)}{_LIMIT}"
    return how_ended(exit_code) if exit_code else None


def _drain(stream: IO[bytes], output: _Output) -> None:
    with stream:
        for line in iter(lambda: stream.readline(_LINE_BYTES), b""):
            output.add(line.decode(errors="replace").rstrip())


def _error(
    arm: Arm, argv: Sequence[str], failure: str, tail: str, of: str = ""
) -> MeasureError | BaselineError:
    which = f"the {arm.name}" + (f" ({arm.sha[:12]})" if arm.sha else "")
    doing = f"asking {which} for {of}" if of else f"building {which}"
    message = arm.generalize(f"{doing}: {shlex.join(argv)} {failure}")
    details = arm.generalize(tail)
    if arm.name is ArmName.BASE:
        hint = "Name a base that builds with these commands: benchgate check --against REF"
        return BaselineError(message, hint=hint, details=details)
    return MeasureError(message, details=details)
