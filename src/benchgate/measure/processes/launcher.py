"""Runs a command once, and measures what it used.

A small helper process spawns the command, see `_launcher`; benchgate sleeps meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.machine import Counter, CounterError, fixed_addresses
from benchgate.measure.processes import _launcher
from benchgate.measure.processes.execution import MOST_OUTPUT_BYTES, Execution
from benchgate.measure.processes.guardian import start_helper
from benchgate.process import find_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.machine import Event
    from benchgate.measure.processes.execution import AllowedTime, ExecutionReply, ExecutionRequest
    from benchgate.measure.processes.guardian import Guardian
    from benchgate.process import ProcessTree

_CLOSE_TIMEOUT_S = 3.0


class CommandLauncher:
    """Executes commands, one at a time.

    After an execution its process group is killed. If this process ends or is interrupted, the
    running command is killed with its group.

    Args:
        guardian: adds its variables to the environment of every command.
        event: the event to count in each command; None to count nothing.
        same_addresses: let all commands begin at the same addresses, if the OS can.
    """

    def __init__(
        self, guardian: Guardian, event: Event | None = None, *, same_addresses: bool = False
    ) -> None:
        self._guardian = guardian
        self._event = event
        self._same_addresses = same_addresses
        self._process: ProcessTree | None = None
        self._grace_s = 0.0

    def execute(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        allowed: AllowedTime,
        cpus: frozenset[int] | None = None,
        stdout: Path | None = None,
    ) -> Execution:
        """Run a command until it ends, with standard input closed, and read its output.

        Args:
            argv: program and arguments; the program is searched in the PATH of `env`.
            cwd: folder to run in.
            env: the whole environment, except the guardian's variables.
            cpus: the only CPUs that it may use; None for all that benchgate may use.
            stdout: a file for its standard output; None if nobody reads that.

        Raises:
            MeasureError: it could not be started. A command that fails is not an error here.
        """
        if not cwd.is_dir():
            raise MeasureError(f"cannot run {argv[0]!r}: there is no folder {cwd}")
        budget = self._guardian.budget
        limit = budget.limit(allowed.timeout_s, allowed.planned_s)
        request: ExecutionRequest = {
            "program": find_program(argv[0], cwd, env.get("PATH", os.defpath)),
            "argv": list(argv),
            "cwd": str(cwd),
            "env": {**env, **self._guardian.variables},
            "timeout_s": limit.seconds,
            "cpus": None if cpus is None else sorted(cpus),
            "stdout": None if stdout is None else str(stdout),
            "stdout_limit_bytes": MOST_OUTPUT_BYTES,
            "grace_s": allowed.grace_s,
        }
        self._grace_s = allowed.grace_s
        try:
            reply, count, uncounted = self._ask_and_count(request)
        except BaseException:
            self.close()  # this ends the command too
            raise
        if "refused" in reply:
            raise MeasureError(f"cannot run {argv[0]!r}: {reply['refused']}")
        usage, timed_out = reply["usage"], ""
        if usage["timed_out"]:
            timed_out = limit.exceeded()
            budget.exceeded(limit)
        else:
            budget.ended(usage["wall_ns"] / 1e9 - allowed.planned_s)
        more = {"timed_out": timed_out, "count": count, "uncounted": uncounted}
        execution = Execution(**{**usage, **more})
        if stdout is None:
            return execution
        return replace(execution, output_tail=_tail_of(stdout) + execution.output_tail)

    def close(self) -> None:
        """End the small process, and the command with its group if one is running."""
        process, self._process = self._process, None
        if process:
            process.end(self._grace_s + _CLOSE_TIMEOUT_S)

    def _started(self) -> ProcessTree:
        if self._process is None:
            with fixed_addresses() if self._same_addresses else nullcontext():
                self._process = start_helper(_launcher, stdout=subprocess.PIPE)
        return self._process

    def _ask_and_count(self, request: ExecutionRequest) -> tuple[ExecutionReply, int | None, str]:
        """Send the request with a counter on the helper process, which its children inherit.

        Each execution has its own counter, which does not count daemons of earlier executions.
        """
        if self._event is None:
            return self._ask(request), None, ""
        try:
            counter = Counter(self._event, self._started().pid, from_exec=True)
        except CounterError as error:
            return self._ask(request), None, str(error)
        with counter:
            reply = self._ask(request)
            return reply, *_read(counter)

    def _ask(self, request: ExecutionRequest) -> ExecutionReply:
        process = self._started()
        line = b""
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            pass
        if not line:
            raise MeasureError(
                f"the process that runs commands ended while it ran {request['argv'][0]!r}",
                hint="Something killed it; if it ran out of memory, the kernel's log says so.",
            )
        reply: ExecutionReply = json.loads(line)
        return reply


def _tail_of(file: Path) -> str:
    """The end of a file, as text; "" if it cannot be read."""
    with suppress(OSError), file.open("rb") as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - _launcher.TAIL_BYTES))
        return opened.read(_launcher.TAIL_BYTES).decode(errors="replace")
    return ""


def _read(counter: Counter) -> tuple[int | None, str]:
    """Return the count, or the reason why there is none."""
    try:
        count = counter.read()
    except CounterError as error:
        return None, str(error)
    # The kernel removes the counter from a program that runs with its file owner's rights.
    return (count, "") if count else (None, "a program that changes its privileges is not counted")
