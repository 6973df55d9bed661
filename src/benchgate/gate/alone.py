"""Judges a side that has a single launch, or a metric that is zero: no test can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.estimates import reaches
from benchgate.gate.evidence import NOTHING_MEASURED
from benchgate.gate.exact import compare_exact
from benchgate.model.policy import Outcome
from benchgate.model.run import THROUGHPUT, Kind

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence
    from benchgate.model.verdict import Row

NOISE_FLOOR: Final = 1.0
"""The smallest change that counts if nobody knows how much runs differ: a factor of 2.

Of unchanged builds of three to ten benchmarks, recorded on busy machines, 2 to 5 % have a benchmark
that seems slower by this factor if a single launch of each side is compared, but 40 to 65 % have
one that seems slower by 20 %.
"""


LEAST_PAIRED: Final = 5
"""Rounds in which all values of one side must be zero, and none of the other, to decide a row.

Of values that only chance sorts into two sides of 5, one of 252 sortings puts the zeros there.
"""


def judge_alone(evidence: Evidence, needed: int) -> tuple[Outcome, tuple[str, ...]]:
    """Compare the values of two sides, of which one has a single launch, with a threshold.

    Args:
        evidence: with values above 0.
        needed: the number of launches of each side that a test needs.

    Returns:
        The outcome, and notes on it.
    """
    least = 1 + max(evidence.margin, NOISE_FLOOR)
    before, after = (np.log(np.median(side)) for side in (evidence.base, evidence.head))
    worse = evidence.worse_sign * float(after - before)
    why = "no samples" if evidence.metric.kind is Kind.SUMMARY else "one launch"
    unknown = f"{why}: run-to-run noise is unknown"
    counts = f"only a change by a factor of {least:g} counts"
    notes = (f"{unknown}, so {counts}; a test needs {needed} launches of each side",)
    if reaches(worse, least - 1, 1):
        return Outcome.REGRESSED, notes
    return (Outcome.IMPROVED if reaches(worse, least - 1, -1) else Outcome.NOT_TESTED), notes


def with_zeros(row: Row, evidence: Evidence) -> Row:
    """Decide a row without a test if a side has nothing but zeros, such as an error ratio.

    Times of 0 decide nothing: nobody can do work in no time. Nor does a throughput of 0 of both.

    Args:
        row: that of the evidence, not tested.
    """
    base, head = evidence.base, evidence.head
    is_idle = evidence.metric.name == THROUGHPUT.name and not (base.any() or head.any())
    if evidence.obstacle == NOTHING_MEASURED or is_idle:
        return row
    if evidence.is_tail or min(base.size, head.size) < (LEAST_PAIRED if evidence.paired else 1):
        return row
    if (base.any() and head.any()) or (_overlap(base, head) and (base.any() or head.any())):
        return row
    found = compare_exact(base, head, evidence.margin, evidence.metric.better)
    return replace(
        row,
        outcome=found.outcome,
        test="threshold",
        advisory=not evidence.paired,
        notes=found.notes,
    )


def _overlap(base: FloatArray, head: FloatArray) -> bool:
    return bool(head.min() <= base.max() and base.min() <= head.max())
