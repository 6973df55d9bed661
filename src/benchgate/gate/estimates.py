"""What the gate found about one row: its change, its interval, the smallest detectable change.

Log ratios are > 0 if the head is worse, whatever the metric's direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.model.notes import constant, copied
from benchgate.model.policy import MOVED, Outcome
from benchgate.stats.detectable import (
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_needed,
    least_launches,
)
from benchgate.stats.mann_whitney import two_sample_shift
from benchgate.stats.signed_rank import paired_shift
from benchgate.stats.spread import finite_exp, pooled_robust_spread, robust_spread
from benchgate.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence
    from benchgate.model.row import Calibration
    from benchgate.stats.midranks import Shifts


def by_length(rows: Sequence[FloatArray]) -> Iterator[tuple[list[int], FloatArray]]:
    """Group rows by length: the indices of a group, and its rows stacked to (m, n).

    Rows without values belong to no group.
    """
    groups: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        if len(row):
            groups.setdefault(len(row), []).append(index)
    for indices in groups.values():
        yield indices, np.stack([rows[index] for index in indices])


def by_lengths(
    left: Sequence[FloatArray], right: Sequence[FloatArray]
) -> Iterator[tuple[list[int], FloatArray, FloatArray]]:
    """Group pairs of rows by both lengths: indices, (m, n1) and (m, n2)."""
    groups: dict[tuple[int, int], list[int]] = {}
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        if len(a) and len(b):
            groups.setdefault((len(a), len(b)), []).append(index)
    for indices in groups.values():
        yield (
            indices,
            np.stack([left[index] for index in indices]),
            np.stack([right[index] for index in indices]),
        )


MOST_ROUNDS_FORETOLD = 1000
# Two launches show hardly anything: a detectable change of 10 ** 50 would be useless.
MOST_DETECTABLE_RATIO = 100.0
_LEAST_LAUNCHES = 2
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A log ratio with its interval, which is infinite if there are too few launches.

    Attributes:
        detectable: the smallest ratio that could have been detected; None for fewer than 2
            launches, and if it is above 100.
        needed: total rounds that would settle it; None if that cannot be predicted.
    """

    value: float
    low: float
    high: float
    detectable: float | None = None
    needed: int | None = None

    def reaches(self, margin: float, sign: int) -> bool:
        """Whether the estimate lies at the margin or beyond it, on the side of `sign`."""
        return reaches(self.value, margin, sign)

    def inside(self, margin: float) -> bool:
        """Whether the whole interval lies inside the margin, on both sides."""
        limit = np.log1p(margin)
        return bool(-limit < self.low and self.high < limit)


def reaches(log_ratio: float, margin: float, sign: int) -> bool:
    """Whether a log ratio lies at the margin or beyond it, on the side of `sign`."""
    return bool(sign * log_ratio >= np.log1p(margin) - _ROUNDING)


def paired_estimates(
    ratios: Sequence[FloatArray], margins: Sequence[float], *, confidence: float, level: float
) -> list[Estimate | None]:
    """Estimate rows of paired log ratios; None for a row without any.

    Args:
        level: one-sided level of one row's test, for the detectable change.
    """
    estimates: list[Estimate | None] = [None] * len(ratios)
    for indices, d in by_length(ratios):
        n = d.shape[1]
        shift = paired_shift(d, confidence)
        detectable: Sequence[float | None] = [None] * len(indices)
        needed: Sequence[int | None] = [None] * len(indices)
        if n >= _LEAST_LAUNCHES:
            spread = robust_spread(d)
            detectable = _detectable(detectable_ratio, spread, n, level)
            limits = np.log1p(np.array([margins[i] for i in indices]))
            needed = _needed(spread, np.abs(np.abs(shift.estimate) - limits), confidence)
        _fill(estimates, indices, shift, detectable, needed)
    return estimates


def stored_estimates(
    base: Sequence[FloatArray], head: Sequence[FloatArray], *, confidence: float, level: float
) -> list[Estimate | None]:
    """Estimate rows whose launches share no rounds, from the log values of both arms."""
    estimates: list[Estimate | None] = [None] * len(base)
    for indices, x, y in by_lengths(base, head):
        n1, n2 = x.shape[1], y.shape[1]
        detectable: Sequence[float | None] = [None] * len(indices)
        if min(n1, n2) >= _LEAST_LAUNCHES:
            spread = pooled_robust_spread(x, y)
            detectable = _detectable(detectable_ratio_two_sample, spread, n1, n2, level)
        shift = two_sample_shift(x, y, confidence)
        _fill(estimates, indices, shift, detectable, [None] * len(indices))
    return estimates


def _detectable(
    ratio_of: Callable[..., FloatArray], spread: FloatArray, *counts_and_level: float
) -> list[float | None]:
    ratios = ratio_of(spread, *counts_and_level).tolist()
    return [ratio if ratio <= MOST_DETECTABLE_RATIO else None for ratio in ratios]


def _needed(spread: FloatArray, half_width: FloatArray, confidence: float) -> list[int | None]:
    """Rounds after which an interval of this spread lies outside or inside of the margin."""
    counts = launches_needed(spread, half_width, confidence, MOST_ROUNDS_FORETOLD)
    # This follows from Student's t; with fewer rounds the rank interval is infinite.
    least = least_launches((1 - confidence) / 2, "wilcoxon")
    return [max(n, least) if n <= MOST_ROUNDS_FORETOLD else None for n in counts.tolist()]


def _fill(
    estimates: list[Estimate | None],
    indices: Sequence[int],
    shift: Shifts,
    detectable: Sequence[float | None],
    needed: Sequence[int | None],
) -> None:
    columns = (shift.estimate.tolist(), shift.low.tolist(), shift.high.tolist())
    for index, *values in zip(indices, *columns, detectable, needed, strict=True):
        estimates[index] = Estimate(*values)


class RowStage(StrEnum):
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
        ahead: about how many more rounds the row will get, for rows that are measured in turn.
        at_most: whether `ahead` is a limit, because nobody can know the number.
    """

    outcome: Outcome
    stage: RowStage
    estimate: Estimate | None = None
    start: int = 0
    count: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    notes: tuple[str, ...] = ()
    calibration: Calibration | None = None
    unconfirmed: int = 0
    test: str = "wilcoxon"
    ahead: int = 0
    at_most: bool = False


_LEAST_ROUNDS: Final = 5
_MORE_THAN_A_STEP: Final = 1.25
"""In steps of the clock: times that are one step apart may differ by anything up to two."""


def within_clock(finding: Finding, evidence: Evidence) -> Finding:
    """Claim nothing about a row whose clock is too coarse, or whose values are no measurements.

    More rounds do not help, because they have the same clock.
    """
    if (side := evidence.constant_side()) and _is_no_change(finding, evidence, side):
        return _untestable(finding, _constant(evidence, side), is_done=True)
    step = evidence.clock_step()
    if not step or finding.outcome is Outcome.NOT_TESTED:
        return finding
    value = float(np.median(evidence.base))
    log_ratio = evidence.worse_sign * finding.estimate.value if finding.estimate else 0.0
    change = value * abs(finite_exp(log_ratio) - 1)
    if finding.outcome in MOVED and change > _MORE_THAN_A_STEP * step:
        return finding
    what = "the clock shows" if evidence.metric.unit == "s" else "its values show"
    note = f"{what} steps of {format_percent(step / value)} of the value"
    return _untestable(finding, note, is_done=finding.stage is RowStage.SETTLE)


def _is_no_change(finding: Finding, evidence: Evidence, side: str) -> bool:
    """Whether values that are all equal may not decide: a side that never varies got no faster.

    Args:
        side: the one that never varies.
    """
    if evidence.paired and evidence.rounds < _LEAST_ROUNDS:
        return False
    allowed = MOVED if side == "the base" else {Outcome.REGRESSED}
    return finding.outcome not in allowed


def _constant(evidence: Evidence, side: str) -> str:
    launches = {"the base": evidence.base_launches, "the head": evidence.head_launches}
    runs = launches.get(side, (*evidence.base_launches, *evidence.head_launches))
    samples = runs[0].samples
    if float(np.ptp(samples)) > 0:
        return copied(side, len(samples), runs=len(runs))
    head = evidence.pair.head
    unit = head.display_unit if head else None
    value = float(samples[0])
    return constant(side, value, evidence.metric.unit, unit, runs=len(runs))


def _untestable(finding: Finding, note: str, *, is_done: bool) -> Finding:
    return replace(
        finding,
        outcome=Outcome.NOT_TESTED,
        stage=RowStage.DONE if is_done else finding.stage,
        estimate=None,
        p=None,
        p_adjusted=None,
        notes=(note,),
        unconfirmed=0,
    )
