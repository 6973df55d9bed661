"""`benchgate list`: the benchmarks that a session found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.model.run import Tier
from benchgate.report.listing import ListedBenchmark

if TYPE_CHECKING:
    from benchgate.measure.session import Session

_KINDS = {Tier.LOCKSTEP: "python", Tier.INTERLEAVED: "command"}


def list_benchmarks(session: Session) -> tuple[ListedBenchmark, ...]:
    """Prepare what a session found for display, in the order in which it was found."""
    definitions = {d.id: d for arm in session.arms for d in session.recorder.definitions(arm)}
    return tuple(
        ListedBenchmark(id_, _KINDS[d.tier], d.location, d.tags)
        for id_ in session.ids
        for d in (definitions[id_],)
    )
