"""Runs the groups of a launch on a Dask cluster: one group on each of its workers.

The generator talks to the workers of the cluster by short calls: what a group shall do, how far it
is, when it begins, that it shall stop. So the scheduler keeps nothing of a launch but its tasks,
and no secret is among their arguments. A group is a task, so that Dask gives its worker no other
task meanwhile, and does not take the worker away.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import time
import uuid
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

import benchgate
from benchgate.load.cluster import member
from benchgate.load.cluster.connection import (
    ClusterError,
    Deadlines,
    connected,
    facts_problems,
    installed_problems,
    network_problems,
    require_none,
    spread,
    version_problems,
    why,
)
from benchgate.load.cluster.member import (
    Exchange,
    Facts,
    MemberOutcome,
    MemberState,
    Offset,
    Sealed,
    offset_of,
    over_launch,
    parcel_of,
)
from benchgate.load.group import GRACE_S, EndedGroup, GivenUpError, GroupRecord
from benchgate.load.processes import shares
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from distributed import Future

    from benchgate.load.cluster.connection import ClusterConnection
    from benchgate.load.launch import ProcessLaunch


_LOOK_S = 0.1
_LOOK_WHILE_MEASURED_S = 0.25
_EXCHANGES = 50
_EXCHANGES_S = 0.3
_LEAST_LEAD_NS = 300_000_000
_LEAD_TRIPS = 20
_UNSURE_NS = 1_000_000
_NOT_KNOWN = Offset(0, 0)


@dataclass(slots=True)
class _Group:
    """A group of workers on one worker of the cluster.

    Attributes:
        key: of its task; also what the worker of the cluster knows it by.
        heard_s: when it last answered.
        lost: why it will not end any more.
    """

    key: str
    place: str
    workers: tuple[int, ...]
    heard_s: float = field(default_factory=time.monotonic)
    state: MemberState = MemberState.WAITING
    task: Future[MemberOutcome] | None = None
    before: Offset = _NOT_KNOWN
    after: Offset | None = None
    outcome: MemberOutcome | None = None
    lost: str | None = None

    @property
    def record(self) -> GroupRecord | None:
        """What it recorded, once it has ended."""
        return None if self.outcome is None else self.outcome.record


class Coordinator:
    """One launch on a cluster.

    Args:
        places: the addresses of the workers of the cluster; the first ones are used.
    """

    def __init__(
        self,
        connection: ClusterConnection,
        launch: ProcessLaunch,
        places: Sequence[str],
        deadlines: Deadlines,
    ) -> None:
        dealt = shares(launch.scenario.most_workers, len(places))
        self._groups = [
            _Group(f"benchgate-{uuid.uuid4().hex}", *one)
            for one in zip(places, dealt, strict=False)  # there may be more places than workers
        ]
        self._connection = connection
        self._launch = launch
        self._deadlines = deadlines

    async def run(self, environ: Mapping[str, str]) -> tuple[EndedGroup, ...]:
        """Run all groups.

        Args:
            environ: the variables that the scenario may name.

        Raises:
            ClusterError: a group cannot begin, or the scheduler is gone.
        """
        try:
            for group in self._groups:
                group.before = await self._offset(group.place)
            await self._prepare(environ)
            await self._until_arrived()
            end_s = await self._begin()
            await self._until_over(end_s)
            for group in self._groups:
                if group.record is not None:
                    group.after = await self._offset(group.place)
        finally:
            await self._clean_up()
        self._note_unsure_start()
        gone = next((group.place for group in self._groups if group.lost is not None), "")
        return tuple(_ended(group, gone) for group in self._groups)

    def _note_unsure_start(self) -> None:
        """Say it if the clocks could not be compared well enough for a common start."""
        errors_ns = sorted(group.before.error_ns for group in self._groups)
        record = self._groups[0].record
        if record is not None and errors_ns[-1] > _UNSURE_NS:
            apart = format_value(sum(errors_ns[-2:]) / 1e9, "s")
            note = (
                f"workers of the cluster may have begun up to {apart} apart, because its network is"
                " too slow or too busy to compare the clocks better"
            )
            record.notes = (*record.notes, note)

    async def _offset(self, place: str) -> Offset:
        """Compare the clock of a worker of the cluster with the one here."""
        exchanges: list[Exchange] = []
        end_s = time.monotonic() + _EXCHANGES_S
        while len(exchanges) < _EXCHANGES and (time.monotonic() < end_s or not exchanges):
            asked_ns = time.perf_counter_ns()
            there_ns = await self._connection.ask(place, time.perf_counter_ns)
            answered_ns = time.perf_counter_ns()
            if isinstance(there_ns, Exception):
                raise ClusterError(f"{place} did not tell the time: {why(there_ns)}")
            exchanges.append(Exchange(asked_ns, there_ns, answered_ns))
        return offset_of(exchanges)

    async def _prepare(self, environ: Mapping[str, str]) -> None:
        for group in self._groups:
            parcel = pickle.dumps(parcel_of(self._launch, environ, group.workers))
            answer = await self._connection.ask(
                group.place, member.prepare, group.key, Sealed(parcel)
            )
            if isinstance(answer, Exception):
                raise ClusterError(f"{group.place} did not take the scenario: {why(answer)}")
        for group in self._groups:
            group.task = self._connection.submit(group.place, group.key, member.work, group.key)

    async def _until_arrived(self) -> None:
        begun_s = time.monotonic()
        while any(group.state is not MemberState.ARRIVED for group in self._groups):
            await self._look(_LOOK_S)
            passed_s = time.monotonic() - begun_s
            for group in self._groups:
                if group.lost is not None:
                    raise ClusterError(f"{group.place} was lost before the load: {group.lost}")
                if group.state is MemberState.WAITING and passed_s > self._deadlines.begin_s:
                    raise ClusterError(
                        f"{group.place} did not begin within {self._deadlines.begin_s:g} s;"
                        " it may be busy with other tasks"
                    )
                if group.state is MemberState.OPENING and passed_s > self._deadlines.open_s:
                    raise ClusterError(
                        f"{group.place} did not open its connections to the target within"
                        f" {self._deadlines.open_s:g} s"
                    )

    async def _begin(self) -> float:
        """Tell all groups when to begin; return when they must have ended, on the clock here."""
        error_ns = max(group.before.error_ns for group in self._groups)
        lead_ns = max(_LEAST_LEAD_NS, 2 * _LEAD_TRIPS * error_ns)
        epoch_ns = time.perf_counter_ns() + lead_ns
        answers = await asyncio.gather(
            *(
                self._connection.ask(
                    group.place, member.begin, group.key, epoch_ns + group.before.offset_ns
                )
                for group in self._groups
            )
        )
        for group, answer in zip(self._groups, answers, strict=True):
            if isinstance(answer, Exception):
                raise ClusterError(f"{group.place} was not told when to begin: {why(answer)}")
            if answer >= epoch_ns + group.before.offset_ns:
                raise ClusterError(f"{group.place} was told too late when to begin")
        load, duration_s = self._launch.scenario.load, self._launch.scenario.duration_s
        planned_s = lead_ns / 1e9 + load.warmup_s + duration_s
        return time.monotonic() + planned_s + GRACE_S + self._deadlines.end_s

    async def _until_over(self, end_s: float) -> None:
        """Wait for all groups; if one is lost, the others are not needed any more."""
        while any(group.record is None for group in self._groups):
            await self._look(_LOOK_WHILE_MEASURED_S)
            if time.monotonic() > end_s:
                for group in self._groups:
                    if group.record is None:
                        group.lost = "it did not end after the measured time"
            if any(group.lost is not None for group in self._groups):
                return

    async def _look(self, pause_s: float) -> None:
        """Wait a little, and see how far the groups are."""
        await asyncio.sleep(pause_s)
        there = await self._connection.workers()
        going = [group for group in self._groups if group.outcome is None]
        for group in going:
            if group.place not in there:
                group.lost = "its process was killed, or its network is gone"
        await asyncio.gather(*(self._look_at(group) for group in going if group.lost is None))

    async def _look_at(self, group: _Group) -> None:
        if group.task is not None and group.task.done():
            await self._take(group, group.task)
            return
        answer = await self._connection.ask(group.place, member.state, group.key)
        if isinstance(answer, MemberState):
            group.state, group.heard_s = answer, time.monotonic()
        elif answer is None:
            group.lost = "its process was restarted"
        elif time.monotonic() - group.heard_s > self._deadlines.silent_s:
            group.lost = f"it has not answered for {self._deadlines.silent_s:g} s: {why(answer)}"

    async def _take(self, group: _Group, task: Future[MemberOutcome]) -> None:
        if task.status != "finished":
            group.lost = f"Dask ended its task: {task.status}"
            return
        result: Any = task.result()  # a coroutine, as the client is asynchronous
        try:
            outcome: MemberOutcome = await asyncio.wait_for(result, self._deadlines.end_s)
        except Exception as error:  # noqa: BLE001 - Dask raises much
            group.lost = f"its results did not arrive: {why(error)}"
            return
        group.outcome = outcome
        if outcome.problem:
            raise ClusterError(f"{group.place}: {outcome.problem}")
        if outcome.record is None:
            group.lost = "it gave up, because it heard nothing from the load generator"

    async def _clean_up(self) -> None:
        """Let all groups end, and leave nothing in the cluster."""
        there = [group for group in self._groups if group.lost is None]
        await self._tell(there, member.stop)
        running = [group.task for group in there if group.task is not None]
        await self._connection.wait(running, self._deadlines.stop_s)
        tasks = [group.task for group in self._groups if group.task is not None]
        await self._connection.cancel(tasks)
        await self._tell(there, member.forget)

    async def _tell(self, groups: Sequence[_Group], what: Callable[[str], None]) -> None:
        asking = (self._connection.ask(group.place, what, group.key) for group in groups)
        await asyncio.gather(*asking)


def _ended(group: _Group, gone: str) -> EndedGroup:
    """Describe a group; without a record it was lost, or stopped because another one was."""
    offset = over_launch(group.before, group.after) if group.after else group.before
    record = group.record
    return EndedGroup(
        place=group.place,
        workers=len(group.workers),
        record=record,
        lost=None if record else group.lost or f"stopped, because {gone} was lost",
        clock_offset_s=offset.offset_ns / 1e9,
        clock_error_s=offset.error_ns / 1e9,
    )


T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def call_roll(
    connection: ClusterConnection, driver: str, address: str, import_s: float
) -> list[str]:
    """Return the addresses of all workers that the cluster has now, in the order to use them.

    Args:
        driver: its name.
        address: the target's URL or DSN; "" if it has none.
        import_s: how long a worker of the cluster may take to import benchgate.

    Raises:
        ClusterError: there is none, or one of them cannot load the target.
    """
    places = spread(await connection.workers())
    if not places:
        raise ClusterError(f"the cluster {connection.address} has no workers")
    require_none(version_problems(await connection.versions()))
    installed = await _ask_all(connection, places, metadata.version, "benchgate")
    require_none(installed_problems(installed, benchgate.__version__))
    facts = await _ask_all(connection, places, member.describe, driver, within_s=import_s)
    require_none(facts_problems(facts))
    described = {place: one for place, one in facts.items() if isinstance(one, Facts)}
    require_none(network_problems(address, described, member.network()))
    return places


async def _ask_all(
    connection: ClusterConnection,
    places: Sequence[str],
    function: Callable[[*Ts], T],
    *args: *Ts,
    within_s: float | None = None,
) -> dict[str, T | Exception]:
    answers = await asyncio.gather(
        *(connection.ask(place, function, *args, within_s=within_s) for place in places)
    )
    return dict(zip(places, answers, strict=True))


_CLEAN_UP_S = 30.0


def run_on_cluster(
    launch: ProcessLaunch, is_stopped: Callable[[], bool], deadlines: Deadlines | None = None
) -> tuple[EndedGroup, ...]:
    """Run a group of workers on each worker that the cluster has, and wait for them.

    Args:
        is_stopped: whether a signal has come; asked a few times a second.

    Returns:
        All groups. If one is lost, the others are stopped, and have no record either.

    Raises:
        ClusterError: the cluster cannot load the target.
        GivenUpError: a signal has come.
    """
    try:
        return asyncio.run(_stoppable(_run(launch, deadlines or Deadlines()), is_stopped))
    except ClusterError as error:
        raise ClusterError(launch.conceal(str(error))) from None


async def _stoppable(work: Coroutine[Any, Any, T], is_stopped: Callable[[], bool]) -> T:
    """Carry out work; when it is stopped, it is cancelled, which lets it clean up."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait([task], timeout=_LOOK_S)
        if is_stopped():
            task.cancel()
            # Once may not be enough: `asyncio.wait_for` can overlook it.
            await asyncio.wait([task], timeout=_CLEAN_UP_S)
    if task.cancelled():
        raise GivenUpError
    return task.result()


async def _run(launch: ProcessLaunch, deadlines: Deadlines) -> tuple[EndedGroup, ...]:
    scenario = launch.scenario
    target = scenario.target(launch.order.target)
    written = str(getattr(target, "url", None) or getattr(target, "dsn", None) or "")
    address = launch.driver.place.expand(written)
    async with connected(scenario.load.cluster or "", deadlines) as connection:
        places = await call_roll(connection, target.driver, address, deadlines.import_s)
        return await Coordinator(connection, launch, places, deadlines).run(os.environ)
