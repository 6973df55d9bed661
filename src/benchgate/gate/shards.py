"""Joins the judgements of a suite's shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gate.suite import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence


def joined(judgements: Sequence[Judgement]) -> Judgement:
    """Join the judgements of a suite's shards; nothing is judged again.

    How many rounds a suspect got was planned for the suspects of its own shard. Among those of all
    shards it might lack rounds, or be tested on more of them than were planned for it.
    """
    return Judgement(
        tuple(row for one in judgements for row in one.rows),
        tuple(need for one in judgements for need in one.needs),
        tuple(warning for one in judgements for warning in one.warnings),
        sum(one.base_benchmarks for one in judgements),
        any(one.doubted for one in judgements),
        tuple(evidence for one in judgements for evidence in one.evidence),
    )
