"""The drivers `command` and `python`: a child process for each worker, in any language.

benchgate starts the program once for each worker, in the folder of the configuration file. They
talk in lines of JSON in UTF-8:

1. When the program is ready, it writes a line with an object, such as `{"ready": true}`.
2. For each operation, benchgate writes a line to the program's standard input:
   `{"step": "lookup", "params": {"id": 7}}`. It waits for the answer before it writes another one.
3. The program carries out the operation, writes one line with an object to its standard output, and
   flushes it. `{}` says that the operation went well; `{"error": "no such order"}` says that it
   failed. benchgate ignores any other keys.
4. At the end, benchgate closes the program's standard input. The program then exits; if it still
   runs after 5 s, benchgate ends it.

An operation also fails if the program exits, answers anything else, or does not answer within
`timeout`. benchgate then starts it again. The end of what the program has written to its standard
error is in the message. `requests` of [setup] and [teardown] go to a process of their own, as they
are written.

The time of an operation begins before the request is written, and ends when the answer was read.

This is a whole program for the shell:

    echo '{"ready": true}'
    while read -r request; do
        curl --silent --fail http://127.0.0.1:8000/ >/dev/null && echo '{}' ||
            echo '{"error": "curl failed"}'
    done

A step calls its function with its parameters as keyword arguments. What the function returns is
ignored; an exception is a failed operation. benchgate imports the file once in each process, so a
module can open its own connection to what it loads. Its folder is the first one on `sys.path`.

The processes run `benchgate._worker`, which then speaks the protocol of the driver `command`.
"""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import subprocess
import tempfile
import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from benchgate._worker import PROGRAM
from benchgate.load.drivers.driver import (
    Connection,
    Driver,
    OperationError,
    PlainJson,
    TargetError,
)
from benchgate.load.scenario import Script, Step, Target, Variables
from benchgate.process import Ending, ProcessTree, Streams, how_ended
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        place: it runs in its folder; its standard error goes to the scratch folder.
        timeout_s: limit for getting ready, and for each answer.
    """

    def __init__(
        self, argv: Sequence[str], place: LaunchPlace, env: Mapping[str, str], timeout_s: float
    ) -> None:
        self._timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile(dir=place.scratch)  # noqa: SIM115 - closed by close()
        try:
            # It stays in the process group of benchgate, which is ended as a whole.
            self._process = ProcessTree(
                argv,
                cwd=place.folder,
                env=env,
                ending=Ending(own_group=False),
                streams=Streams(subprocess.PIPE, subprocess.PIPE, self._stderr),
            )
        except (OSError, ValueError) as error:
            self._stderr.close()
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            raise ChildError(f"cannot run {argv[0]!r}: {why}") from None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
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
        self._process.send(signal.SIGKILL)

    def close(self, *, at_once: bool = False) -> None:
        """End it: close its standard input and wait a little, or kill it at once."""
        if at_once:
            self._process.end()
        else:
            self._process.end(_END_WAIT_S, _TERM_WAIT_S)
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
        code = self._process.wait(_TERM_WAIT_S)
        what = "closed its standard input or output" if code is None else how_ended(code)
        return ChildError(f"it {what}{self._tail()}")

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

    @property
    def server(self) -> str:
        return ""  # it may use any


class ChildDriver(Driver[C, S, P]):
    """Base class of the drivers that leave the operations to a child process."""

    WORKS_AFAR = False

    def __init__(self, target: C, steps: Sequence[S], place: LaunchPlace) -> None:
        super().__init__(target, steps, place)
        added = {name: place.expand(text) for name, text in target.env.items()}
        self.env = {**place.environ, **added}

    @abstractmethod
    def argv(self) -> Sequence[str]:
        """Return the program and its arguments."""

    @classmethod
    def is_own(cls, target: C) -> bool:  # noqa: ARG003 - it does not matter what it says
        """Return True: every worker has a process of its own."""
        return True

    def connect(self, worker: int) -> ChildConnection:  # noqa: ARG002 - all workers do the same
        return self.connected(self.argv())

    def connected(self, argv: Sequence[str]) -> ChildConnection:
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
        driver = self._driver
        self._child = Child(self._argv, driver.place, driver.env, driver.target.timeout_s)
        return self._child

    def operations(self) -> Sequence[Operation]:
        return [self._operation(step.name) for step in self._driver.steps]

    def ask(self, request: Mapping[str, Any]) -> None:
        """Send a request, and wait for its answer.

        Raises:
            OperationError: the program failed, or its answer is an error.
        """
        try:
            error_text = (self._child or self.open()).ask(request)
        except ChildError as error:
            self.close(at_once=True)
            raise OperationError(self._driver.conceal(f"the program failed: {error}")) from None
        if error_text is not None:
            raise OperationError(self._driver.conceal(error_text))

    def interrupt(self) -> None:
        if child := self._child:
            child.interrupt()

    def close(self, *, at_once: bool = False) -> None:
        child, self._child = self._child, None
        if child:
            child.close(at_once=at_once)

    def _operation(self, name: str) -> Operation:
        ask = self.ask

        def operation(params: Parameters) -> None:
            ask({"step": name, "params": params})

        return operation


_PLACEHOLDER = re.compile(r"\$?\{\w+\}")


def _command(text: str) -> str:
    # Which placeholders there are depends on the services, so only the words are checked here.
    fields.argv(_PLACEHOLDER.sub("_", text), in_shell=False)
    return text


class CommandTarget(ChildTarget):
    """A program that carries out the operations."""

    command: Annotated[fields.Text, AfterValidator(_command)] = Field(
        description="The program and its arguments, without a shell."
    )

    def texts(self) -> tuple[str, ...]:
        return (self.command, *self.env.values())

    def own_files(self) -> tuple[str, ...]:
        """Files that the command names with a slash: code under test."""
        words = shlex.split(self.command)
        return tuple(word for word in words if re.match(r"(?![-/]|.*[{:])[^\s]*/", word))


class CommandStep(Step):
    """An operation, which the program knows by the name of the step."""


class CommandScript(Script):
    """Requests to a process of its own."""

    requests: Annotated[tuple[Mapping[str, PlainJson], ...], BeforeValidator(fields.as_tuple)] = (
        Field(
            default=(),
            description="Objects that are sent to the program; each must be answered without an"
            " error.",
        )
    )


class CommandDriver(ChildDriver[CommandTarget, CommandStep, CommandScript]):
    """Loads whatever the program uses."""

    NAME = "command"
    TARGET = CommandTarget
    STEP = CommandStep
    SCRIPT = CommandScript

    def argv(self) -> Sequence[str]:
        # Word by word, so that a folder's name with a space in it stays one word.
        return [self.place.expand(word) for word in shlex.split(self.target.command)]

    def run(self, script: CommandScript) -> None:
        connection = self.connect(0)
        try:
            for number, request in enumerate(script.requests, 1):
                try:
                    connection.ask(request)
                except OperationError as error:
                    raise TargetError(f"requests[{number}]: {error}") from None
        finally:
            connection.close()


_FUNCTION = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[^\W\d]\w*)")


def _function(text: str) -> str:
    found = _FUNCTION.fullmatch(text)
    if found is None:
        raise ValueError('must be a file and a function in it: write "load/orders.py:lookup"')
    fields.relative(found["file"])
    return text


def _interpreter(text: str) -> str:
    fields.words(text)
    return text


Function = Annotated[str, AfterValidator(_function)]


def _files(*functions: str | None) -> tuple[str, ...]:
    named = (function.partition(":")[0] for function in functions if function is not None)
    return tuple(dict.fromkeys(named))


class PythonTarget(ChildTarget):
    """Functions of the project."""

    function: Function | None = Field(
        default=None,
        description="The function that carries out the operations, such as"
        " `load/orders.py:lookup`.",
    )
    interpreter: Annotated[fields.Text, AfterValidator(_interpreter)] = Field(
        default="python3",
        description="The Python that runs them, CPython 3.8 or newer.",
    )

    def texts(self) -> tuple[str, ...]:
        return (self.interpreter, *self.env.values())

    def own_files(self) -> tuple[str, ...]:
        return _files(self.function)


class PythonStep(Step):
    """A call of a function."""

    function: Function | None = Field(
        default=None, description="The function of this step, if it is not that of the target."
    )

    def own_files(self) -> tuple[str, ...]:
        return _files(self.function)


class PythonScript(Script):
    """A call of a function without arguments, in a process of its own."""

    function: Function | None = Field(
        default=None, description="The function, such as `load/orders.py:create_tables`."
    )

    def own_files(self) -> tuple[str, ...]:
        return _files(self.function)


class PythonDriver(ChildDriver[PythonTarget, PythonStep, PythonScript]):
    """Loads whatever the functions use."""

    NAME = "python"
    TARGET = PythonTarget
    STEP = PythonStep
    SCRIPT = PythonScript

    def __init__(
        self, target: PythonTarget, steps: Sequence[PythonStep], place: LaunchPlace
    ) -> None:
        super().__init__(target, steps, place)
        self._functions: dict[str, str] = {}
        for step in steps:
            function = step.function or target.function
            if function is None:
                raise TargetError(
                    f"step {step.name!r} names no function, and neither does [[target]]"
                )
            self._functions[step.name] = function

    def argv(self) -> Sequence[str]:
        return self._calling(self._functions)

    def run(self, script: PythonScript) -> None:
        if script.function is None:
            return
        connection = self.connected(self._calling({"": script.function}))
        try:
            connection.ask({"step": "", "params": {}})
        except OperationError as error:
            raise TargetError(f"{script.function}: {error}") from None
        finally:
            connection.close()

    def _calling(self, functions: Mapping[str, str]) -> Sequence[str]:
        words = [self.place.expand(word) for word in shlex.split(self.target.interpreter)]
        return [*words, str(PROGRAM), "0", "1", json.dumps({"functions": functions})]
