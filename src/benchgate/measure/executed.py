"""Turns the executions of a command into its metrics and the notes about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.engine import MetricSamples
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, PEAK_RSS, TIME
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray
    from benchgate.measure.process import Execution
    from benchgate.model.run import Metric

_METRICS: tuple[tuple[Metric, Callable[[Execution], float]], ...] = (
    (TIME, lambda execution: execution.wall_ns / 1e9),
    (CPU_TIME, lambda execution: (execution.user_ns + execution.system_ns) / 1e9),
    (PEAK_RSS, lambda execution: execution.peak_rss_bytes),
)


def measured_in(samples: list[Execution], warmup: list[Execution]) -> tuple[MetricSamples, ...]:
    """Return the metrics of a burst's executions."""
    measured = [
        MetricSamples(
            metric=metric,
            loops=1,
            samples=np.array([value(execution) for execution in samples], dtype=np.float64),
            warmup=np.array([value(execution) for execution in warmup], dtype=np.float64),
        )
        for metric, value in _METRICS
    ]
    if all(execution.count is not None for execution in samples):
        measured.append(MetricSamples(INSTRUCTIONS, 1, _counts(samples), _counts(warmup)))
    return tuple(measured)


def _counts(executions: list[Execution]) -> FloatArray:
    counts = [execution.count for execution in executions if execution.count is not None]
    return np.array(counts, dtype=np.float64)


def notes_on(samples: list[Execution]) -> tuple[str, ...]:
    """Return notes that a reader of the metrics must see."""
    return (*_memory_notes(samples), *_count_notes(samples))


def _memory_notes(samples: list[Execution]) -> tuple[str, ...]:
    floor_bytes = max(execution.peak_rss_floor_bytes for execution in samples)
    if all(execution.peak_rss_bytes > floor_bytes for execution in samples):
        return ()
    return (f"{PEAK_RSS.name}: values below {format_value(floor_bytes, 'B')} cannot be told apart",)


def _count_notes(samples: list[Execution]) -> tuple[str, ...]:
    reasons = dict.fromkeys(execution.uncounted for execution in samples if execution.uncounted)
    return tuple(f"{INSTRUCTIONS.name}: {reason}" for reason in reasons)
