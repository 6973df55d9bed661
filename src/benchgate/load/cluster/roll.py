"""Finds the workers of a cluster, and makes sure that they can load a target."""

from __future__ import annotations

import asyncio
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

import benchgate
from benchgate.load.cluster import member
from benchgate.load.cluster.checks import (
    ClusterError,
    facts_problems,
    installed_problems,
    network_problems,
    require_none,
    spread,
    version_problems,
)
from benchgate.load.cluster.member import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.load.cluster.connection import Connection

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def call_roll(
    connection: Connection, driver: str, address: str, import_s: float
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
    connection: Connection,
    places: Sequence[str],
    function: Callable[[*Ts], T],
    *args: *Ts,
    within_s: float | None = None,
) -> dict[str, T | Exception]:
    answers = await asyncio.gather(
        *(connection.ask(place, function, *args, within_s=within_s) for place in places)
    )
    return dict(zip(places, answers, strict=True))
