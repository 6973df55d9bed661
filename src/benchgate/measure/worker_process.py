"""A worker's process: how benchgate starts it, writes to it, reads from it and ends it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING

from benchgate._worker import PROGRAM
from benchgate.measure.execution import timed_out
from benchgate.measure.lanes import peak_memory_bytes
from benchgate.measure.memory_layout import fixed_addresses
from benchgate.process import ProcessTree, how_ended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian


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


TAIL_BYTES = 8192
OUTPUT_LIMIT_BYTES = 256 * 2**20
_LONGEST_LINE_BYTES = 64 * 2**20
_SHOWN_BYTES = 80
_LOOK_MS = 500
_END_WAIT_S = 2.0
_KILLED = 128
_TRACE_WAIT_S = 1.0


class WorkerFailedError(Exception):
    """The benchmark, or the process that runs it, failed.

    Attributes:
        worker: the worker that failed.
        error: one line, then the text that explains it.
        is_beside: whether the other arm's worker took a sample at the same time.
    """

    is_beside = False

    def __init__(self, worker: WorkerProcess, line: str, explanation: str = "") -> None:
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


class WorkerProcess:
    """A process that answers line by line and runs from construction until `close` or `kill`.

    Args:
        interpreter: command that starts Python.
        environ: the whole environment of the process.

    Attributes:
        pid: process id of the Python. Until it has told its own, that of the interpreter's command,
            which may be another program that starts Python.
        order: its place among the workers that were started together.
    """

    order = 0

    def __init__(
        self,
        arm: Arm,
        interpreter: Sequence[str],
        environ: Mapping[str, str],
        guardian: Guardian,
    ) -> None:
        self.arm = arm
        self._buffer = b""
        self._is_lost = False
        self._output = _open_output()
        self._channel, theirs = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        try:
            self._process = self._start(interpreter, environ, guardian, theirs)
        finally:
            theirs.close()
        self.pid = self._process.pid
        self.allow(0)

    def _start(
        self,
        interpreter: Sequence[str],
        environ: Mapping[str, str],
        guardian: Guardian,
        channel: socket.socket,
    ) -> ProcessTree:
        try:
            with fixed_addresses():
                return ProcessTree(
                    [*interpreter, str(PROGRAM), *[str(channel.fileno())] * 2],
                    cwd=self.arm.folder,
                    env=environ,
                    guardian=guardian,
                    stdout=self._output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[channel.fileno()],
                )
        except OSError as error:
            self._release()
            why = self.arm.why_missing(interpreter[0]) or error.strerror
            line = f"cannot start the interpreter {self.arm.generalize(interpreter[0])}: {why}"
            raise WorkerFailedError(self, line) from error

    def allow(self, seconds: float) -> None:
        """Set the time limit for all steps that follow together."""
        self._deadline = time.monotonic() + seconds
        self._allowed_s = seconds

    def forget_output(self) -> None:
        """Drop the output so far: it belongs to a benchmark that did not fail."""
        os.ftruncate(self._output.fileno(), 0)

    def close(self) -> None:
        """End it cleanly: run the open benchmark's teardown and exit handlers, kill its group."""
        if not self._is_lost and self._channel.fileno() >= 0:
            with contextlib.suppress(WorkerFailedError, OSError):
                self._channel.shutdown(socket.SHUT_WR)
                self.allow(_END_WAIT_S)
                self.line()
        self.kill()

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
            os.write(self._channel.fileno(), data)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def line(self) -> bytes:
        """Return the next line.

        Raises:
            WorkerFailedError: the process dies, hangs or prints too much, or another process
                writes.
        """
        while b"\n" not in self._buffer:
            self._read()
            if len(self._buffer) > _LONGEST_LINE_BYTES:
                raise self.intruded(self._buffer)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _read(self) -> None:
        """Wait a moment for more of a line."""
        left_ms = (self._deadline - time.monotonic()) * 1000
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
        # A forked child may hold the socket open after the worker has died.
        elif self._process.poll() is not None:
            raise self._dead()
        elif os.fstat(self._output.fileno()).st_size > OUTPUT_LIMIT_BYTES:
            self._is_lost = True
            problem = f"it printed more than {OUTPUT_LIMIT_BYTES >> 20} MB"
            raise WorkerFailedError(self, problem, self.tail())

    def _hung(self) -> WorkerFailedError:
        self._is_lost = True
        # On this signal Python prints its traceback.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGABRT)
        self._process.wait(_TRACE_WAIT_S)
        trace = without_own_frames(self.tail(), PROGRAM.parent, is_asked_for=True)
        return WorkerFailedError(self, timed_out(self._allowed_s), trace)

    def _dead(self) -> WorkerFailedError:
        self._is_lost = True
        code = self._process.wait(_END_WAIT_S)
        if code is None:
            return WorkerFailedError(
                self, "it closed the pipe that only benchgate may use", self.tail()
            )
        if self.pid != self._process.pid and code > _KILLED:
            code = _KILLED - code  # what a program that starts Python makes of its signal
        trace = without_own_frames(self.tail(), PROGRAM.parent)
        why = ", possibly because it ran out of memory" if code == -signal.SIGKILL else ""
        return WorkerFailedError(self, f"its process {how_ended(code)}{why}", trace)

    def intruded(self, line: bytes) -> WorkerFailedError:
        """Make an error from a line that is no answer."""
        self._is_lost = True
        problem = f"it wrote to the pipe that only benchgate may use: {line[:_SHOWN_BYTES]!r}"
        return WorkerFailedError(self, problem, self.tail())

    def tail(self) -> str:
        """Return the end of its output."""
        descriptor = self._output.fileno()
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        text = tail.decode("utf-8", "replace").strip()
        return f"... {text}" if size > TAIL_BYTES else text


def _open_output() -> IO[bytes]:
    """Make an unnamed file that every holder appends to, so that it can be truncated."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by WorkerProcess._release
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)
    return file
