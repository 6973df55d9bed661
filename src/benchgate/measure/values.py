"""Benchmarks that return a number instead of being timed: asv's track_*, mem_* and peakmem_*."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.engine import MetricSamples
from benchgate.measure.pair import LaunchOutcome
from benchgate.measure.worker_process import WorkerFailedError
from benchgate.model.run import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.measure.worker import Worker
    from benchgate.model.run import Metric


def measure_values(
    workers: Sequence[Worker],
    names: Sequence[str],
    metrics: Sequence[Metric],
    kind: Kind | None,
    *,
    timeout_s: float,
) -> LaunchOutcome[Kind]:
    """Let each worker determine the value once.

    Args:
        workers: ready workers with no benchmark open.
        names: the benchmark's name in each worker.
        metrics: what each worker measures.
        kind: None in the first launch of a session, which finds it out: a value that differs when
            it is determined again is a sample, and any other is exact.

    Raises:
        WorkerFailedError: the benchmark failed; the state of the workers is then unknown.
    """
    for worker, name in zip(workers, names, strict=True):
        worker.allow(timeout_s)
        worker.ask("open", id=name)
    values = [_value(worker, timeout_s) for worker in workers]
    if kind is None:
        kind = Kind.EXACT
        if all(metric.kind is Kind.SAMPLED for metric in metrics) or values != [
            _value(worker, timeout_s) for worker in workers
        ]:
            kind = Kind.SAMPLED
    is_spent = False
    for worker, metric, value in zip(workers, metrics, values, strict=True):
        if metric.unit == "s" and value < 0:
            raise WorkerFailedError(worker, f"it returned {value} seconds, which no time can be")
        worker.allow(timeout_s)
        is_spent = bool(worker.ask("close")["changed"]) or is_spent
        worker.forget_output()
    found = tuple(
        (MetricSamples(replace(metric, kind=kind), 1, np.array([value], np.float64), np.empty(0)),)
        for metric, value in zip(metrics, values, strict=True)
    )
    return LaunchOutcome(kind, found, is_spent)


def _value(worker: Worker, timeout_s: float) -> float:
    worker.allow(timeout_s)
    value: float = worker.ask("value")["value"]
    return value
