"""Steps of scenarios, as a run of the load generator leaves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.model.launch_table import Launch
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
from benchgate.model.run import BenchmarkResult, Series, Tier
from benchgate.stats.histogram import Histogram, encode, pack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray, IntArray

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


def recorded(
    latencies_ns: IntArray,
    ended_s: FloatArray,
    duration_s: int,
    *,
    failed_s: Sequence[float] = (),
    **more: Any,  # noqa: ANN401 - any field
) -> LoadLaunch:
    """A launch with these latencies, of operations that ended at these times."""
    histogram = Histogram()
    histogram.record_many(latencies_ns)
    each = [latencies_ns[ended_s.astype(np.int64) == second] for second in range(duration_s)]
    failed = [sum(int(at) == second for at in failed_s) for second in range(duration_s)]

    def percentiles(p: float) -> tuple[int | None, ...]:
        return tuple(int(np.quantile(one, p)) if len(one) else None for one in each)

    return load_launch(
        duration_s=float(duration_s),
        ops=len(latencies_ns),
        errors=sum(failed),
        kept_errors=tuple(KeptError(at, "the database is locked") for at in failed_s),
        histogram=encode(histogram),
        sample=pack(latencies_ns[:10_000]),
        windows=Windows(
            width_s=1.0,
            last_s=1.0,
            ops=tuple(map(len, each)),
            errors=tuple(failed),
            p50_ns=percentiles(0.5),
            p95_ns=percentiles(0.95),
            p99_ns=percentiles(0.99),
        ),
        **more,
    )


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


def measured_step(
    rng: np.random.Generator,
    slower: float = 1.0,
    *,
    rounds: int = 5,
    stall: bool = False,
    failing: int = 0,
    id_: str = "orders/lookup",
    **more: Any,  # noqa: ANN401 - any field of the load
) -> BenchmarkResult:
    """A step with latencies of about a millisecond, measured for 5 s in each launch.

    Args:
        stall: whether no operation ends in the third second.
        failing: how many operations fail in each launch.
    """
    values: dict[str, list[float]] = {metric.name: [] for metric in UNDER_LOAD}
    launches = []
    for round_ in range(rounds):
        count = round(500 / slower * rng.normal(1, 0.02))
        latencies = (rng.gamma(4, 250_000, count) * slower * rng.normal(1, 0.01)).astype(np.int64)
        ended = np.sort(rng.uniform(0, 5, count))
        ended = np.where(stall & (ended // 1 == 2), 1.99, ended)
        failed = tuple(float(at) for at in rng.uniform(0, 5, failing))
        launches.append(recorded(latencies, ended, 5, failed_s=failed, round=round_))
        values["throughput"].append(count / 5)
        for name, p in zip(list(values)[1:5], (0.5, 0.95, 0.99, 0.999), strict=True):
            values[name].append(float(np.quantile(latencies, p)) / 1e9)
        values["error_ratio"].append(failing / (count + failing))
    _, _, name = id_.rpartition("/")
    return step(values, id_, load_result(*launches, **{"step": name, **more}))
