"""A connection to a Dask cluster: the calls that benchgate needs of it, each with a deadline."""

from __future__ import annotations

import asyncio
import logging
import warnings
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from benchgate.load.cluster.checks import ClusterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence

    from distributed import Client, Future

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


class Connection:
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
async def connected(address: str, deadlines: Deadlines) -> AsyncIterator[Connection]:
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
            yield Connection(client, address, deadlines.answer_s)
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
