"""A connection to a Dask cluster: its calls have deadlines, and its workers are checked."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from urllib.parse import urlsplit

from benchgate.load.drivers.driver import TargetError

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from distributed import Client, Future

    from benchgate.load.cluster.member import Facts


_MOST_NAMED = 3
_HOST = re.compile(r"\bhost(?:addr)?\s*=\s*'?([^\s';&]*)")


class ClusterError(TargetError):
    """The cluster cannot load the target. One line, without passwords."""


def spread(places: Iterable[str]) -> list[str]:
    """Order the addresses of workers of a cluster so that the first ones are on many machines."""
    seen: Counter[str] = Counter()
    turns = []
    for place in sorted(places):
        host = place.rpartition(":")[0]
        turns.append((seen[host], place))
        seen[host] += 1
    return [place for _, place in sorted(turns)]


def version_problems(versions: Mapping[str, Any]) -> Iterator[str]:
    """Compare the versions of Python and Dask, as `Client.get_versions` returns them."""
    here = versions["client"]["packages"]
    others = [("the scheduler", versions["scheduler"]), *sorted(versions["workers"].items())]
    for place, there in others:
        for package in ("python", "distributed"):
            one, other = str(here[package]), str(there["packages"][package])
            if package == "python":
                one, other = _minor(one), _minor(other)
            if one != other:
                yield f"{place} has {package} {other}, and this machine has {one}"


def installed_problems(found: Mapping[str, str | Exception], version: str) -> Iterator[str]:
    """Say which workers of the cluster lack benchgate, by the version that each one has."""
    for place, one in sorted(found.items()):
        if isinstance(one, ModuleNotFoundError):
            yield f"{place} does not have benchgate; install benchgate {version} there"
        elif isinstance(one, Exception):
            yield f"{place} did not answer: {why(one)}"
        elif one != version:
            yield f"{place} has benchgate {one}, and this machine has {version}"


def facts_problems(facts: Mapping[str, Facts | Exception]) -> Iterator[str]:
    """Say which workers of the cluster cannot use the driver.

    Args:
        facts: by the address of the worker; an error if it did not answer.
    """
    for place, found in sorted(facts.items()):
        if isinstance(found, OSError):
            yield f"{place} did not answer: {why(found)}"
        elif isinstance(found, Exception):
            yield f"{place} cannot import benchgate: {why(found)}"
        elif found.problem:
            yield f"{place} cannot use the driver: {found.problem}"


def network_problems(address: str, facts: Mapping[str, Facts], network: str) -> Iterator[str]:
    """Say which workers of the cluster cannot reach an address that is only valid here.

    Args:
        address: the target's URL or DSN; "" if it has none.
        network: that of this machine.
    """
    host = _host(address) if address else None
    if host is None or not _is_loopback(host):
        return
    shown = host or "a socket of this machine"
    for place, found in sorted(facts.items()):
        if found.network != network:
            yield (
                f"{place} cannot reach the target at {shown}, because it runs on another machine;"
                " write the name of the target's machine"
            )


def require_none(problems: Iterator[str]) -> None:
    """Raise a ClusterError that names the first problems, if there are any."""
    found = list(problems)
    if found:
        more = len(found) - _MOST_NAMED
        end = f"; and {more} more" if more > 0 else ""
        raise ClusterError("; ".join(found[:_MOST_NAMED]) + end)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _host(address: str) -> str | None:
    """Return the host of a URL or DSN; "" if it has none, None if it is malformed."""
    if "://" in address:
        try:
            return urlsplit(address).hostname or ""
        except ValueError:
            return None
    found = _HOST.search(address)
    return found[1] if found else ""


def _is_loopback(host: str) -> bool:
    if host in {"", "localhost"} or host.startswith("/") or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def why(error: Exception) -> str:
    """Say what an error is; some of Dask have no text, others have their type in it."""
    if type(error) is Exception and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the generator waits; tests wait less.

    Attributes:
        connect_s: for the scheduler, at first.
        answer_s: for the answer to a question.
        silent_s: until a worker of the cluster that does not answer counts as lost.
        import_s: until a worker of the cluster has imported benchgate.
        begin_s: until it begins its task.
        open_s: until all connections to the target are open.
        end_s: after the operations must have ended, for the results.
        stop_s: for groups to end that were told to.
    """

    connect_s: float = 10.0
    answer_s: float = 5.0
    silent_s: float = 15.0
    import_s: float = 60.0
    begin_s: float = 60.0
    open_s: float = 120.0
    end_s: float = 20.0
    stop_s: float = 8.0


class ClusterConnection:
    """Talks to the scheduler, and through it to the workers of the cluster."""

    def __init__(self, client: Client, address: str, answer_s: float) -> None:
        self.address = address
        self._client = client
        self._answer_s = answer_s

    async def workers(self) -> Collection[str]:
        """Return the addresses of all workers that the cluster has now.

        Raises:
            ClusterError: the scheduler does not answer.
        """
        try:
            found = await asyncio.wait_for(self._client.nthreads(), self._answer_s)
        except (OSError, TimeoutError) as error:
            raise self._silent(error) from None
        return tuple(found)

    async def versions(self) -> dict[str, Any]:
        """Return the versions of packages of the scheduler, the workers and this process.

        Raises:
            ClusterError: the scheduler does not answer.
        """
        try:
            asking: Any = self._client.get_versions()
            found: dict[str, Any] = await asyncio.wait_for(asking, self._answer_s)
        except (OSError, TimeoutError) as error:
            raise self._silent(error) from None
        return found

    async def ask(
        self,
        worker: str,
        function: Callable[[*Ts], T],
        *args: *Ts,
        within_s: float | None = None,
    ) -> T | Exception:
        """Call a short function in a worker; return what it returns, or why it did not."""
        try:
            asking: Any = self._client.run(function, *args, workers=[worker], on_error="return")
            answers: dict[str, T | Exception] = await asyncio.wait_for(
                asking, within_s or self._answer_s
            )
        except Exception as error:  # noqa: BLE001 - Dask raises much; the caller decides
            return error
        return answers.get(worker, LookupError("no answer"))

    def submit(self, worker: str, key: str, function: Callable[[*Ts], T], *args: *Ts) -> Future[T]:
        """Let one worker run a task once; no other one takes it over."""
        task: Future[T] = self._client.submit(
            function,
            *args,
            key=key,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        return task

    async def wait(self, tasks: Sequence[Future[Any]], timeout_s: float) -> None:
        """Wait until tasks have ended, in whatever way; at most for that time."""
        if tasks:
            ends = [asyncio.ensure_future(self._end_of(task)) for task in tasks]
            _, waiting = await asyncio.wait(ends, timeout=timeout_s)
            for one in waiting:
                one.cancel()

    async def _end_of(self, task: Future[Any]) -> None:
        with suppress(Exception):
            await task.exception()

    async def cancel(self, tasks: Sequence[Future[Any]]) -> None:
        """Let the scheduler forget tasks."""
        with suppress(Exception):  # it forgets them with the connection as well
            await asyncio.wait_for(self._client.cancel(list(tasks), force=True), self._answer_s)

    def _silent(self, error: Exception) -> ClusterError:
        why = f": {error}" if str(error) else f" within {self._answer_s:g} s"
        return ClusterError(f"the scheduler {self.address} does not answer{why}")


@asynccontextmanager
async def connected(address: str, deadlines: Deadlines) -> AsyncIterator[ClusterConnection]:
    """Connect to a scheduler.

    Raises:
        ClusterError: it cannot be reached, or Dask is not installed.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        raise ClusterError(
            '[load] cluster needs Dask: install it with `pip install "benchgate[cluster]"`'
        ) from None
    with _quiet():
        try:
            client = Client(
                address,
                asynchronous=True,
                set_as_default=False,
                timeout=deadlines.connect_s,
                name="benchgate",
            )
        except (OSError, TypeError, ValueError) as error:
            raise ClusterError(f"[load] cluster = {address!r} cannot be used: {error}") from None
        try:
            await _open(client, address, deadlines.connect_s)
            yield ClusterConnection(client, address, deadlines.answer_s)
        finally:
            with suppress(Exception):  # the cluster is not ours, and this process ends soon
                await asyncio.wait_for(client.close(), deadlines.answer_s)


async def _open(client: Client, address: str, timeout_s: float) -> None:
    try:
        await asyncio.wait_for(client, timeout_s + 1.0)
    except Exception as error:  # noqa: BLE001 - Dask raises much, such as for a strange answer
        why = str(error) or f"no answer within {timeout_s:g} s"
        raise ClusterError(
            f"the scheduler {address} cannot be reached: {why}; start it, or correct [load] cluster"
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing what benchgate says itself."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
