"""What runs inside a worker of a Dask cluster, and what it is sent.

The worker is a process that outlives launches, and belongs to the user. Nothing here raises: Dask
would write the arguments and the traceback into the worker's log.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.load.drivers import registry
from benchgate.load.drivers.driver import TargetError
from benchgate.load.group import GivenUpError, GroupRecord, run_workers
from benchgate.load.launch import make_launch
from benchgate.load.scenario import SCRATCH, variables_in
from benchgate.load.worker import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.load.launch import LoadOrder, ProcessLaunch
    from benchgate.load.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent to a group; it can be pickled, and has secrets.

    Attributes:
        variables: those of the environment that the scenario names.
        files: what the steps read, by path relative to the configuration.
        workers: the indices of the group's workers.
    """

    order: LoadOrder
    scenario: Scenario
    variables: Mapping[str, str]
    files: Mapping[str, bytes]
    workers: tuple[int, ...]


def parcel_of(
    launch: ProcessLaunch, environ: Mapping[str, str], workers: tuple[int, ...]
) -> Parcel:
    """Put together what one group needs.

    Raises:
        OSError: a file of a step cannot be read.
    """
    scenario = launch.scenario
    target = scenario.target(launch.order.target)
    texts = [*target.texts(), *(text for step in scenario.steps for text in step.texts())]
    names = {name for text in texts for name in variables_in(text)}
    folder = Path(launch.order.folder)
    return Parcel(
        order=launch.order,
        scenario=scenario,
        variables={name: environ[name] for name in sorted(names) if name in environ},
        files={
            file: (folder / file).read_bytes()
            for step in scenario.steps
            for file in step.own_files()
        },
        workers=workers,
    )


@contextmanager
def unpacked(parcel: Parcel) -> Iterator[ProcessLaunch]:
    """Make the launch of a group, in a temporary folder with the files of the steps.

    Raises:
        TargetError: the target's texts or files do not fit.
    """
    with tempfile.TemporaryDirectory(prefix="benchgate-", ignore_cleanup_errors=True) as root:
        folder, scratch = Path(root, "folder"), Path(root, "scratch")
        folder.mkdir()
        scratch.mkdir()
        for file, content in parcel.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        order = replace(
            parcel.order,
            folder=str(folder),
            scratch=str(scratch),
            placeholders={**parcel.order.placeholders, SCRATCH: str(scratch)},
        )
        launch = make_launch(order, parcel.scenario, parcel.variables)
        try:
            yield launch
        finally:
            launch.driver.close()


SILENCE_S = 30.0
"""A group gives up if it hears nothing from the generator for this long."""

_LOOK_S = 0.05


class MemberState(StrEnum):
    """How far a group has come."""

    WAITING = "waiting"
    OPENING = "opening"
    ARRIVED = "arrived"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the generator must know of a worker of the cluster.

    Attributes:
        network: the same for all processes that share the address 127.0.0.1.
        problem: why the driver cannot be used; "" if it can.
    """

    network: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MemberOutcome:
    """How a group ended.

    Attributes:
        record: None if it was not measured to the end.
        problem: why not; "" if it was given up.
    """

    record: GroupRecord | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Sealed:
    """Pickled content that is not shown: Dask may show the arguments of a call."""

    content: bytes = field(repr=False)


class _Member:
    """A group in this process, and its gate."""

    def __init__(self, sealed: Sealed) -> None:
        self.sealed = sealed
        self.state = MemberState.WAITING
        self._epoch_ns: int | None = None
        self._is_stopped = False
        self._heard_s = time.monotonic()
        self._has_news = threading.Event()

    def hear(self) -> None:
        self._heard_s = time.monotonic()

    def begin(self, epoch_ns: int) -> None:
        self._epoch_ns = epoch_ns
        self._has_news.set()

    def stop(self) -> None:
        self._is_stopped = True
        self._has_news.set()

    def arrive(self) -> None:
        self.state = MemberState.ARRIVED

    def epoch_ns(self) -> int:
        while not self.is_stopped():
            if self._epoch_ns is not None:
                return self._epoch_ns
            self._has_news.wait(_LOOK_S)
        raise GivenUpError

    def is_stopped(self) -> bool:
        return self._is_stopped or self.is_forgotten()

    def is_forgotten(self) -> bool:
        return time.monotonic() - self._heard_s > SILENCE_S


# By the key of the task. A process that Dask has restarted in place of a lost one knows none,
# so it does not repeat the work of the lost one.
_members: dict[str, _Member] = {}


def network() -> str:
    """Name the network of this process: processes with one name share the address 127.0.0.1."""
    machine = os.uname().nodename
    with suppress(OSError):
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    with suppress(OSError):
        machine += f" {Path('/proc/self/ns/net').readlink()}"
    return machine


def describe(driver: str) -> Facts:
    """Say whether this process can use a driver."""
    problem = ""
    try:
        registry.find(driver)
    except TargetError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way
        problem = text_of(error)
    return Facts(network(), problem)


def prepare(key: str, sealed: Sealed) -> None:
    """Take in what a group of a launch shall do; its task then does it."""
    for old in [old for old, member in _members.items() if member.is_forgotten()]:
        del _members[old]
    _members[key] = _Member(sealed)


def state(key: str) -> MemberState | None:
    """Say how far the group has come; None if this process does not know it."""
    member = _members.get(key)
    if member is None:
        return None
    member.hear()
    return member.state


def begin(key: str, epoch_ns: int) -> int:
    """Open the gate; return what time it is here."""
    member = _members.get(key)
    if member is not None:
        member.begin(epoch_ns)
    return time.perf_counter_ns()


def stop(key: str) -> None:
    """Give the launch up."""
    member = _members.get(key)
    if member is not None:
        member.stop()


def forget(key: str) -> None:
    """Give the launch up, and keep nothing of it."""
    stop(key)
    _members.pop(key, None)


def work(key: str) -> MemberOutcome:
    """Run the group; this is the task, in a thread of its own."""
    member = _members.get(key)
    if member is None or member.state is not MemberState.WAITING:
        return MemberOutcome(None, "its process was restarted")
    member.state = MemberState.OPENING
    try:
        parcel = pickle.loads(member.sealed.content)  # noqa: S301 - our generator has sent it
        with unpacked(parcel) as launch:
            return MemberOutcome(run_workers(launch, parcel.workers, member))
    except GivenUpError:
        return MemberOutcome(None)
    except TargetError as error:
        return MemberOutcome(None, str(error))
    except Exception as error:  # noqa: BLE001 - it is told to the generator
        return MemberOutcome(None, text_of(error))
    finally:
        member.state = MemberState.ENDED
        if member.is_forgotten():
            forget(key)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer.

    Attributes:
        asked_ns: when the question left, by the clock here.
        there_ns: what the clock there showed in between.
        answered_ns: when the answer came, by the clock here.
    """

    asked_ns: int
    there_ns: int
    answered_ns: int


@dataclass(frozen=True, slots=True)
class Offset:
    """How far a clock is ahead of the one here.

    Attributes:
        error_ns: how far the offset may be off, at most.
    """

    offset_ns: int
    error_ns: int


def offset_of(exchanges: Iterable[Exchange]) -> Offset:
    """Estimate the offset from one or more exchanges, which follow each other at once.

    The clock there was read between question and answer, so each exchange says between which bounds
    the offset is. It is in the middle of the tightest ones; a short round trip makes them tight.
    """
    bounds = [(one.there_ns - one.answered_ns, one.there_ns - one.asked_ns) for one in exchanges]
    low_ns, high_ns = max(low for low, _ in bounds), min(high for _, high in bounds)
    # Rounded up, so that the bound holds. Clocks that drift fast may even swap the bounds.
    return Offset((low_ns + high_ns) // 2, (abs(high_ns - low_ns) + 1) // 2)


def over_launch(before: Offset, after: Offset) -> Offset:
    """The offset from before a launch, with the error that it may have had by the end.

    Clocks drift apart, so the second estimate may move the bound, but never below the first one.
    """
    moved_ns = abs(after.offset_ns - before.offset_ns)
    return Offset(before.offset_ns, max(before.error_ns, moved_ns + after.error_ns))
