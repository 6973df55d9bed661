"""The threads of a group of workers: they open their connections, work, and close them."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from benchgate.load import streams
from benchgate.load.drivers.driver import TargetError
from benchgate.load.schedule import share_of
from benchgate.load.worker import Control, Timing, Worker, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.load.drivers.driver import Connection
    from benchgate.load.launch import Launch
    from benchgate.load.plan import Plan
    from benchgate.load.recording import Recorder

CLOSE_S = 5.0
"""How long connections have to close, and interrupted operations to end."""

# Servers refuse connections that come all at once.
_OPENED_AT_ONCE = 32

# Hundreds of threads that wake at once keep each other from Python's lock for seconds.
_WOKEN_AT_ONCE = 16
_WAKING_S = 0.001


@dataclass(slots=True)
class Member:
    """A worker and its thread.

    Attributes:
        problem: why its connection could not be opened.
        crash: what ended it that should not have.
    """

    index: int
    thread: threading.Thread | None = None
    connection: Connection | None = None
    worker: Worker | None = None
    problem: TargetError | None = None
    crash: str | None = None
    may_work: threading.Event = field(default_factory=threading.Event)
    has_opened: threading.Event = field(default_factory=threading.Event)
    has_worked: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class _Work:
    plan: Plan
    recorder: Recorder
    takes: tuple[Callable[[], int], Callable[[], int]]


class Crew:
    """The workers of a group, each in a thread of its own.

    The threads are daemons: one that hangs in its driver does not keep the process alive.
    """

    def __init__(
        self, launch: Launch, indices: Sequence[int], timing: Timing | None = None
    ) -> None:
        self.control = Control()
        self.members = [Member(index) for index in indices]
        self._launch = launch
        self._timing = timing or Timing()
        self._opening = threading.Semaphore(_OPENED_AT_ONCE)
        self._work: _Work | None = None

    def start(self) -> None:
        """Begin to open all connections."""
        for member in self.members:
            name = f"worker {member.index}"
            member.thread = threading.Thread(
                target=self._live, args=(member,), name=name, daemon=True
            )
            member.thread.start()

    def is_open(self, timeout_s: float) -> bool:
        """Wait until all connections are open.

        Raises:
            TargetError: one cannot be opened.
        """
        waiting = [member for member in self.members if not member.has_opened.is_set()]
        if waiting:
            waiting[0].has_opened.wait(timeout_s)
        for member in self.members:
            if member.problem is not None:
                raise member.problem
        return all(member.has_opened.is_set() for member in self.members)

    def work(self, plan: Plan, recorder: Recorder) -> None:
        """Let all workers work by that plan."""
        indices = [member.index for member in self.members]
        workers = self._launch.scenario.most_workers

        def taking() -> Callable[[], int]:
            following = count().__next__
            return lambda: share_of(indices, workers, following())

        self._work = _Work(plan, recorder, (taking(), taking()))
        for number, member in enumerate(self.members, 1):
            member.may_work.set()
            if number % _WOKEN_AT_ONCE == 0:
                self._timing.sleep_s(_WAKING_S)

    def take(self) -> int:
        """Give the index of the next operation in the measured time, as the workers do."""
        if self._work is None:
            raise ValueError("nobody works yet")
        return self._work.takes[1]()

    def has_worked(self, timeout_s: float) -> bool:
        """Wait until all workers have ended."""
        unfinished = self._unfinished()
        if unfinished:
            unfinished[0].has_worked.wait(timeout_s)
        return not self._unfinished()

    def stop(self) -> list[Member]:
        """End what still works; return the members that do not end."""
        self.control.stop()
        for member in self.members:
            member.may_work.set()
        for member in self._unfinished():
            if member.connection is not None:
                with suppress(Exception):  # the code of a driver; it is only asked to hurry
                    member.connection.interrupt()
        deadline_ns = self._timing.now_ns() + round(CLOSE_S * 1e9)
        for member in self.members:
            if member.thread is not None:
                left_s = (deadline_ns - self._timing.now_ns()) / 1e9
                member.thread.join(max(left_s, 0.0))
        return [one for one in self.members if one.thread is not None and one.thread.is_alive()]

    def _unfinished(self) -> list[Member]:
        return [member for member in self.members if not member.has_worked.is_set()]

    def _live(self, member: Member) -> None:
        try:
            self._open(member)
            member.has_opened.set()
            member.may_work.wait()
            if member.worker is not None and self._work is not None:
                work = self._work
                member.worker.run(work.plan, work.recorder, work.takes)
        except Exception as error:  # noqa: BLE001 - a mistake must be told, not end a thread unseen
            member.crash = self._launch.conceal(text_of(error))
        finally:
            member.has_opened.set()
            member.has_worked.set()
            if member.connection is not None:
                with suppress(Exception):  # it was used to the end
                    member.connection.close()

    def _open(self, member: Member) -> None:
        try:
            with self._opening:
                if self.control.is_stopped:
                    return
                member.connection = self._launch.driver.connect(member.index)
            operations = member.connection.operations()
        except TargetError as error:
            member.problem = error
            return
        except Exception as error:  # noqa: BLE001 - a driver may fail in any way
            member.problem = TargetError(self._launch.conceal(f"cannot connect: {text_of(error)}"))
            return
        order, scenario = self._launch.order, self._launch.scenario
        seed, workers = scenario.experiment.seed, scenario.most_workers
        member.worker = Worker(
            member.index,
            operations,
            [
                streams.parameters(
                    step, seed=seed, iteration=order.round, worker=member.index, workers=workers
                )
                for step in scenario.steps
            ],
            streams.choices(scenario.steps, seed=seed, iteration=order.round, worker=member.index),
            control=self.control,
            timing=self._timing,
            conceal=self._launch.conceal,
            workers=len(self.members),
        )
