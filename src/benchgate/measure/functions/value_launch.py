"""One launch of a benchmark that returns a number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.measure.functions.lockstep import observed
from benchgate.measure.workers import WorkerFailedError
from benchgate.model.launch_table import LARGEST
from benchgate.model.metrics import Kind
from benchgate.model.run import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.measure.contract import (
        Observation,
    )
    from benchgate.measure.workers import Worker
    from benchgate.model.metrics import Metric


def measure_values(
    id_: str,
    workers: Sequence[Worker],
    names: Sequence[str],
    metrics: Sequence[Metric],
    kind: Kind | None,
    *,
    timeout_s: float,
) -> tuple[Kind, list[Observation], bool]:
    """Let each worker determine the value once; return the kind, and what `measure_launch` does.

    Args:
        workers: ready workers with no benchmark open.
        names: the benchmark's name in each worker.
        metrics: what each worker measures.
        kind: None in the first launch of a session, which finds it out: a value that differs when
            it is determined again is a sample, and any other is exact.
    """
    for worker, name in zip(workers, names, strict=True):
        worker.allow(timeout_s)
        worker.ask("open", name)
    values = [_value(worker, timeout_s) for worker in workers]
    if kind is None:
        kind = Kind.EXACT
        if all(metric.kind is Kind.SAMPLED for metric in metrics) or values != [
            _value(worker, timeout_s) for worker in workers
        ]:
            kind = Kind.SAMPLED
    is_spent = False
    for worker, metric, value in zip(workers, metrics, values, strict=True):
        if not abs(value) <= LARGEST:
            raise WorkerFailedError(worker, f"it returned {value}, which is too large")
        if metric.unit == "s" and value < 0:
            raise WorkerFailedError(worker, f"it returned {value} seconds, which no time can be")
        worker.allow(timeout_s)
        is_spent = bool(worker.ask("close")["changed"]) or is_spent
    observations = [
        observed(id_, worker, [Series.single(replace(metric, kind=kind), value)])
        for worker, metric, value in zip(workers, metrics, values, strict=True)
    ]
    return kind, observations, is_spent


def _value(worker: Worker, timeout_s: float) -> float:
    worker.allow(timeout_s)
    value: float = worker.ask("value")["value"]
    return value
