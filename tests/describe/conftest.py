"""Results made of given samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Kind, Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray

TIME = Metric("time", "s")
COUNT = Metric("alloc_blocks", "", kind=Kind.EXACT)


def series_of(
    launches: Sequence[Sequence[float] | FloatArray],
    *,
    warmup: Sequence[float] = (),
    metric: Metric = TIME,
    loops: int = 1,
) -> Series:
    """A series with these samples."""
    return Series(
        metric,
        loops,
        tuple(
            Launch(k, 0, np.array(samples, dtype=np.float64), np.array(warmup, dtype=np.float64))
            for k, samples in enumerate(launches)
        ),
    )


def benchmark_of(id_: str, *series: Series) -> BenchmarkResult:
    """A benchmark with these series."""
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, series)


def result_of(*benchmarks: BenchmarkResult) -> Result:
    """A result of one run."""
    return Result(Run(Source(), "2026-01-01T00:00:00Z", Environment(), benchmarks))


def noisy_launches(
    seed: int, launches: int, samples: int, *, between: float, within: float
) -> list[FloatArray]:
    """Times around 1 ms: standard deviations as fractions, of launches and of their samples."""
    rng = np.random.default_rng(seed)
    levels = 1e-3 * np.exp(rng.normal(0, between, launches))
    return [level * np.exp(rng.normal(0, within, samples)) for level in levels]
