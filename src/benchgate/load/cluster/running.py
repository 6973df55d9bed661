"""Runs the groups of workers of a launch on a Dask cluster; everything else stays here."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, TypeVar

from benchgate.load.cluster.checks import ClusterError
from benchgate.load.cluster.connection import Deadlines, connected
from benchgate.load.cluster.coordinator import Coordinator
from benchgate.load.cluster.roll import call_roll
from benchgate.load.group import GivenUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from benchgate.load.group import EndedGroup
    from benchgate.load.launch import Launch

T = TypeVar("T")

_LOOK_S = 0.1
_CLEAN_UP_S = 30.0


def run_on_cluster(
    launch: Launch, is_stopped: Callable[[], bool], deadlines: Deadlines | None = None
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


async def _run(launch: Launch, deadlines: Deadlines) -> tuple[EndedGroup, ...]:
    scenario = launch.scenario
    target = scenario.target(launch.order.target)
    written = str(getattr(target, "url", None) or getattr(target, "dsn", None) or "")
    address = launch.driver.place.expand(written)
    async with connected(scenario.load.cluster or "", deadlines) as connection:
        places = await call_roll(connection, target.driver, address, deadlines.import_s)
        return await Coordinator(connection, launch, places, deadlines).run(os.environ)
