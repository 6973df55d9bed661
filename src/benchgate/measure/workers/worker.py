"""A worker: its process, the steps and samples that benchgate asks for, and whose code it runs.

See `_worker/__main__.py` for the protocol.

A worker's process also runs the user's code, which may write to any descriptor by mistake. So a
reply in a wrong format counts as a failure of the benchmark.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchgate._worker import PROGRAM
from benchgate.measure.machine import bound_to, fixed_addresses, peak_memory_bytes
from benchgate.measure.workers.replies import (
    MOST_LISTED,
    PROTOCOL,
    TOO_MANY_LISTED,
    fault_of,
    read_pid,
    read_reply,
    read_sample,
    shown,
)
from benchgate.measure.workers.traces import goroutines_of_users, without_own_frames
from benchgate.process import Ending, ProcessTree, Streams, how_ended
from benchgate.stats.timer import Timer, timer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian
    from benchgate.measure.workers.start import ProgramSetting, WorkerSetting


TAIL_BYTES = 8192
OUTPUT_LIMIT_BYTES = 256 * 2**20
_LONGEST_REPLY_MIB = 64
_LONGEST_OBSERVED_MIB = 8
# An object in a list of benchmarks; a quotation mark in a text has a backslash before it.
_OBJECT = re.compile(rb'\{\s*"')
_OBJECTS_OF_ONE = 8
_LOOK_MS = 500
_END_WAIT_S = 2.0
_KILLED = 128
_TRACE_WAIT_S = 1.0


class Unstarted(NamedTuple):
    """Stands for a worker whose program could not be built."""

    arm: Arm
    order: int = 0


class WorkerFailedError(Exception):
    """The benchmark, or the process that runs it, failed.

    Attributes:
        worker: the worker that failed.
        error: one line, then the text that explains it.
        is_beside: whether the other arm's worker took a sample at the same time.
    """

    is_beside = False

    def __init__(self, worker: Worker | Unstarted, line: str, explanation: str = "") -> None:
        super().__init__(line)
        self.worker = worker
        # The tree lies in a temporary folder: readers know its files by their place in it.
        explanation = explanation.replace(f'File "{worker.arm.root}/', 'File "')
        # Text from the user's code may hold surrogates, which cannot be written to a file.
        self.error = f"{line}\n{explanation}".rstrip().encode("utf-8", "replace").decode()


class ForeignModuleError(WorkerFailedError):
    """The worker imported code that is not its arm's own: both arms may have run the same code."""


class WorkerSkippedError(WorkerFailedError):
    """The benchmark does not run here, as its author wants it."""


_MODULES_NAMED = 5
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


class Worker:
    """A process that answers line by line and runs from construction until `close` or `kill`.

    Attributes:
        pid: process id of the Python. Until it has told its own, that of the interpreter's command,
            which may be another program that starts Python.
        order: its place among the workers that were started together.
        beside_ns: what its last sample took that was not timed.
        said_bytes: how long all requests and replies were.
        start_ns: how long it took until it was ready.
        timer: its clock, once it is ready.
        packages: files of the installed modules that it has imported, as far as known.
        folders: those that its Python imports from.
        runs_own_code: whether it may have run code of its side, beside that of the benchmarks.
    """

    timer: Timer
    order = 0
    beside_ns = 0
    start_ns = 0
    said_bytes = 0

    def __init__(
        self,
        arm: Arm,
        setting: WorkerSetting | ProgramSetting,
        guardian: Guardian,
        *,
        describe: bool = False,
    ) -> None:
        self.arm = arm
        self.steps: frozenset[str] = frozenset()
        self.packages: dict[str, Path] = {}
        self.folders: Sequence[str] = ()
        self.runs_own_code = True
        self._setting = setting
        self._provided = setting.provided
        self._buffer = bytearray()
        self._is_lost = False
        self._has_spoken = False
        self._describes = describe
        self._budget = guardian.budget
        self._began_s = time.monotonic()
        self._output = _open_output()
        self._channel, theirs = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        try:
            self._process = self._start(setting, guardian, theirs.fileno())
        finally:
            theirs.close()
        self.pid = self._process.pid
        self.allow(0)
        self.begin_step("hello", json.dumps({"describe": describe, **setting.request(arm)}))

    def _start(
        self, setting: WorkerSetting | ProgramSetting, guardian: Guardian, channel: int
    ) -> ProcessTree:
        try:
            with fixed_addresses(), bound_to(setting.cpus_at_start):
                return ProcessTree(
                    setting.words(channel),
                    cwd=setting.folder or self.arm.folder,
                    env={**setting.environ(channel), **setting.layout.variables},
                    ending=Ending(guardian),
                    streams=Streams(
                        stdout=self._output, stderr=subprocess.STDOUT, pass_fds=[channel]
                    ),
                )
        except OSError as error:
            self._release()
            program = setting.words(channel)[0]
            why = self.arm.why_missing(program) or error.strerror
            line = f"cannot start {setting.WHAT}{self.arm.generalize(program)}: {why}"
            raise WorkerFailedError(self, line) from error
        finally:
            if setting.drawn:
                setting.drawn.unlink(missing_ok=True)

    def allow(self, seconds: float) -> None:
        """Set the time limit for all steps that follow together; the budget may shorten it."""
        self._allowed_s, self._limit = seconds, self._budget.limit(seconds)
        self._allowed_at_s = time.monotonic()

    def forget_output(self) -> None:
        """Drop the output so far: it belongs to a benchmark that did not fail."""
        os.ftruncate(self._output.fileno(), 0)

    def close(self) -> bytes:
        """End it cleanly: run the open benchmark's teardown and exit handlers, kill its group.

        Returns:
            The last line that it said.
        """
        said = b""
        if not self._is_lost and self._channel.fileno() >= 0:
            with contextlib.suppress(WorkerFailedError, OSError):
                self._channel.shutdown(socket.SHUT_WR)
                self.allow(_END_WAIT_S)
                said = self.line()
        self.kill()
        return said

    def hang_up(self) -> None:
        """Tell it that there are no more requests, so it ends by itself."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """End it now, with every process of its group; does nothing if it has ended."""
        self._process.kill()
        self._release()

    def peak_bytes(self) -> int:
        """The most memory that its Python has used, in bytes; 0 if unknown or if it has ended."""
        return peak_memory_bytes(self.pid)

    def stop(self) -> None:
        """Kill its processes; the thread that uses it notices, and must still call `kill`."""
        self._process.send(signal.SIGKILL)

    def _release(self) -> None:
        self._channel.close()
        self._output.close()

    def send(self, data: bytes) -> None:
        """Write to it."""
        try:
            self.said_bytes += os.write(self._channel.fileno(), data)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def line(self, longest_mib: int = _LONGEST_REPLY_MIB) -> bytes:
        """Return the next line.

        Raises:
            WorkerFailedError: the process dies, hangs, or prints or says too much.
        """
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > longest_mib << 20:
                raise self._beyond(f"is longer than {longest_mib} MiB")
            self._read()
        self._budget.ended(time.monotonic() - self._allowed_at_s)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _read(self) -> None:
        """Wait a moment for more of a line."""
        left_ms = (self._allowed_at_s + self._limit.seconds - time.monotonic()) * 1000
        if left_ms <= 0:
            raise self._hung()
        if self._poll.poll(min(left_ms + 1, _LOOK_MS)):
            try:
                chunk = os.read(self._channel.fileno(), 65536)
            except ConnectionResetError:  # the process ended without reading the request
                chunk = b""
            if not chunk:
                raise self._dead()
            self._buffer += chunk
            self.said_bytes += len(chunk)
        # A forked child may hold the socket open after the worker has died.
        elif self._process.poll() is not None:
            raise self._dead()
        elif os.fstat(self._output.fileno()).st_size > OUTPUT_LIMIT_BYTES:
            self._is_lost = True
            problem = f"it printed more than {OUTPUT_LIMIT_BYTES >> 20} MB"
            raise WorkerFailedError(self, problem, self.tail())

    def _hung(self) -> WorkerFailedError:
        self._is_lost = True
        self._budget.exceeded(self._limit)
        # On this signal Python and Go print their tracebacks.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGABRT)
        self._process.wait(_TRACE_WAIT_S)
        trace = without_own_frames(self.tail(), PROGRAM.parent, is_asked_for=True)
        trace = goroutines_of_users(trace)
        return WorkerFailedError(self, self._limit.exceeded("[[benchmark]] or [measure]"), trace)

    def _dead(self) -> WorkerFailedError:
        self._is_lost = True
        code = self._process.wait(_END_WAIT_S)
        if code is None:
            return WorkerFailedError(
                self, "it closed the pipe that only benchgate may use", self.tail()
            )
        if self.pid != self._process.pid and code > _KILLED:
            code = _KILLED - code  # what a program that starts Python makes of its signal
        if code == 0 and not self._has_spoken and self._setting.silent:
            return WorkerFailedError(self, self._setting.silent, self.tail())
        trace = without_own_frames(self.tail(), PROGRAM.parent)
        why = ", possibly because it ran out of memory" if code == -signal.SIGKILL else ""
        return WorkerFailedError(self, f"its process {how_ended(code)}{why}", trace)

    def _beyond(self, fault: str) -> WorkerFailedError:
        """Make an error from a reply that is larger than benchgate reads, or that it cannot use."""
        self._is_lost = True
        return WorkerFailedError(self, f"its reply to `{self._asked}` {fault}", self.tail())

    def intruded(self, line: bytes | bytearray) -> WorkerFailedError:
        """Make an error from a line that is no answer."""
        self._is_lost = True
        problem = f"it wrote to the pipe that only benchgate may use: {shown(line)}"
        return WorkerFailedError(self, problem, self.tail())

    def tail(self) -> str:
        """Return the end of its output."""
        descriptor = self._output.fileno()
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        text = tail.decode("utf-8", "replace").strip()
        return f"... {text}" if size > TAIL_BYTES else text

    def ready(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the benchmark file is imported; return what the worker says of itself.

        If it is to describe its benchmarks, it says that, too.

        Raises:
            WorkerFailedError: when the import fails, a module came from a forbidden tree, or the
                clock runs backwards.
        """
        self.allow(timeout_s)
        line = self.line()
        pid = read_pid(line)
        if pid is None:
            raise self.intruded(line)
        self.pid = pid
        self._has_spoken = True
        if (spoken := json.loads(line)["protocol"]) != PROTOCOL:
            raise WorkerFailedError(
                self, f"it speaks the worker protocol {spoken}, and benchgate speaks {PROTOCOL}"
            )
        hello = self.end_step("hello")
        self.steps = frozenset(hello.get("steps", ()))
        self.folders = hello.get("folders", ())
        try:
            self.timer = timer(np.array(hello["clock_steps_ns"], dtype=np.float64))
        except ValueError as error:
            raise WorkerFailedError(self, str(error)) from None
        self.start_ns = round((time.monotonic() - self._began_s) * 1e9)
        if not self._describes:
            return hello
        listed = self.ask("list")
        if fault := fault_of(listed):
            raise self._beyond(fault)
        return {**hello, **listed}

    def ask(self, step: str, argument: object = "") -> dict[str, Any]:
        """Let the worker carry out one step; return its reply."""
        self.begin_step(step, argument)
        return self.end_step(step)

    def sample(self) -> tuple[int, int]:
        """Let the worker take one sample, and wait for it; see `begin_sample`, `end_sample`."""
        self.begin_sample()
        return self.end_sample()

    def begin_sample(self) -> None:
        """Let the worker take one sample. It has the whole time limit that was set last."""
        self.allow(self._allowed_s)
        self.send(b"s\n")

    def end_sample(self) -> tuple[int, int]:
        """Wait for the sample that was begun; return (wall_ns, cpu_ns) of all its loops."""
        line = self.line()
        sample = read_sample(line)
        if sample is None:
            raise self._refused(self._read_reply("sample", line))
        wall_ns, cpu_ns, self.beside_ns = sample
        if wall_ns < 0 or cpu_ns < 0:
            raise WorkerFailedError(self, f"a clock ran backwards: {wall_ns} ns, CPU {cpu_ns} ns")
        return wall_ns, cpu_ns

    def begin_step(self, step: str, argument: object) -> None:
        """Let the worker begin one step; `end_step` waits for its reply."""
        self._asked = step
        # An id may end with a space.
        self.send((step if argument == "" else f"{step} {argument}").encode() + b"\n")

    def end_step(self, step: str) -> dict[str, Any]:
        """Wait for the reply to the step that was begun."""
        is_observed = step.startswith("observe")
        line = self.line(_LONGEST_OBSERVED_MIB if is_observed else _LONGEST_REPLY_MIB)
        # Each object takes many times as much memory as its text.
        most = MOST_LISTED * _OBJECTS_OF_ONE
        if step == "list" and next(islice(_OBJECT.finditer(line), most, None), None):
            raise self._beyond(TOO_MANY_LISTED)
        reply = self._read_reply(step, line)
        if "error" in reply:
            raise self._refused(reply)
        if reply.get("foreign"):
            raise self._foreign(*reply["foreign"][0])
        self._require_own(reply)
        if "has_own" in reply:
            self.runs_own_code = reply["has_own"] or reply.get("had_children", False)
        self.packages.update((module, Path(file)) for module, file in reply.get("packages", ()))
        return reply

    def _read_reply(self, step: str, line: bytes) -> dict[str, Any]:
        reply = read_reply(step, line, self._setting.KEYS)
        if reply is None:
            raise self.intruded(line)
        return reply

    def _require_own(self, reply: Mapping[str, Any]) -> None:
        """Refuse imports that both arms would share, if this arm's own code is to be measured."""
        if self._provided is None:
            return
        for module, file in reply.get("elsewhere", ()):
            if self._provided.is_installed_copy(module, Path(file)):
                folder = self._from_configuration(self._provided.modules[module])
                raise ForeignModuleError(
                    self,
                    f"the {self.arm.name} imported {module} from {file}, not from its own tree: "
                    "base and head would run the same code",
                    f"{_remedy(folder)}, or build an environment for each side in [build].",
                )
        if reply.get("had_children") is False and reply["shared"]:
            names = ", ".join(reply["shared"][:_MODULES_NAMED])
            raise ForeignModuleError(
                self,
                f"it imported nothing from the tree or environment of the {self.arm.name}: "
                f"base and head would run the same code ({names})",
                f"{_remedy('')}. If a dependency is what it measures, set `allow_foreign = true`.",
            )

    def _from_configuration(self, folder: str) -> str:
        """A folder of the tree as the configuration would name it; "" if it is unknown."""
        return os.path.relpath(folder, self.arm.inside) if folder else ""

    def _refused(self, reply: Mapping[str, Any]) -> WorkerFailedError:
        """Make an exception from the error that the worker reports."""
        if reply.get("skipped"):
            return WorkerSkippedError(self, reply["error"])
        parts = reply.get("trace", ""), self.tail()
        line = reply["error"] + self._about_missing_module(reply["error"])
        return WorkerFailedError(self, line, "\n".join(part for part in parts if part))

    def _about_missing_module(self, error: str) -> str:
        """Say where a module that cannot be imported belongs; "" for any other error."""
        missing = _NO_MODULE.fullmatch(error)
        if missing is None:
            return ""
        module = missing[1].partition(".")[0]
        if self._provided and self._provided.modules.get(module):
            return f". {_remedy(self._provided.modules[module])}"
        interpreter = self.arm.generalize(getattr(self._setting, "interpreter", ("",))[0])
        if interpreter.startswith("{env}"):
            return f". Let [build] install it for {interpreter}"
        return f". Install it for {interpreter}, or let [build] install it into {{env}}"

    def _foreign(self, module: str, file: str) -> ForeignModuleError:
        return ForeignModuleError(
            self,
            f"the {self.arm.name} imported {module} from {file}, not from its own tree: base "
            "and head would run the same code. An editable install is in the way: set "
            "`pythonpath` in [[benchmark]], or build an environment for each side in "
            "[build] and name it in `interpreter`",
        )


def _open_output() -> IO[bytes]:
    """Make an unnamed file that every holder appends to, so that it can be truncated."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by Worker._release
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)
    return file


def _remedy(folder: str) -> str:
    path = f"`pythonpath = [{json.dumps(folder)}]`" if folder else "`pythonpath`"
    which = "" if folder else ", the folder of the tree that holds your code,"
    return f"Set {path}{which} in [[benchmark]]"
