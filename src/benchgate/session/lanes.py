"""Measures parts of a round at the same time, each in a lane: on a CPU of its own, if there is one.

A lane is a thread of benchgate and the workers that it gives turns to, all bound to one CPU. So
handing over a turn wakes no other CPU, and what one lane measures competes with another lane only
for what CPUs share: memory and its caches.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Self, TypeAlias

from benchgate.measure.machine import can_bind_to, moved_to

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from benchgate.measure.contract import Observation, Task


if TYPE_CHECKING:
    Timed: TypeAlias = tuple[Observation, float]
    # A benchmark that begins; what was measured; the end of a lane, and what ended it too early.
    _Report: TypeAlias = str | Timed | BaseException | None


class Lanes:
    """Runs tasks in as many lanes as there are.

    Args:
        cpus: one for each lane; tasks that run alone use the first. None: any CPU.
        clock: seconds, never going backwards; is read by several threads.
    """

    def __init__(self, cpus: Sequence[int | None], clock: Callable[[], float]) -> None:
        self._cpus = cpus
        self._clock = clock

    def measure(
        self, tasks: Sequence[Task], starting: Callable[[str], None], lanes: int
    ) -> Generator[Timed]:
        """Run tasks; close the iterator if it is not used up, which ends them.

        Args:
            starting: called with the id of each benchmark before it is measured.
            lanes: how many tasks may run at the same time. Those that must run alone run last.

        Yields:
            What a task has yielded, and the part of the round's time in seconds that it cost: of
            lanes that ran at the same time, each counts its share.
        """
        shared = [task for task in tasks if task.halt]
        alone = [task for task in tasks if not task.halt]
        lanes = min(lanes, len(self._cpus), len(shared))
        if lanes > 1:
            with _Crew(shared, self._cpus[:lanes], self._clock) as crew:
                for report in crew.reports():
                    if isinstance(report, str):
                        starting(report)
                    else:
                        yield report
            shared = crew.left()
        for task in (*shared, *alone):
            yield from _timed(task, self._cpus[0], starting, self._clock)


class _Crew:
    """The threads of some lanes, in a `with` block, at whose end all of them have ended."""

    def __init__(
        self, tasks: Sequence[Task], cpus: Sequence[int | None], clock: Callable[[], float]
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._waiting: SimpleQueue[Task] = SimpleQueue()
        self._reports: SimpleQueue[_Report] = SimpleQueue()
        self._is_over = False
        self._working = 0
        self._threads = [
            Thread(target=self._work, args=(number, cpu), name=f"lane {number}", daemon=True)
            for number, cpu in enumerate(cpus)
        ]
        for task in tasks:
            self._waiting.put(task)

    def __enter__(self) -> Self:
        for number, thread in enumerate(self._threads):
            try:
                thread.start()
            except RuntimeError:  # the system allows no more of them; those that run do the work
                del self._threads[number:]
                break
        self._working = len(self._threads)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        # A thread that has reported its end may live a moment longer; to halt then would end the
        # workers of later rounds.
        for task in self._tasks:
            if task.halt and self._working:
                task.halt()
        for thread in self._threads:
            if thread.ident:  # it was started
                thread.join()

    def reports(self) -> Iterator[str | Timed]:
        """Wait for what the lanes report, until all of them have ended."""
        while self._working:
            report = self._next()
            if isinstance(report, str | tuple):
                yield report
                continue
            self._working -= 1
            if report:
                raise report

    def _next(self) -> _Report:
        """Wait for a report.

        Raises:
            MemoryError: all lanes have ended, and the last one could not even say why.
        """
        while True:
            is_living = any(thread.is_alive() for thread in self._threads)
            with suppress(Empty):
                return self._reports.get(timeout=_LOOK_S if is_living else 0)
            if not is_living:
                raise MemoryError

    def left(self) -> list[Task]:
        """The tasks that no lane has begun, because it lost its CPU or could not start."""
        found = []
        with suppress(Empty):
            while True:
                found.append(self._waiting.get_nowait())
        return found

    def _work(self, number: int, cpu: int | None) -> None:
        """Run what is waiting, in a thread of its own."""
        error: BaseException | None = None
        try:
            with suppress(Empty):
                while not self._is_over and can_bind_to(cpu):
                    self._run(self._waiting.get_nowait(), number, cpu)
        except BaseException as caught:  # noqa: BLE001 - raised again in the main thread
            error = caught
        self._reports.put(error)

    def _run(self, task: Task, number: int, cpu: int | None) -> None:
        with moved_to(cpu):
            for observation, took_s in _timed(task, cpu, self._reports.put, self._clock):
                if self._is_over:
                    return
                placed = replace(observation, lane=number)
                self._reports.put((placed, took_s / len(self._threads)))


def _timed(
    task: Task, cpu: int | None, starting: Callable[[str], None], clock: Callable[[], float]
) -> Iterator[Timed]:
    """Run a task; add to each observation how long it took, in seconds."""
    started_s = clock()
    for observation in task.run(cpu, starting):
        now_s = clock()
        yield observation, max(0.0, now_s - started_s - observation.once_s)
        started_s = now_s


_LOOK_S = 1.0
