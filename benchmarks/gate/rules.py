"""Simple rules that people use instead, applied to the same recorded launches.

Each rule takes the samples of ten rounds of both arms of one benchmark, shape (rounds, samples),
and says whether the head is slower. A build fails if one of its benchmarks is slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney, mann_whitney_classical
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.arrays import FloatArray

Rule: TypeAlias = "Callable[[FloatArray, FloatArray], bool]"

ROUNDS = 10
_SLOWER_RATIO = 1.05
_P = 0.05


def mean_ratio_above(limit: float) -> Rule:
    """Whether the mean of all samples of the head is more than `limit` times that of the base."""
    return lambda base, head: bool(head.mean() > limit * base.mean())


def p95_ratio(base: FloatArray, head: FloatArray) -> bool:
    """Whether the pooled p95 of the head is at least 1.05 times that of the base."""
    before, after = nearest_rank(base.ravel(), 0.95), nearest_rank(head.ravel(), 0.95)
    return bool(after >= _SLOWER_RATIO * before)


def pooled_mann_whitney(base: FloatArray, head: FloatArray) -> bool:
    """Whether Mann-Whitney over all samples has p < 0.05, and the pooled p95 is 1.05 times."""
    p = mann_whitney_classical(base.reshape(1, -1), head.reshape(1, -1))[0]
    return bool(p < _P) and p95_ratio(base, head)


def launch_means(base: FloatArray, head: FloatArray) -> bool:
    """Whether two-sided Mann-Whitney over the launches' means has p < 0.05, and they are longer."""
    test = mann_whitney(base.mean(axis=1)[np.newaxis], head.mean(axis=1)[np.newaxis])
    return bool(2 * test.p_greater[0] < _P)


RULES: Mapping[str, Rule] = {
    "mean ratio > 1.05": mean_ratio_above(1.05),
    "mean ratio > 1.5": mean_ratio_above(1.5),
    "mean ratio > 2": mean_ratio_above(2.0),
    "p95 ratio >= 1.05": p95_ratio,
    "Mann-Whitney over all samples, and p95 ratio >= 1.05": pooled_mann_whitney,
    "Mann-Whitney over launch means": launch_means,
}


def slower_by(rule: Rule, samples: Mapping[str, FloatArray]) -> set[str]:
    """Give the benchmarks that a rule calls slower, from their first ten rounds.

    Args:
        samples: by benchmark, shape (2, rounds, samples).
    """
    return {id_ for id_, (base, head) in samples.items() if rule(base[:ROUNDS], head[:ROUNDS])}
