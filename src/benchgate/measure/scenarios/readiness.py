"""Whether a service is ready."""

from __future__ import annotations

import http.client
import re
import shlex
import socket
import subprocess
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from benchgate.errors import MeasureError
from benchgate.process import Ending, ProcessTree, Streams, find_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.load.scenario import Ready
    from benchgate.measure.processes import Guardian
    from benchgate.measure.scenarios.service_log import ServiceLog


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
    guardian: Guardian

    def start(self, command: str, log: IO[bytes] | None = None, mark: str = "") -> ProcessTree:
        """Start a program; for `mark` see `ProcessTree`.

        Raises:
            MeasureError: there is no such program.
            OSError: it cannot be started.
        """
        words = [self.fill(word) for word in shlex.split(command)]
        words[0] = find_program(words[0], self.cwd, self.environ.get("PATH", ""))
        output = subprocess.DEVNULL if log is None else log
        return ProcessTree(
            words,
            cwd=self.cwd,
            env=self.environ,
            ending=Ending(self.guardian, mark),
            streams=Streams(stdout=output, stderr=output),
        )


def unmet(ready: Ready, around: Surroundings, log: ServiceLog) -> str:
    """Look once whether a service is ready; say what did not happen, or "" if it is ready.

    Raises:
        MeasureError: the command of `ready` cannot be run.
    """
    if ready.http is not None:
        path = around.fill(ready.http)
        found = _status(around.port, path)
        if found == ready.status:
            return ""
        instead = "nothing answers" if found is None else f"the answer has status {found}"
        where = f"http://{HOST}:{around.port}{path}"
        return f"GET {where} must have status {ready.status}, but {instead}"
    if ready.log is not None:
        is_there = any(re.search(ready.log, line) for line in log.text().splitlines())
        return "" if is_there else f"no line of its output matches {ready.log!r}"
    if ready.command is not None:
        does = _succeeds(ready.command, around)
        return "" if does else f"the command {ready.command!r} of `ready` does not succeed"
    if _accepts(around.port):
        return ""
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
    try:
        return around.start(command).finish(_COMMAND_S) == 0
    except OSError as error:
        raise MeasureError(f"cannot run {command!r}: {error.strerror}") from error
