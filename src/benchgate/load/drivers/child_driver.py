"""What the drivers `command` and `python` share: a child process for each worker."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field

from benchgate.load.drivers.child import Child, ChildError
from benchgate.load.drivers.concealing import Concealer, values_in
from benchgate.load.drivers.driver import Connection, Driver, OperationError, TargetError
from benchgate.load.tables import Script, Step, Target, Variables
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.drivers.driver import Operation, Place
    from benchgate.load.values import Parameters

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

    def __init__(self, target: C, steps: Sequence[S], place: Place) -> None:
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
