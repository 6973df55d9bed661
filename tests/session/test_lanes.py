from __future__ import annotations

import os
import resource
import threading
import time
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import Task, ignore
from benchgate.measure.contract.observation import Observation
from benchgate.measure.machine.address_space import require_address_space
from benchgate.measure.machine.cpus import available_cpus
from benchgate.session import lanes
from benchgate.session.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANY = (None, None)


class Clock:
    """Counts its calls, as seconds."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def __call__(self) -> float:
        self._now_s += 1
        return self._now_s


@dataclass
class Work:
    """A task that observes itself `times` times, and then does what `then` says."""

    name: str
    times: int = 1
    then: Callable[[], object] = lambda: None
    cpus: list[int | None] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    halted: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self, cpu: int | None, starting: Callable[[str], None]) -> Iterator[Observation]:
        self.cpus.append(cpu)
        self.threads.add(threading.get_ident())
        starting(self.name)
        try:
            for _ in range(self.times):
                yield Observation(ArmName.HEAD, self.name, 0, once_s=0.25)
            self.then()
        finally:
            self.ended.set()

    def task(self, *, shared: bool = True) -> Task:
        return Task((self.name,), self.run, self.halted.set if shared else None)


def names(measured: list[tuple[Observation, float]]) -> Counter[str]:
    return Counter(one.benchmark for one, _ in measured)


def test_one_lane_measures_in_order_without_threads() -> None:
    works = [Work("a"), Work("b", times=2)]
    started: list[str] = []
    lanes = Lanes([7], Clock())
    measured = list(lanes.measure([work.task() for work in works], started.append, 2))
    assert [one.benchmark for one, _ in measured] == ["a", "b", "b"]
    assert started == ["a", "b"]
    assert {one.lane for one, _ in measured} == {None}
    assert [took_s for _, took_s in measured] == [0.75, 0.75, 0.75]
    assert works[0].threads == works[1].threads == {threading.get_ident()}
    assert works[0].cpus == [7]


def test_two_tasks_run_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=30)
    works = [Work("a", then=together.wait), Work("b", then=together.wait)]
    started: list[str] = []
    measured = list(Lanes(ANY, Clock()).measure([w.task() for w in works], started.append, 2))
    assert names(measured) == {"a": 1, "b": 1}
    assert sorted(started) == ["a", "b"]
    assert {one.lane for one, _ in measured} == {0, 1}
    assert works[0].threads.isdisjoint(works[1].threads)
    assert not any(work.halted.is_set() for work in works)


class Lingering(threading.Thread):
    """A thread that lives a moment longer than what it runs."""

    def run(self) -> None:
        super().run()
        time.sleep(0.1)


def test_a_lane_that_has_ended_is_not_halted_while_its_thread_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "Thread", Lingering)
    works = [Work("a"), Work("b")]
    measured = list(Lanes(ANY, Clock()).measure([w.task() for w in works], ignore, 2))
    assert names(measured) == {"a": 1, "b": 1}
    # Whoever is halted would start no more workers, in any later round.
    assert not any(work.halted.is_set() for work in works)


def test_what_lanes_measure_together_shares_the_time() -> None:
    began, ended = threading.Barrier(2, timeout=30), threading.Barrier(2, timeout=30)
    readings = iter([0.0, 0.0, 8.25, 8.25])

    class Together(Work):
        def run(self, cpu: int | None, starting: Callable[[str], None]) -> Iterator[Observation]:
            began.wait()
            yield from super().run(cpu, starting)
            ended.wait()

    works = [Together("a"), Together("b")]
    lanes = Lanes(ANY, lambda: next(readings))
    measured = list(lanes.measure([work.task() for work in works], ignore, 2))
    assert [took_s for _, took_s in measured] == [4.0, 4.0]


def test_more_tasks_than_lanes_all_run() -> None:
    works = [Work(str(number), times=number % 3 + 1) for number in range(20)]
    measured = list(Lanes([None] * 3, Clock()).measure([w.task() for w in works], ignore, 3))
    assert names(measured) == {work.name: work.times for work in works}


def test_fewer_lanes_may_be_used_than_there_are() -> None:
    works = [Work("a"), Work("b")]
    measured = list(Lanes(ANY, Clock()).measure([w.task() for w in works], ignore, 1))
    assert {one.lane for one, _ in measured} == {None}


def test_what_must_run_alone_runs_last_and_alone() -> None:
    works = [Work("alone"), Work("a"), Work("b")]
    tasks = [works[0].task(shared=False), works[1].task(), works[2].task()]
    measured = list(Lanes([3, 4], Clock()).measure(tasks, ignore, 2))
    assert measured[-1][0].benchmark == "alone"
    assert measured[-1][0].lane is None
    assert works[0].cpus == [3]
    assert works[0].threads == {threading.get_ident()}


def test_each_lane_stays_on_its_cpu() -> None:
    cpus = sorted(available_cpus())[:2]
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    together = threading.Barrier(2, timeout=30)
    seen: dict[str, set[int | None]] = {}

    def look(name: str) -> None:
        together.wait()
        seen[name] = set(os.sched_getaffinity(0))

    works = [Work("a", then=lambda: look("a")), Work("b", then=lambda: look("b"))]
    before = os.sched_getaffinity(0)
    list(Lanes(cpus, Clock()).measure([w.task() for w in works], ignore, 2))
    assert {cpu for each in seen.values() for cpu in each} == set(cpus)
    assert {work.name: set(work.cpus) for work in works} == seen
    assert os.sched_getaffinity(0) == before


def test_a_lane_without_its_cpu_leaves_the_work_to_the_others() -> None:
    (cpu, *_) = sorted(available_cpus())
    works = [Work(str(number)) for number in range(4)]
    measured = list(Lanes([cpu, 4095], Clock()).measure([w.task() for w in works], ignore, 2))
    assert names(measured) == dict.fromkeys("0123", 1)
    assert {one.lane for one, _ in measured} == {0}


def test_if_no_lane_has_its_cpu_all_is_measured_without_lanes() -> None:
    works = [Work("a"), Work("b")]
    measured = list(Lanes([4095, 4094], Clock()).measure([w.task() for w in works], ignore, 2))
    assert names(measured) == {"a": 1, "b": 1}
    assert {one.lane for one, _ in measured} == {None}


@pytest.mark.parametrize(("allowed", "used"), [(0, {None}), (1, {0}), (2, {0, 1})])
def test_as_many_lanes_are_used_as_the_system_allows_threads(
    monkeypatch: pytest.MonkeyPatch, allowed: int, used: set[int | None]
) -> None:
    together = threading.Barrier(2, timeout=30)
    started: list[str] = []

    class Limited(threading.Thread):
        def start(self) -> None:
            if len(started) == allowed:
                raise RuntimeError("can't start new thread")
            started.append(self.name)
            super().start()

    monkeypatch.setattr(lanes, "Thread", Limited)
    works = [Work(name, then=together.wait if allowed > 1 else lambda: None) for name in "ab"]
    measured = list(Lanes(ANY, Clock()).measure([w.task() for w in works], ignore, 2))
    assert names(measured) == {"a": 1, "b": 1}
    assert {one.lane for one, _ in measured} == used


def test_an_error_in_a_lane_ends_all_and_is_raised() -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    other = Work("b", times=10**9)
    tasks = [Work("a", then=fail).task(), other.task()]
    with pytest.raises(RuntimeError, match="broken"):
        list(Lanes(ANY, Clock()).measure(tasks, ignore, 2))
    assert other.halted.is_set()
    assert other.ended.is_set()


@pytest.mark.parametrize("is_said", [True, False])
def test_memory_that_is_refused_in_a_lane_ends_the_round(
    monkeypatch: pytest.MonkeyPatch,
    is_said: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """Even if the lane lacks the memory to say so."""

    def fail() -> None:
        raise MemoryError

    if not is_said:
        monkeypatch.setattr("benchgate.session.lanes._Crew._work", lambda *_: None)
    tasks = [Work("a", then=fail).task(), Work("b", then=fail).task()]
    with pytest.raises(MemoryError):
        list(Lanes(ANY, Clock()).measure(tasks, ignore, 2))


@pytest.mark.parametrize(
    ("limit", "is_refused"),
    [(resource.RLIM_INFINITY, False), (384 << 20, False), (300_000 << 10, True)],
)
def test_too_little_address_space_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    is_refused: bool,  # noqa: FBT001 - a column of the table
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    said = (
        pytest.raises(UsageError, match="may use 292 MiB of address space")
        if is_refused
        else (nullcontext())
    )
    with said:
        require_address_space()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_of_the_caller_ends_all(error: type[BaseException]) -> None:
    works = [Work("a", times=10**9), Work("b", times=10**9)]
    lanes = Lanes(ANY, Clock()).measure([w.task() for w in works], ignore, 2)
    next(lanes)
    with pytest.raises(error):
        lanes.throw(error)
    assert all(work.ended.is_set() and work.halted.is_set() for work in works)


def test_what_waits_for_its_processes_is_halted() -> None:
    waiting = Work("b")
    waiting.then = waiting.halted.wait
    tasks = [Work("a", times=10**9).task(), waiting.task()]
    with closing(Lanes(ANY, Clock()).measure(tasks, ignore, 2)) as measured:
        while next(measured)[0].benchmark != "b":
            pass
    assert waiting.ended.is_set()
