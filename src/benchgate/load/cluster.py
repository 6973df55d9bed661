"""Runs the groups of workers of a launch on a Dask cluster: one group on each of its workers.

A group is a task, so that Dask gives its worker no other task meanwhile, and does not take the
worker away. All else are short calls: what a group shall do, how far it is, when it begins, that it
shall stop. So the scheduler keeps nothing of a launch but its tasks, and no secret is among their
arguments. A worker of the cluster outlives launches, and belongs to the user: nothing raises there,
because Dask would write the arguments and the traceback into the worker's log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
import uuid
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from benchgate.load.drivers.driver import TargetError
from benchgate.load.group import GRACE_S, EndedGroup, GivenUpError, GroupRecord, run_workers
from benchgate.load.launch import parcel_of, unpacked
from benchgate.load.processes import shares
from benchgate.load.worker import text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

    from distributed import Future

    from benchgate.load.launch import Parcel, ProcessLaunch

SILENCE_S = 30.0
"""A group gives up if it hears nothing from the generator for this long."""

_LOOK_S = 0.1
_LOOK_WHILE_MEASURED_S = 0.25
_LEAST_LEAD_NS = 700_000_000
_LEAD_ERRORS = 40
_IMPORT_S = 60.0
_LOOPBACK = re.compile(r"(?:.+\.)?localhost|127\.[\d.]+|\[::1\]|/.*|")
_HOST = re.compile(r"://(?:[^/]*@)?(\[[^]]*\]|[^:/?]*)|\bhost(?:addr)?\s*=\s*'?([^\s';&]*)")


class ClusterError(TargetError):
    """The cluster cannot load the target. One line, without passwords."""


class _LostError(Exception): ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the generator waits; tests wait less."""

    connect_s: float = 10.0
    answer_s: float = 5.0
    silent_s: float = 15.0  # then a worker of the cluster counts as lost
    begin_s: float = 120.0  # to begin the task, and to open all connections
    end_s: float = 20.0  # after the operations must have ended
    stop_s: float = 8.0


class _Member:
    """A group in a worker of the cluster, and its gate."""

    WAITING, OPENING, ARRIVED = "waiting", "opening", "arrived"

    def __init__(self, parcel: Parcel) -> None:
        self.parcel = parcel
        self.state = self.WAITING
        self.begin_ns: int | None = None
        self.is_given_up = False
        self.heard_s = time.monotonic()

    def arrive(self) -> None:
        self.state = self.ARRIVED

    def epoch_ns(self) -> int:
        while not self.is_stopped():
            if self.begin_ns is not None:
                return self.begin_ns
            time.sleep(_LOOK_S / 2)
        raise GivenUpError

    def is_stopped(self) -> bool:
        return self.is_given_up or time.monotonic() - self.heard_s > SILENCE_S


# By the key of the task. A process that Dask has restarted in place of a lost one knows none.
members: dict[str, _Member] = {}


def prepare(key: str, parcel: Parcel) -> None:
    """Take in what a group of a launch shall do; its task then does it."""
    for old in [old for old, member in members.items() if member.is_stopped()]:
        forget(old)
    members[key] = _Member(parcel)


def tell(key: str, begin_ns: int | None = None) -> tuple[str | None, int]:
    """Open the gate if it is said when; return the state of the group, and what time it is here."""
    member = members.get(key)
    if member is not None:
        member.heard_s, member.begin_ns = time.monotonic(), begin_ns or member.begin_ns
    return member.state if member else None, time.perf_counter_ns()


def forget(key: str) -> None:
    """Give the launch up, and keep nothing of it."""
    member = members.pop(key, None)
    if member is not None:
        member.is_given_up = True


def work(key: str) -> GroupRecord | str:
    """Run the group; this is the task, in a thread of its own. Return why if it cannot be run."""
    member = members.get(key)
    if member is None or member.state != _Member.WAITING:
        return "its process was restarted"
    member.state = _Member.OPENING
    try:
        with unpacked(member.parcel) as launch:
            return run_workers(launch, member.parcel.workers, member)
    except GivenUpError:
        return "it gave up, because it heard nothing from the load generator"
    except TargetError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - it is told to the generator
        return text_of(error)


def network() -> str:
    """Name the network of this process: processes with one name share the address 127.0.0.1."""
    name = os.uname().nodename
    with suppress(OSError):
        name = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        name += f" {Path('/proc/self/ns/net').readlink()}"
    return name


@dataclass(frozen=True, slots=True)
class _Packages:
    packages: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class _Versions:
    client: _Packages
    scheduler: _Packages
    workers: dict[str, _Packages]


_VERSIONS = TypeAdapter(_Versions)


def version_problems(answer: object) -> Iterator[str]:
    """Compare the versions of Python, Dask and benchgate, as `Client.get_versions` returns them."""
    try:
        versions = _VERSIONS.validate_python(answer)
    except ValidationError:  # other versions of Dask tell it in other ways
        yield "the cluster does not say which versions it has; install the same Dask on all of it"
        return
    for place, there in [("the scheduler", versions.scheduler), *versions.workers.items()]:
        for package in ("python", "distributed", "benchgate"):
            depth = 2 if package == "python" else None
            ours, theirs = (
                ".".join((one.packages.get(package) or "none").split(".")[:depth])
                for one in (versions.client, there)
            )
            if theirs != ours and (place, theirs) != ("the scheduler", "none"):
                yield f"install {package} {ours} on {place}, which has {theirs}"


def only_here(address: str) -> str | None:
    """Return the host of a URL or DSN if other machines cannot reach it."""
    found = _HOST.search(address)
    host = (found[1] or found[2] or "") if found else ""
    return (host or "a socket of this machine") if _LOOPBACK.fullmatch(host) else None


def spread(places: Iterable[str]) -> list[str]:
    """Order the addresses of workers of a cluster so that the first ones are on many machines."""
    by_host: dict[str, list[str]] = {}
    for place in sorted(places):
        by_host.setdefault(place.rpartition(":")[0], []).append(place)
    turns = ((turn, place) for some in by_host.values() for turn, place in enumerate(some))
    return [place for _, place in sorted(turns)]


def offset_of(exchanges: list[tuple[int, int, int]]) -> tuple[int, int]:
    """Estimate how far a clock is ahead in ns, and how far that may be off, at most.

    It was read between question and answer, so each exchange has bounds. A short one is tight.
    """
    low_ns = max(there_ns - answered_ns for _, there_ns, answered_ns in exchanges)
    high_ns = min(there_ns - asked_ns for asked_ns, there_ns, _ in exchanges)
    # Rounded up, so that the bound holds. Clocks that drift fast may even swap the bounds.
    return (low_ns + high_ns) // 2, (abs(high_ns - low_ns) + 1) // 2


class _Cluster:
    """One launch on a cluster."""

    def __init__(self, launch: ProcessLaunch, deadlines: Deadlines) -> None:
        self._client: Any = None
        self._launch, self._deadlines = launch, deadlines
        self._there: list[str] = []  # addresses of the workers of the cluster
        self._gone = ""  # that of the first one that was lost
        self._waiting: set[str] = set()  # those whose connections are not all open
        self._lead_ns = self._epoch_ns = 0

    async def run(self, is_stopped: Callable[[], bool]) -> tuple[EndedGroup, ...]:
        try:
            async with asyncio.TaskGroup() as tasks:
                watching = tasks.create_task(self._watch(is_stopped))
                await self._connect(self._launch.scenario.load.cluster)
                await self._call_roll()
                dealt = shares(self._launch.scenario.most_workers, len(self._there))
                used = self._there[: len(dealt)]
                clocks = [await self._offset(place) for place in used]
                self._lead_ns = max(_LEAST_LEAD_NS, *(_LEAD_ERRORS * one[1] for one in clocks))
                self._waiting = set(used)
                groups = [
                    tasks.create_task(self._group(*one))
                    for one in zip(used, dealt, clocks, strict=True)
                ]
                await asyncio.wait(groups)
                watching.cancel()
        finally:
            with suppress(Exception):  # the cluster is not ours, and this process ends soon
                async with asyncio.timeout(self._deadlines.answer_s):
                    await self._client.close()
        return tuple(group.result() for group in groups)

    async def _watch(self, is_stopped: Callable[[], bool]) -> None:
        while not is_stopped():
            await asyncio.sleep(_LOOK_S)
            if self._there:
                await self._look_around()
        raise GivenUpError

    async def _connect(self, address: str | None) -> None:
        try:
            from distributed import Client  # noqa: PLC0415 - an extra
        except ImportError:
            raise ClusterError(
                '[load] cluster needs Dask: install it with `pip install "benchgate[cluster]"`'
            ) from None
        wait_s = self._deadlines.connect_s
        try:
            self._client = Client(address, asynchronous=True, set_as_default=False, timeout=wait_s)
            async with asyncio.timeout(wait_s + 1.0):
                await self._client
        except Exception as error:  # noqa: BLE001 - Dask raises much
            reason = str(error) or f"no answer within {wait_s:g} s"
            raise ClusterError(
                f"the scheduler {address} cannot be reached: {reason}; start it, or correct"
                " [load] cluster"
            ) from None

    async def _call_roll(self) -> None:
        await self._look_around()
        if not self._there:
            raise ClusterError(f"the cluster {self._launch.scenario.load.cluster} has no workers")
        versions = await self._answered(self._client.get_versions(packages=["benchgate"]))
        found, target = list(version_problems(versions)), self._launch.driver.target
        address = str(getattr(target, "url", None) or getattr(target, "dsn", None) or "")
        if not found and address and (host := only_here(self._launch.driver.place.expand(address))):
            found = [
                f"{place} cannot reach the target at {host}, because it runs on another machine;"
                " write the name of the target's machine"
                for place in self._there
                if await self._ask(place, network) != network()
            ]
        if found:
            raise ClusterError("; ".join(found))

    async def _look_around(self) -> None:
        self._there = spread(await self._answered(self._client.nthreads()))

    async def _answered(self, asking: Awaitable[Any]) -> Any:  # noqa: ANN401 - of any kind
        try:
            async with asyncio.timeout(self._deadlines.answer_s):
                return await asking
        except (OSError, TimeoutError) as error:
            address = self._launch.scenario.load.cluster
            raise ClusterError(
                f"the scheduler {address} does not answer: {text_of(error)}"
            ) from None

    async def _ask(self, place: str, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - that of the function
        """Call a short function in a worker of the cluster; return what it returns."""
        imports = function in {network, prepare}
        try:
            async with asyncio.timeout(_IMPORT_S if imports else self._deadlines.answer_s):
                return (await self._client.run(function, *args, workers=[place]))[place]
        except Exception as error:  # noqa: BLE001 - Dask raises much
            raise ClusterError(f"{place} does not answer: {text_of(error)}") from None

    async def _offset(self, place: str) -> tuple[int, int]:
        exchanges: list[tuple[int, int, int]] = []
        end_s = time.monotonic() + _LOOK_S
        while time.monotonic() < end_s or not exchanges:
            asked_ns = time.perf_counter_ns()
            there_ns = await self._ask(place, time.perf_counter_ns)
            exchanges.append((asked_ns, there_ns, time.perf_counter_ns()))
        return offset_of(exchanges)

    async def _group(
        self, place: str, workers: tuple[int, ...], clock: tuple[int, int]
    ) -> EndedGroup:
        key, task, record, lost = f"benchgate-{uuid.uuid4().hex}", None, None, None
        try:
            await self._ask(place, prepare, key, parcel_of(self._launch, os.environ, workers))
            task = self._client.submit(work, key, key=key, workers=[place], pure=False, retries=0)
            await self._until_arrived(place, task)
            end_s = await self._begin(place, key, clock[0])
            async for _ in self._looks(place, task):
                if time.monotonic() > end_s:
                    raise _LostError("it did not end after the measured time")  # noqa: TRY301
            record = await self._taken(place, task)
        except _LostError as error:
            self._gone, lost = self._gone or place, str(error)
        finally:
            await self._clean_up(place, key, task)
        return EndedGroup(place, len(workers), record, lost, *(one_ns / 1e9 for one_ns in clock))

    async def _until_arrived(self, place: str, task: Future[Any]) -> None:
        """Wait until all connections are open, also those of the other groups."""
        begun_s, limit_s = time.monotonic(), self._deadlines.begin_s
        try:
            async for state in self._looks(place, task):
                if state == _Member.ARRIVED:
                    self._waiting.discard(place)
                    if not self._waiting:
                        return
                elif time.monotonic() - begun_s > limit_s:
                    did = "begin" if state == _Member.WAITING else "open its connections"
                    raise ClusterError(f"{place} did not {did} within {limit_s:g} s; is it busy?")
            await self._taken(place, task)
        except _LostError as error:
            raise ClusterError(f"{place} was lost before the load: {error}") from None

    async def _begin(self, place: str, key: str, offset_ns: int) -> float:
        """Tell a group when to begin; return when it must have ended, on the clock here."""
        self._epoch_ns = self._epoch_ns or time.perf_counter_ns() + self._lead_ns
        begin_ns = self._epoch_ns + offset_ns
        if (await self._ask(place, tell, key, begin_ns))[1] >= begin_ns:
            raise ClusterError(f"{place} was told too late when to begin")
        scenario = self._launch.scenario
        planned_s = scenario.planned_s + GRACE_S + self._deadlines.end_s
        return time.monotonic() + self._lead_ns / 1e9 + planned_s

    async def _looks(self, place: str, task: Future[Any]) -> AsyncIterator[str]:
        """See how far a group is a few times a second, until its task has ended."""
        heard_s = time.monotonic()
        while not task.done():
            await asyncio.sleep(_LOOK_S if self._waiting else _LOOK_WHILE_MEASURED_S)
            if self._gone:
                raise _LostError(f"stopped, because {self._gone} was lost")
            if place not in self._there:
                raise _LostError("its process was killed, or its network is gone")
            try:
                state, _ = await self._ask(place, tell, task.key)
            except ClusterError as error:
                if time.monotonic() - heard_s > (limit_s := self._deadlines.silent_s):
                    raise _LostError(f"it has not answered for {limit_s:g} s: {error}") from None
                continue
            if state is None:
                raise _LostError("its process was restarted")
            heard_s = time.monotonic()
            yield state

    async def _taken(self, place: str, task: Future[Any]) -> GroupRecord:
        try:
            async with asyncio.timeout(self._deadlines.end_s):
                outcome: GroupRecord | str = await task
        except Exception as error:  # noqa: BLE001 - Dask raises much
            await self._look_around()  # it may be the scheduler that is gone
            raise _LostError(f"Dask ended its task: {error}") from None
        if not isinstance(outcome, GroupRecord):
            raise ClusterError(f"{place}: {outcome}")
        return outcome

    async def _clean_up(self, place: str, key: str, task: Future[Any] | None) -> None:
        if place != self._gone:
            with suppress(Exception):
                await self._ask(place, forget, key)
                if task is not None:
                    async with asyncio.timeout(self._deadlines.stop_s):
                        await task
        with suppress(Exception):  # the scheduler forgets it with the connection as well
            async with asyncio.timeout(self._deadlines.answer_s):
                await self._client.cancel([task], force=True)


def run_on_cluster(
    launch: ProcessLaunch, is_stopped: Callable[[], bool], deadlines: Deadlines | None = None
) -> tuple[EndedGroup, ...]:
    """Run a group of workers on each worker of the cluster; if one is lost, the others are stopped.

    Args:
        is_stopped: whether a signal has come; asked a few times a second.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it writes, benchgate says
    try:
        with warnings.catch_warnings(action="ignore"):
            return asyncio.run(_Cluster(launch, deadlines or Deadlines()).run(is_stopped))
    except ExceptionGroup as errors:
        errors.exceptions[0].args = (launch.conceal(str(errors.exceptions[0])),)
        raise errors.exceptions[0] from None
