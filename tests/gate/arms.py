"""Runs made of given values: every sample of a launch is the value, and so is its statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tests.results import of_benchmarks, series_of

from benchgate.config import loads
from benchgate.gate.evidence import Pair
from benchgate.gate.suite import Design, judge_suite
from benchgate.gate.waves import WaveSettings
from benchgate.model.run import BenchmarkFiles, BenchmarkResult, Series, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.suite import Judgment

WAVES = WaveSettings(alpha=0.01, screen_rounds=5, confirm_rounds=12, max_rounds=30)


def bench(
    id_: str = "b",
    values: Iterable[float | Sequence[float]] | Series = (),
    **more: Any,  # noqa: ANN401 - any field of either
) -> BenchmarkResult:
    """Make a benchmark of one metric, or of the series given."""
    about = {
        k: more.pop(k)
        for k in (
            *("status", "error", "of_all", "notes", "location", "display_unit", "workload"),
            *("files", "new_version_of", "uses_files"),
        )
        if k in more
    }
    one = values if isinstance(values, Series) else series_of(values, **more)
    return BenchmarkResult(
        id_, about.pop("workload", "w"), Tier.LOCKSTEP, (one,) if one.launches else (), **about
    )


def pair_of(id_: str = "b", **more: Any) -> Pair:  # noqa: ANN401 - any field of a benchmark
    """Join two sides that have nothing but an id."""
    return Pair(id_, bench(id_, **more), bench(id_, **more))


def judged(
    base: Sequence[BenchmarkResult],
    head: Sequence[BenchmarkResult],
    toml: str = "",
    *,
    paired: bool = True,
    waves: WaveSettings | None = WAVES,
    files: BenchmarkFiles = BenchmarkFiles.OWN,
) -> Judgment:
    """Judge benchmarks of two arms; by default measured in waves."""
    runs = [
        of_benchmarks(*arm, started="2026-01-01T00:00:00Z", files=files) for arm in (base, head)
    ]
    return judge_suite(
        runs[0], runs[1], loads(toml, "test.toml"), Design(paired=paired, waves=waves)
    )


def heads(n: int, change: float = 0.0, spread: float = 0.002) -> FloatArray:
    """Give values of the head to a base of 1 in every launch: `change` +- 0.1 %, none tied."""
    places = [k * 0.6180339887 % 1 for k in range(n)]  # even at every n
    return np.array([1 + change + spread * (place - 0.5) for place in places], np.float64)
