"""What an engine measures: one launch of a benchmark in one arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import (
        Mapping,
    )

    from benchgate.measure.arm import ArmName
    from benchgate.model.calls import CallTree
    from benchgate.model.load import LoadLaunch
    from benchgate.model.run import Series


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One arm's launch of one benchmark in one round, or how it failed.

    Attributes:
        order: this arm's position in the round; 0 for the arm that started first.
        metrics: one launch of each, whose round, order and lane the recorder adds; empty if it
            failed.
        error: one line, then the tail of its output; None if it succeeded.
        of_all: the failure counts for every arm that has the benchmark, because no arm's numbers
            would be meaningful.
        skipped: it did not fail, but its author has said that it does not run here; `error` says
            why.
        notes: notes that a reader of the numbers must see.
        once_s: the part of its time on all arms, in seconds, that only the first round needs;
            negative for time that was spent before.
        load: what it did under load, if it is a step of a scenario that did not fail; its `round`
            is that of the observation.
        server: version and settings of what was under load, if it was asked for them.
        runs_own_code: whether it may have run code of its side, beside that of the benchmarks.
        uses_files: whether it may have read or written files while it was timed.
        lane: as in `model.run.Launch`.
        calls: what it called, by metric, if that was observed.
    """

    arm: ArmName
    benchmark: str
    order: int
    metrics: tuple[Series, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()
    once_s: float = 0.0
    of_all: bool = False
    skipped: bool = False
    load: LoadLaunch | None = None
    server: Mapping[str, str] = field(default_factory=dict)
    runs_own_code: bool = True
    uses_files: bool = True
    lane: int | None = None
    calls: Mapping[str, CallTree] = field(default_factory=dict)
