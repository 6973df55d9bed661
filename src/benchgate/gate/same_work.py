"""Whether both sides did the same work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.model.metrics import (
    Kind,
)
from benchgate.model.run import Tier

if TYPE_CHECKING:
    from benchgate.model.launch_table import Launch
    from benchgate.model.run import BenchmarkResult, Series


_PARTS_NAMED = 4


def different_work(base: BenchmarkResult, head: BenchmarkResult) -> str:
    """Say that a benchmark's definition changed, and in which parts if they are known."""
    if (base.tier is Tier.STORED) is not (head.tier is Tier.STORED):
        return "another tool measured one side: benchgate and that tool do not measure alike"
    every = dict.fromkeys((*base.parts, *head.parts)) if base.parts and head.parts else {}
    changed = [part for part in every if base.parts.get(part) != head.parts.get(part)]
    why = "the benchmark's own definition changed: base and head did different work"
    if not changed:
        return why
    more = f" and {len(changed) - _PARTS_NAMED} more" if len(changed) > _PARTS_NAMED else ""
    return f"{why}; changed: {', '.join(changed[:_PARTS_NAMED])}{more}"


TOOL: Final = "its tool"
VERSION: Final = "its version, as its tool tells it"
"""Names of two parts of the work of a suite's benchmark."""


def work_in_files(suite: BenchmarkResult) -> str | None:
    """The work that a file of its tool would name; None if it is of no suite."""
    tool = suite.parts.get(TOOL) if suite.tier is Tier.SUITE else None
    if tool is None:
        return None
    version = suite.parts.get(VERSION)
    return f"{tool}:{suite.id}" + ("" if version is None else f"@{version}")


def does_same_work(base: BenchmarkResult, head: BenchmarkResult) -> bool:
    """Whether two benchmarks of one id did the same work, as far as is known."""
    if base.workload == head.workload:
        return True
    return base.tier is Tier.STORED and base.workload == work_in_files(head)


def like_a_suite(base: Series, head: BenchmarkResult) -> Series:
    """Reduce each launch to its median, as benchgate does with the runs of a suite.

    Args:
        base: of any tier.
        head: what it is compared with.
    """
    if head.tier is not Tier.SUITE or base.metric.kind is Kind.EXACT:
        return base
    launches = tuple(_reduced(launch) for launch in base.launches)
    kind = replace(base.metric, kind=Kind.SAMPLED)
    return replace(base, metric=kind, loops=1, launches=launches)


def _reduced(launch: Launch) -> Launch:
    return replace(launch, samples=np.array([np.median(launch.samples)]))
