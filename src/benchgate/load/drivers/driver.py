"""What a driver offers: it opens connections to its kind of target, and carries out operations.

A driver is one module with one subclass of `Driver`. The package lists those of benchgate; others
come from packages with an entry point in the group `benchgate.drivers`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from pydantic import AfterValidator

from benchgate.errors import did_you_mean
from benchgate.load.placeholders import OWN_PLACEHOLDERS, PORT, placeholders_in
from benchgate.load.scenario import Load, Script, Step, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from benchgate.load.parameters import Parameters


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


_LONGEST: Final = 500


def one_line(text: str) -> str:
    """Join the lines of a text, and cut it if it is long."""
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 3] + "..."
    return line.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class LaunchPlace:
    """Where a launch takes place.

    Attributes:
        folder: the arm's folder of the configuration; relative paths start here.
        scratch: an empty folder of this launch, removed after it.
        expand: replaces placeholders such as {port} and {root}, and variables such as ${TOKEN}.
        environ: the environment of child processes.
        conceal: makes a text one line, without the secrets of the scenario.
    """

    folder: Path
    scratch: Path
    expand: Callable[[str], str]
    environ: Mapping[str, str] = field(default_factory=dict)
    conceal: Callable[[str], str] = one_line


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

    def __init__(self, target: T, steps: Sequence[S], place: LaunchPlace) -> None:
        self.target = target
        self.steps = steps
        self.place = place
        self.conceal = place.conceal

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


def check_params(used: Collection[str], given: Collection[str]) -> None:
    """Refuse parameters without a value, and values that are not used.

    Raises:
        ValueError: with a sentence for the author of the scenario.
    """
    for name in sorted(used):
        if name not in given:
            raise ValueError(f":{name} has no value in params{did_you_mean(name, given)}")
    for name in given:
        if name not in used:
            raise ValueError(f"nothing uses the parameter {name!r}: write :{name} where it belongs")


def _plain(value: object) -> object:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot be sent as JSON: {error}") from None
    return value


PlainJson = Annotated[Any, AfterValidator(_plain)]
