"""What a launch of a scenario says about one of its steps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.engine import MetricSamples, Observation
from benchgate.model.run import ERROR_RATIO, THROUGHPUT, TIME_P50, TIME_P95, TIME_P99, TIME_P999
from benchgate.stats.histogram import decode
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from benchgate.measure.engine import ArmName
    from benchgate.model.load import LoadLaunch
    from benchgate.model.run import Metric

_PERCENTILES = ((TIME_P50, 0.5), (TIME_P95, 0.95), (TIME_P99, 0.99), (TIME_P999, 0.999))
_NS_PER_S = 1e9


def observed(
    arm: ArmName, id_: str, order: int, launch: LoadLaunch, max_error_rate: float
) -> Observation:
    """Turn what a step did into an observation.

    Args:
        max_error_rate: with a larger share of errors, the step has failed.
    """
    if error := trouble_of(launch, max_error_rate):
        return Observation(arm, id_, order, error=error)
    return Observation(arm, id_, order, metrics=metrics_of(launch), load=launch)


def trouble_of(launch: LoadLaunch, max_error_rate: float) -> str:
    """Why the numbers of a step are worth nothing; "" if they are not."""
    total = launch.ops + launch.errors
    if not total:
        return (
            f"none of its operations ended within the {format_duration(launch.duration_s)} of load"
            "\nGive it more time by `duration`, or a larger share by `weight`."
        )
    rate = launch.errors / total
    if not launch.ops or rate > max_error_rate:
        return "\n".join([_too_many(launch, total, max_error_rate), *_most_frequent(launch)])
    return ""


def metrics_of(launch: LoadLaunch) -> tuple[MetricSamples, ...]:
    """The metrics of a step that has at least one operation: one value each."""
    histogram = decode(launch.histogram)
    latencies = (
        _one(metric, (histogram.percentile(rank) or 0) / _NS_PER_S) for metric, rank in _PERCENTILES
    )
    return (
        _one(THROUGHPUT, launch.ops / launch.duration_s),
        *latencies,
        _one(ERROR_RATIO, launch.errors / (launch.ops + launch.errors)),
    )


def _one(metric: Metric, value: float) -> MetricSamples:
    return MetricSamples(metric, 1, np.array([value], dtype=np.float64), np.empty(0))


def _too_many(launch: LoadLaunch, total: int, max_error_rate: float) -> str:
    if not launch.ops:
        return f"all of its {counted(total, 'operation')} failed"
    share = format_percent(launch.errors / total)
    limit = f"`max_error_rate` allows {format_percent(max_error_rate)}"
    return f"{launch.errors} of {counted(total, 'operation')} failed ({share}; {limit})"


def _most_frequent(launch: LoadLaunch) -> list[str]:
    texts = Counter(one.text for one in launch.kept_errors)
    if not texts:
        return []
    text, times = texts.most_common(1)[0]
    kept = len(launch.kept_errors)
    if times == kept == launch.errors:
        return [f"each time: {text}" if times > 1 else text]
    of = f"of the first {kept}" if kept < launch.errors else f"of {kept}"
    return [f"{times} {of} errors: {text}"]
