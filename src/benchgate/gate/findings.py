"""What the gate has found about one row, before it becomes a row of the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.model.policy import Outcome
from benchgate.stats.spread import finite_exp
from benchgate.units import format_percent

if TYPE_CHECKING:
    from benchgate.gate.estimates import Estimate
    from benchgate.gate.evidence import Evidence
    from benchgate.model.verdict import Calibration


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


_CHANGED: Final = frozenset({Outcome.REGRESSED, Outcome.IMPROVED})
_MORE_THAN_A_STEP: Final = 1.25
"""In steps of the clock: times that are one step apart may differ by anything up to two."""


def within_clock(finding: Finding, evidence: Evidence) -> Finding:
    """Claim nothing about a row whose clock is too coarse, unless it changed by more than a step.

    More rounds do not help, because they have the same clock.
    """
    step = evidence.clock_step()
    if not step or finding.outcome is Outcome.NOT_TESTED:
        return finding
    value = float(np.median(evidence.base))
    log_ratio = evidence.worse_sign * finding.estimate.value if finding.estimate else 0.0
    change = value * abs(finite_exp(log_ratio) - 1)
    if finding.outcome in _CHANGED and change > _MORE_THAN_A_STEP * step:
        return finding
    return replace(
        finding,
        outcome=Outcome.NOT_TESTED,
        stage=Stage.DONE if finding.stage is Stage.SETTLE else finding.stage,
        estimate=None,
        p=None,
        p_adjusted=None,
        notes=(f"the clock shows steps of {format_percent(step / value)} of the value",),
        unconfirmed=0,
    )
