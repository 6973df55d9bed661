"""Joins the judgments of a suite's shards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.gate.suite import Judgment
from benchgate.model.result import ids_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.result import Result
    from benchgate.model.run import Run


def joined(judgments: Sequence[Judgment]) -> Judgment:
    """Join the judgments of a suite's shards without judging again.

    A suspect's number of rounds was planned for the suspects of its own shard. If all shards were
    judged together, it could lack rounds, or be tested on more rounds than planned.
    """
    return Judgment(
        tuple(row for one in judgments for row in one.rows),
        tuple(need for one in judgments for need in one.needs),
        tuple(warning for one in judgments for warning in one.warnings),
        sum(one.base_benchmarks for one in judgments),
        any(one.doubted for one in judgments),
        any(one.disturbed for one in judgments),
        tuple(evidence for one in judgments for evidence in one.evidence),
    )


def share_of(base: Run, head: Result, aliases: Mapping[str, str]) -> Run:
    """Leave out of a stored base the benchmarks that other shards measure."""
    if head.shard is None:
        return base
    others = set(head.shard.dealt).difference(ids_of(head))
    kept = (b for b in base.benchmarks if others.isdisjoint({b.id, aliases.get(b.id, b.id)}))
    return replace(base, benchmarks=tuple(kept))


def about_shard(result: Result) -> tuple[str, ...]:
    """Return a note that the verdict covers only one shard; nothing for a whole suite."""
    shard = result.shard
    if shard is None or shard.count == 1:
        return ()
    own, all_ = len(ids_of(result)), len(shard.dealt)
    join = "`benchgate merge` joins the results of all shards"
    return (f"shard {shard.number} of {shard.count}: {own} of {all_} benchmarks; {join}",)
