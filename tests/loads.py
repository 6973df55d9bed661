"""Steps of scenarios, as a run of the load generator leaves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.model.load import (
    Generator,
    KeptError,
    LoadLaunch,
    LoadResult,
    Loop,
    Windows,
    WorkerGroup,
)
from benchgate.model.metrics import UNDER_LOAD
from benchgate.model.run import BenchmarkResult, Launch, Series, Tier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray

GENERATOR = Generator((WorkerGroup("here", 4, 0.4),), 0.001, None)
WINDOWS = Windows(
    width_s=1.0,
    last_s=0.5,
    ops=(2, 0, 1),
    errors=(0, 1, 0),
    p50_ns=(1_000_000, None, 3_000_000),
    p95_ns=(2_000_000, None, 3_000_000),
    p99_ns=(2_000_000, None, 3_000_000),
)


def load_launch(round_: int = 0, **more: Any) -> LoadLaunch:  # noqa: ANN401 - any field
    """A launch of three operations, one after a second without any."""
    whole = LoadLaunch(
        round=round_,
        duration_s=2.5,
        ops=3,
        errors=1,
        kept_errors=(KeptError(1.2, "the database is locked"),),
        histogram="",
        sample="",
        windows=WINDOWS,
        generator=GENERATOR,
    )
    return replace(whole, **more)


def load_result(*launches: LoadLaunch, **more: Any) -> LoadResult:  # noqa: ANN401 - any field
    """The load of a step of one scenario."""
    whole = LoadResult("orders", "sqlite", "lookup", Loop.CLOSED, 4, 0.0, launches=launches)
    return replace(whole, **more)


def step(
    values: Mapping[str, Sequence[float] | FloatArray],
    id_: str = "orders/lookup",
    load: LoadResult | None = None,
    **more: Any,  # noqa: ANN401 - any field
) -> BenchmarkResult:
    """A step of a scenario with these values of its metrics, one for each launch."""
    series = tuple(
        Series(
            metric,
            1,
            tuple(
                Launch(round_, 0, samples=np.array([value], dtype=np.float64), warmup=np.empty(0))
                for round_, value in enumerate(values[metric.name])
            ),
        )
        for metric in UNDER_LOAD
        if metric.name in values
    )
    rounds = max((len(one.launches) for one in series), default=0)
    load = load or load_result(*map(load_launch, range(rounds)))
    return BenchmarkResult(id_, "w", Tier.INTERLEAVED, series, load=load, **more)
