"""What the workers of a group record, in memory that does not grow with the operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.load.windows import Window
    from benchgate.model.load import KeptError
    from benchgate.stats.histogram import Histogram
    from benchgate.stats.reservoir import Reservoir


@dataclass(slots=True)
class StepRecord:
    """What the workers of a group recorded of one step; it can be pickled and merged.

    Attributes:
        ops: operations that ended well.
        errors: operations that failed, or did not end.
        unfinished: operations that were due and that no worker had begun at the end.
        kept_errors: the first errors, at most MOST_ERRORS_KEPT.
        histogram: of the latencies of `ops` and `unfinished`, in ns.
        reservoir: a random sample of the same latencies.
        windows: those with something in them, by their index.
    """

    ops: int
    errors: int
    unfinished: int
    kept_errors: list[KeptError]
    histogram: Histogram
    reservoir: Reservoir
    windows: dict[int, Window]
