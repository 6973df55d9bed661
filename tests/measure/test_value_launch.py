"""Benchmarks that return a number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.functions.returned_values import metric_of
from benchgate.measure.functions.value_launch import measure_values
from benchgate.measure.workers.worker import WorkerFailedError
from benchgate.model.metrics import PEAK_RSS, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.measure.workers.worker import Worker


class Scripted:
    """Answers like a worker whose benchmark returns these values, one after the other."""

    arm = Arm(ArmName.HEAD, Path("root"), Path("env"))
    order = 0
    runs_own_code = True

    def __init__(self, *values: float) -> None:
        self.values: Iterator[float] = iter(values)
        self.asked: list[str] = []

    def allow(self, timeout_s: float) -> None: ...

    def forget_output(self) -> None: ...

    def ask(self, step: str, _: object = "") -> dict[str, object]:
        self.asked.append(step)
        return {"value": next(self.values)} if step == "value" else {"changed": []}


COUNT = Metric("value", "objects", kind=Kind.EXACT)


def measured(
    *players: Scripted, kind: Kind | None = None, metric: Metric = COUNT
) -> tuple[object, list[tuple[Kind, float]]]:
    workers = [cast("Worker", each) for each in players]
    names = ["a"] * len(workers)
    plan, observed, _ = measure_values(
        "x", workers, names, [metric] * len(workers), kind, timeout_s=1
    )
    found = [
        (each.metric.kind, float(each.launches[0].samples[0]))
        for one in observed
        for each in one.metrics
    ]
    return plan, found


@pytest.mark.parametrize(
    ("measures", "unit", "metric"),
    [
        ("time", "seconds", None),
        ("peak_rss", "bytes", PEAK_RSS),
        ("memory", "bytes", Metric("memory", "B", kind=Kind.EXACT)),
        ("value", "unit", Metric("value", "unit", kind=Kind.EXACT)),
        ("value", "seconds", Metric("value", "s", kind=Kind.EXACT)),
        ("value", "bytes", Metric("value", "B", kind=Kind.EXACT)),
        ("value", "MB/s", Metric("value", "MB/s", Better.HIGHER, Kind.EXACT)),
        ("value", "q per second", Metric("value", "q per second", Better.HIGHER, Kind.EXACT)),
        ("value", "ops", Metric("value", "ops", Better.HIGHER, Kind.EXACT)),
        ("value", "hops", Metric("value", "hops", kind=Kind.EXACT)),
    ],
)
def test_metrics(measures: str, unit: str, metric: Metric | None) -> None:
    assert metric_of(measures, unit) == metric


def test_values_that_stay_the_same_are_exact() -> None:
    base, head = Scripted(4, 4), Scripted(5, 5)
    assert measured(base, head) == (Kind.EXACT, [(Kind.EXACT, 4), (Kind.EXACT, 5)])
    assert base.asked == ["open", "value", "value", "close"]


def test_values_that_vary_on_a_side_are_samples() -> None:
    plan, found = measured(Scripted(4, 4), Scripted(5, 6))
    assert (plan, found) == (Kind.SAMPLED, [(Kind.SAMPLED, 4), (Kind.SAMPLED, 5)])


@pytest.mark.parametrize(("kind", "metric"), [(Kind.EXACT, COUNT), (None, PEAK_RSS)])
def test_one_value_is_enough_if_the_kind_is_known(kind: Kind | None, metric: Metric) -> None:
    player = Scripted(4)
    plan, _ = measured(player, kind=kind, metric=metric)
    assert plan is (kind or Kind.SAMPLED)
    assert player.asked == ["open", "value", "close"]


def test_a_negative_time_is_refused() -> None:
    with pytest.raises(WorkerFailedError) as caught:
        measured(Scripted(-1, -1), metric=Metric("value", "s", kind=Kind.EXACT))
    assert caught.value.error.startswith("it returned -1 seconds, which no time can be")
