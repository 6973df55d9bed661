"""The classical rule: Mann-Whitney with p < 0.05, and a p95 ratio beyond 5 %."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.estimates import by_lengths
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome
from benchgate.model.row import Classical, Row
from benchgate.stats.mann_whitney import mann_whitney_classical
from benchgate.stats.spread import nearest_rank
from benchgate.units import format_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence
    from benchgate.model.launch_table import Launch


_OUTCOMES = {
    "slower": Outcome.REGRESSED,
    "faster": Outcome.IMPROVED,
    "same": Outcome.UNCHANGED,
    "not tested": Outcome.NOT_TESTED,
}
SIGNIFICANCE = 0.05
FASTER_RATIO = 0.95
SLOWER_RATIO = 1.05
LEAST_VALUES = 5


def classical(
    base: Sequence[FloatArray],
    head: Sequence[FloatArray],
    p95_ratios: Sequence[float | None],
    better: Sequence[Better],
) -> list[Classical]:
    """Compare rows the classical way.

    Args:
        base, head: for each row the values to test, of launches or raw samples.
        p95_ratios: for each row p95 of all samples, head / base; None if there is none.
        better: for each row the direction of its metric.

    Returns:
        For each row the two-sided p (no continuity correction, ties corrected), the ratio of
        the pooled p95, and the result: "slower" or "faster" needs p < 0.05 *and* a ratio
        of >= 1.05 or <= 0.95 (on the scale of times); numbers are never rounded first.
    """
    p_values: list[float | None] = [None] * len(base)
    for indices, x, y in by_lengths(base, head):
        if min(x.shape[1], y.shape[1]) >= LEAST_VALUES:
            for index, p in zip(indices, mann_whitney_classical(x, y).tolist(), strict=True):
                p_values[index] = p
    return [
        Classical(p, ratio, _result(p, ratio, direction))
        for p, ratio, direction in zip(p_values, p95_ratios, better, strict=True)
    ]


def _result(p: float | None, ratio: float | None, better: Better) -> str:
    if p is None or not ratio:
        return "not tested"
    slower_scale = ratio if better is Better.LOWER else 1 / ratio
    if p >= SIGNIFICANCE or FASTER_RATIO < slower_scale < SLOWER_RATIO:
        return "same"
    return "slower" if slower_scale > 1 else "faster"


def remarks(found: Classical) -> tuple[str, ...]:
    """Explain a result: which condition decided, or that only one of the conditions holds."""
    p, ratio = found.p, found.p95_ratio
    if p is None or not ratio:
        return (f"the classical rule needs {LEAST_VALUES} values of each side, and a p95 above 0",)
    change = f"p95 changed by {format_change(ratio)}"
    if found.result != "same":
        return (f"{change} (p = {p:.2g}), so the classical rule decides",)
    if p < SIGNIFICANCE:
        return (f"significant (p = {p:.2g}), but {change}, which is within the threshold",)
    if not FASTER_RATIO < ratio < SLOWER_RATIO:
        return (f"{change}, but not significantly (p = {p:.2g})",)
    return ()


def p95_ratio(base: FloatArray, head: FloatArray) -> float | None:
    """p95 of the head by that of the base; None if a side has no samples, or the base's is 0."""
    if not len(base) or not len(head):
        return None
    base_p95, head_p95 = float(nearest_rank(base, 0.95)), float(nearest_rank(head, 0.95))
    return head_p95 / base_p95 if base_p95 > 0 else None


def compare_classically(evidences: Sequence[Evidence], *, raw: bool) -> list[Classical]:
    """Compare the evidence of each row the classical way.

    Args:
        raw: test all samples, not one value per launch.
    """
    return classical(
        [_pooled(e.base_launches) if raw else e.base for e in evidences],
        [_pooled(e.head_launches) if raw else e.head for e in evidences],
        # All samples of a suite at once would double the memory.
        [p95_ratio(_pooled(e.base_launches), _pooled(e.head_launches)) for e in evidences],
        [e.metric.better for e in evidences],
    )


def _pooled(launches: Sequence[Launch]) -> FloatArray:
    return np.concatenate([one.samples for one in launches]) if launches else np.empty(0)


def decide_classically(row: Row) -> Row:
    """Let the classical rule decide a row; keep its estimate and interval for the reader."""
    if row.classical is None:
        return row
    return replace(
        row,
        outcome=_OUTCOMES[row.classical.result],
        p=row.classical.p,
        p_adjusted=None,
        test="classical",
        calibration=None,
        notes=(*remarks(row.classical), *row.notes),
    )
