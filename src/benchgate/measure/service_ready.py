"""Finds out whether a service that was started can be loaded."""

from __future__ import annotations

import http.client
import re
import shlex
import socket
import subprocess
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import MeasureError
from benchgate.measure.process import find_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.load.tables import Ready
    from benchgate.measure.service_log import ServiceLog

HOST: Final = "127.0.0.1"
_ANSWER_S = 2.0
_COMMAND_S = 10.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a service has around it.

    Attributes:
        port: its own.
        cwd, environ: of its process.
        fill: replaces placeholders in a text.
    """

    port: int
    cwd: Path
    environ: Mapping[str, str]
    fill: Callable[[str], str]


def is_ready(ready: Ready, around: Surroundings, log: ServiceLog) -> bool:
    """Look once whether a service is ready.

    Raises:
        MeasureError: the command of `ready` cannot be run.
    """
    if ready.http is not None:
        return _status(around.port, around.fill(ready.http)) == ready.status
    if ready.log is not None:
        return any(re.search(ready.log, line) for line in log.text().splitlines())
    if ready.command is not None:
        return _succeeds(ready.command, around)
    return _accepts(around.port)


def awaited(ready: Ready, around: Surroundings) -> str:
    """Say what did not happen, after "its": the condition that is not met."""
    if ready.http is not None:
        where = f"http://{HOST}:{around.port}{around.fill(ready.http)}"
        found = _status(around.port, around.fill(ready.http))
        instead = "nothing answers" if found is None else f"the answer has status {found}"
        return f"GET {where} must have status {ready.status}, but {instead}"
    if ready.log is not None:
        return f"no line of its output matches {ready.log!r}"
    if ready.command is not None:
        return f"the command {ready.command!r} of `ready` does not succeed"
    return f"it does not listen on its port {around.port}, which `{{port}}` in `start` stands for"


def _accepts(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection((HOST, port), _ANSWER_S)):
        return True
    return False


def _status(port: int, path: str) -> int | None:
    """The status of an answer; None if there is none."""
    with (
        suppress(OSError, http.client.HTTPException, ValueError),
        closing(http.client.HTTPConnection(HOST, port, timeout=_ANSWER_S)) as connection,
    ):
        connection.request("GET", path)
        return connection.getresponse().status
    return None


def _succeeds(command: str, around: Surroundings) -> bool:
    words = [around.fill(word) for word in shlex.split(command)]
    program = find_program(words[0], around.cwd, around.environ.get("PATH", ""))
    try:
        done = subprocess.run(
            words,
            executable=program,
            cwd=around.cwd,
            env=around.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    except OSError as error:
        raise MeasureError(f"cannot run {words[0]!r}: {error.strerror}") from error
    return done.returncode == 0
