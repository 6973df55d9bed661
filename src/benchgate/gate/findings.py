"""What the gate has found about one row, before it becomes a row of the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.gate.estimates import Estimate
    from benchgate.model.outcome import Outcome
    from benchgate.model.row import Calibration


class Stage(StrEnum):
    """What a row still needs."""

    SCREEN = "screen"
    CONFIRM = "confirm"
    SETTLE = "settle"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one row and the evidence for it.

    Attributes:
        start, count: the launches used: `count` of them, from index `start` on.
        p: one-sided, of the test that decided; None if no test did.
        p_adjusted: adjusted p, to compare with the suite's alpha.
        calibration: what earlier runs show; None for arms that were measured in turn.
        unconfirmed: rounds that are missing to confirm that it got worse; 0 if it is no longer a
            suspect, or looked better.
        test: the test, for rows that were measured in turn.
    """

    outcome: Outcome
    stage: Stage
    estimate: Estimate | None = None
    start: int = 0
    count: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    notes: tuple[str, ...] = ()
    calibration: Calibration | None = None
    unconfirmed: int = 0
    test: str = "wilcoxon"
