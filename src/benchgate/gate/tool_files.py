"""Compares a suite that benchgate ran with a file that the same tool wrote elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.model.run import Kind, Tier

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult, Launch, Series

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
