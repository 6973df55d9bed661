"""One build, made of rounds from a source: a recording of real launches, or a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.replayed_builds import replay

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate.suite import gather_rows
from benchgate.gate.waves import WaveSettings
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.gate.replayed_builds import ReplayedBuild

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence

TIME = Metric("time", "s")


def run_build(source: Mapping[str, FloatArray], config: Config) -> ReplayedBuild:
    """Judge one build as `check` does, with an infinite budget.

    Args:
        source: for each benchmark the samples of base and head, shape (2, rounds, samples), with as
            many rounds as the gate may ask for.
    """
    evidences = evidences_of(source, config)
    build = replay(evidences, WaveSettings.of(config), config.gate.confidence)
    if build.unfinished:
        raise ValueError(f"there are too few rounds of {', '.join(build.unfinished)}")
    return build


def evidences_of(source: Mapping[str, FloatArray], config: Config) -> list[Evidence]:
    """Gather the rows of both arms, with all rounds."""
    base, head = (_run({id_: values[arm] for id_, values in source.items()}) for arm in (0, 1))
    return gather_rows(base, head, config, paired=True)[1]


def _run(values: Mapping[str, FloatArray]) -> Run:
    """Make the run of one arm from the samples of its launches."""
    benchmarks = (
        BenchmarkResult(id_, "workload", Tier.LOCKSTEP, (Series(TIME, 1, _launches(launches)),))
        for id_, launches in values.items()
    )
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks))


def _launches(values: FloatArray) -> tuple[Launch, ...]:
    return tuple(Launch(index, 0, samples, np.empty(0)) for index, samples in enumerate(values))


def samples_with(quantiles: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Make samples that have these quantiles.

    Args:
        quantiles: for each benchmark p25 and p95 of the launches of base and head, shape
            (2, rounds, 2); a p95 of 0 stands for a tail that was not measured.
    """
    half = LEAST_TAIL_SAMPLES["p95"] // 2
    return {
        id_: np.repeat(values if values[..., 1].any() else values[..., :1], half, axis=-1)
        for id_, values in quantiles.items()
    }
