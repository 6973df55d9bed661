"""What a driver offers: it opens connections to its kind of target, and carries out operations.

A driver is one module with one subclass of `Driver`. `registry.py` lists those of benchgate; others
come from packages with an entry point in the group `benchgate.drivers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeAlias, TypeVar

from benchgate.load.substitution import OWN_PLACEHOLDERS, PORT, placeholders_in
from benchgate.load.tables import Load, Script, Step, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchgate.load.values import Parameters

T = TypeVar("T", bound=Target)
S = TypeVar("S", bound=Step)
P = TypeVar("P", bound=Script)

Operation: TypeAlias = "Callable[[Parameters], None]"
"""Carries out a step once. It raises OperationError if the target refused or failed."""


class TargetError(Exception):
    """The target cannot be used: it is not there, or the scenario does not fit it.

    The message is one line for the user, and has no password.
    """


class OperationError(Exception):
    """One operation failed. One line, without passwords.

    The connection can still be used. If it was lost, the next operation opens it again.
    """


@dataclass(frozen=True, slots=True)
class Place:
    """Where a launch takes place.

    Attributes:
        folder: the arm's folder of the configuration; relative paths start here.
        scratch: an empty folder of this launch, removed after it.
        workers: how many connections will be open at once.
        expand: replaces placeholders such as {port} and {root}, and variables such as ${TOKEN}.
        environ: the environment of child processes.
        shares_process: whether all workers are threads of one process.
    """

    folder: Path
    scratch: Path
    workers: int
    expand: Callable[[str], str]
    environ: Mapping[str, str] = field(default_factory=dict)
    shares_process: bool = True


class Connection(ABC):
    """What one worker uses, in one thread."""

    @abstractmethod
    def operations(self) -> Sequence[Operation]:
        """Return one operation for each step, in the order of the steps."""

    def interrupt(self) -> None:  # noqa: B027 - only drivers that wait for others need it
        """Make the operation that runs now fail soon; called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Close it; called once, from any thread, when no operation runs any more."""


class Driver(ABC, Generic[T, S, P]):
    """Uses one target in one launch.

    Attributes:
        NAME: what `driver` in a scenario file says.
        TARGET, STEP, SCRIPT: the tables [[target]], [[step]] and [setup] of this driver.
        WORKS_HERE: whether the target does its work in this process, as SQLite does.
        WORKS_AFAR: whether workers on other machines can load the target.

    Raises:
        TargetError: its texts or files do not fit; it has not talked to the target yet.
    """

    NAME: ClassVar[str]
    TARGET: ClassVar[type[Target]]
    STEP: ClassVar[type[Step]]
    SCRIPT: ClassVar[type[Script]]
    WORKS_HERE: ClassVar[bool] = False
    WORKS_AFAR: ClassVar[bool] = True

    def __init__(self, target: T, steps: Sequence[S], place: Place) -> None:
        self.target = target
        self.steps = steps
        self.place = place

    @classmethod
    def objection(cls, target: T, load: Load) -> str | None:  # noqa: ARG003 - for those that object
        """Say why this target cannot be loaded in this way; None if it can."""
        return None

    @classmethod
    def objection_to_step(cls, step: S) -> str | None:  # noqa: ARG003 - for those that object
        """Say why this step cannot be carried out, if its table alone does not show it."""
        return None

    @classmethod
    def is_own(cls, target: T) -> bool:
        """Whether every launch has a target of its own, so that two can be loaded at once.

        By default it is one that a service of the launch provides, or that is in the launch's or
        the arm's own folder.
        """
        return any(
            name in OWN_PLACEHOLDERS or name.endswith(PORT)
            for text in target.texts()
            for name in placeholders_in(text)
        )

    @abstractmethod
    def connect(self, worker: int) -> Connection:
        """Open the connection of a worker, in the thread that will use it.

        Args:
            worker: its index, from 0.

        Raises:
            TargetError: it cannot be opened.
        """

    @abstractmethod
    def run(self, script: P) -> None:
        """Carry out [setup] or [teardown], on a connection of its own.

        Raises:
            TargetError: something in it failed.
        """

    def introspect(self) -> Mapping[str, str]:
        """Ask the target for its version and settings.

        Raises:
            TargetError: it does not answer.
        """
        return {}

    def close(self) -> None:
        """Free what belongs to all workers; called once, after their connections are closed."""
