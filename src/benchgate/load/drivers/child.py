"""What the drivers `command` and `python` share: a child process for each worker."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import Field

from benchgate.load.drivers.driver import (
    Concealer,
    Connection,
    Driver,
    OperationError,
    TargetError,
    values_in,
)
from benchgate.load.scenario import Script, Step, Target, Variables
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.load.drivers.driver import LaunchPlace, Operation
    from benchgate.load.parameters import Parameters


_DONE: Final = b"{}"
_CHUNK_BYTES: Final = 65536
_MOST_BYTES: Final = 2**20
_TAIL_BYTES: Final = 2000
_TAIL_LINES: Final = 3
_SHOWN_BYTES: Final = 80
_END_WAIT_S: Final = 5.0
_TERM_WAIT_S: Final = 2.0


class ChildError(Exception):
    """The child process cannot be used any more; the message says why."""


class Child:
    """A running child process that has said that it is ready.

    Args:
        argv: program and arguments; the program is searched in the PATH of `env`.
        scratch: a folder for what it writes to standard error.
        timeout_s: limit for getting ready, and for each answer.

    Raises:
        ChildError: it did not start, or did not get ready; it is not running any more.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        scratch: Path,
        timeout_s: float,
    ) -> None:
        self._timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - closed by close()
        try:
            # It stays in the process group of benchgate, which is ended as a whole.
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=cwd,
                env=dict(env),
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            self._stderr.close()
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            raise ChildError(f"cannot run {argv[0]!r}: {why}") from None
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the child process has no pipes")
        self._in, self._out = stdin.fileno(), stdout.fileno()
        os.set_blocking(self._in, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._writable.register(self._in, select.POLLOUT)
        try:
            error_text = self._answer("get ready")
        except BaseException:
            self.close(at_once=True)
            raise
        if error_text is not None:
            self.close()
            raise ChildError(f"it did not get ready: {error_text}")

    def ask(self, request: Mapping[str, Any]) -> str | None:
        """Send a request and wait for its answer; return the error in it, if there is one.

        Raises:
            ChildError: there is no valid answer; close it.
        """
        if self._readable.poll(0):
            raise self._unasked()
        line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        try:
            sent = os.write(self._in, line)
            while sent < len(line):
                sent += self._write(line[sent:])
        except BlockingIOError:
            raise ChildError("it does not read its standard input") from None
        except OSError:
            raise self._ended() from None
        return self._answer("answer")

    def interrupt(self) -> None:
        """Kill it; called from another thread."""
        self._process.kill()

    def close(self, *, at_once: bool = False) -> None:
        """End it: close its standard input and wait a little, or kill it at once."""
        process = self._process
        if at_once:
            process.kill()
        for stream in (process.stdin, process.stdout if at_once else None):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        for wait_s, end in ((_END_WAIT_S, process.terminate), (_TERM_WAIT_S, process.kill)):
            try:
                process.wait(wait_s)
            except subprocess.TimeoutExpired:
                end()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._stderr.close()

    def _unasked(self) -> ChildError:
        """Say what it did since its last answer."""
        chunk = os.read(self._out, _SHOWN_BYTES)
        if not chunk:
            return self._ended()
        shown = chunk.decode("utf-8", "replace")
        return ChildError(f"it wrote what nobody asked for: {shown!r}")

    def _write(self, rest: bytes) -> int:
        if not self._writable.poll(self._timeout_s * 1000):
            raise BlockingIOError
        return os.write(self._in, rest)

    def _answer(self, what: str) -> str | None:
        pending = b""
        deadline = None
        while not pending.endswith(b"\n"):
            if not self._readable.poll(self._left_ms(deadline)):
                raise ChildError(f"it did not {what} within {self._timeout_s:g} s{self._tail()}")
            chunk = os.read(self._out, _CHUNK_BYTES)
            if not chunk:
                raise self._ended()
            pending += chunk
            if len(pending) > _MOST_BYTES:
                raise ChildError("its answer is too long")
            deadline = deadline or time.monotonic() + self._timeout_s
        line = pending[:-1]
        return None if line == _DONE else _error_in(line)

    def _left_ms(self, deadline: float | None) -> float:
        if deadline is None:
            return self._timeout_s * 1000
        return max(0.0, deadline - time.monotonic()) * 1000

    def _ended(self) -> ChildError:
        """Say how it ended, once it has closed its pipes."""
        try:
            code = self._process.wait(_TERM_WAIT_S)
        except subprocess.TimeoutExpired:
            return ChildError(f"it closed its standard input or output{self._tail()}")
        if code < 0:
            return ChildError(f"it was ended by {signal.Signals(-code).name}{self._tail()}")
        return ChildError(f"it exited with code {code}{self._tail()}")

    def _tail(self) -> str:
        """Return the last lines of its standard error, behind a colon."""
        # The child process shares the position in the file, which must stay at its end.
        file = self._stderr.fileno()
        tail = os.pread(file, _TAIL_BYTES, max(0, os.fstat(file).st_size - _TAIL_BYTES))
        lines = tail.decode("utf-8", "replace").splitlines()
        kept = [line.strip() for line in lines if line.strip()][-_TAIL_LINES:]
        return f": {' / '.join(kept)}" if kept else ""


def _error_in(line: bytes) -> str | None:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        shown = line[:_SHOWN_BYTES].decode("utf-8", "replace")
        raise ChildError(f"its answer is not one JSON object on one line: {shown!r}")
    if "error" not in answer:
        return None
    error = answer["error"]
    return error if isinstance(error, str) else json.dumps(error)


C = TypeVar("C", bound="ChildTarget")
S = TypeVar("S", bound=Step)
P = TypeVar("P", bound=Script)


class ChildTarget(Target):
    """A program that runs as a child process of each worker."""

    env: Variables = Field(default_factory=dict, description="Variables added to its environment.")
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="After this time, getting ready or an operation has failed.",
    )


class ChildDriver(Driver[C, S, P]):
    """Base class of the drivers that leave the operations to a child process."""

    WORKS_AFAR = False

    def __init__(self, target: C, steps: Sequence[S], place: LaunchPlace) -> None:
        super().__init__(target, steps, place)
        self.conceal = Concealer(values_in(target.texts(), place.expand))
        added = {name: place.expand(text) for name, text in target.env.items()}
        self._env = {**place.environ, **added}

    @abstractmethod
    def argv(self) -> Sequence[str]:
        """Return the program and its arguments."""

    @classmethod
    def is_own(cls, target: C) -> bool:  # noqa: ARG003 - it does not matter what it says
        """Return True: every worker has a process of its own."""
        return True

    def start(self, argv: Sequence[str]) -> Child:
        """Start a child process, and wait until it is ready.

        Raises:
            ChildError: it did not start, or did not get ready.
        """
        return Child(
            argv,
            cwd=self.place.folder,
            env=self._env,
            scratch=self.place.scratch,
            timeout_s=self.target.timeout_s,
        )

    def connect(self, worker: int) -> ChildConnection:  # noqa: ARG002 - all workers do the same
        """Start the child process of a worker.

        Raises:
            TargetError: it did not start, or did not get ready.
        """
        return self.connected(self.argv())

    def connected(self, argv: Sequence[str]) -> ChildConnection:
        """Start a child process.

        Raises:
            TargetError: it did not start, or did not get ready.
        """
        connection = ChildConnection(self, argv)
        try:
            connection.open()
        except ChildError as error:
            raise TargetError(self.conceal(f"the program failed: {error}")) from None
        return connection


class ChildConnection(Connection):
    """A worker's child process; if it fails, the next operation starts another one."""

    def __init__(self, driver: ChildDriver[Any, Any, Any], argv: Sequence[str]) -> None:
        self._driver = driver
        self._argv = argv
        self._child: Child | None = None

    def open(self) -> Child:
        """Start the child process.

        Raises:
            ChildError: it did not start, or did not get ready.
        """
        self._child = self._driver.start(self._argv)
        return self._child

    def operations(self) -> Sequence[Operation]:
        """Return one operation for each step."""
        return [self._operation(step.name) for step in self._driver.steps]

    def ask(self, request: Mapping[str, Any]) -> None:
        """Send a request, and wait for its answer.

        Raises:
            OperationError: the program failed, or its answer is an error.
        """
        try:
            error_text = (self._child or self.open()).ask(request)
        except ChildError as error:
            self._discard()
            raise OperationError(self._driver.conceal(f"the program failed: {error}")) from None
        if error_text is not None:
            raise OperationError(self._driver.conceal(error_text))

    def interrupt(self) -> None:
        """Kill the child process."""
        child = self._child
        if child is not None:
            child.interrupt()

    def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _operation(self, name: str) -> Operation:
        ask = self.ask

        def operation(params: Parameters) -> None:
            ask({"step": name, "params": params})

        return operation

    def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close(at_once=True)
