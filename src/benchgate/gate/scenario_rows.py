"""Gives the throughput of each closed loop to its scenario, a benchmark beside its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.under_load import is_step
from benchgate.model.load import Loop
from benchgate.model.metrics import (
    THROUGHPUT,
)
from benchgate.model.run import BenchmarkResult, Series, Status, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.model.launch_table import Launch
    from benchgate.model.metrics import Metric


def with_scenarios(
    base: Sequence[BenchmarkResult], head: Sequence[BenchmarkResult]
) -> tuple[list[BenchmarkResult], list[BenchmarkResult]]:
    """Give the throughput of each closed loop to its scenario, a benchmark beside its steps.

    The steps of a closed loop share its workers: if one step gets slower, the others get their turn
    less often. So the throughput of a step says nothing about the step. It stays with the step if
    there is only one, and in an open loop.

    Args:
        base, head: the benchmarks of both sides. A scenario has a throughput if all of its steps
            ran on both.
    """
    groups = [_closed_loops(side) for side in (base, head)]
    shared = {id_ for group in groups for id_, steps in group.items() if len(steps) > 1}
    sides = []
    for side, group in zip((base, head), groups, strict=True):
        steps = {step.id for id_ in shared for step in group.get(id_, ())}
        complete = [id_ for id_ in shared if all(_is_complete(other.get(id_)) for other in groups)]
        sides.append(
            [_without_throughput(one) if one.id in steps else one for one in side]
            + [_scenario(id_, group[id_]) for id_ in sorted(complete)]
        )
    return sides[0], sides[1]


def steps_of(result: BenchmarkResult) -> tuple[str, ...]:
    """The ids of the steps if it is a scenario's throughput, else its own id alone."""
    is_scenario = is_step(result) and result.load is None and _metrics(result) == {THROUGHPUT}
    return tuple(result.parts) if is_scenario and result.parts else (result.id,)


def scenario_of(result: BenchmarkResult) -> str:
    """The id of the scenario that it is a step of, or whose throughput it is; "" if of none."""
    if result.load:
        return result.id.removesuffix(f"/{result.load.step}")
    return "" if steps_of(result) == (result.id,) else result.id


def _closed_loops(side: Iterable[BenchmarkResult]) -> dict[str, list[BenchmarkResult]]:
    """The steps of each closed loop, by the id of the scenario."""
    found: dict[str, list[BenchmarkResult]] = {}
    for one in side:
        if one.load and one.load.loop is Loop.CLOSED:
            found.setdefault(scenario_of(one), []).append(one)
    # Steps that ran with other benchmark files did not share workers with the rest.
    files = {id_: min(one.files for one in steps) for id_, steps in found.items()}
    return {id_: [one for one in steps if one.files is files[id_]] for id_, steps in found.items()}


def _is_complete(steps: Sequence[BenchmarkResult] | None) -> bool:
    return bool(steps) and all(
        one.status is Status.OK and THROUGHPUT in _metrics(one) for one in steps or ()
    )


def _metrics(result: BenchmarkResult) -> set[Metric]:
    return {series.metric for series in result.series}


def _without_throughput(step: BenchmarkResult) -> BenchmarkResult:
    return replace(step, series=tuple(s for s in step.series if s.metric != THROUGHPUT))


def _scenario(id_: str, steps: Sequence[BenchmarkResult]) -> BenchmarkResult:
    """Add the throughput of the steps, launch by launch."""
    parts = {step.id: step.workload for step in steps}
    launches: dict[int, list[Launch]] = {}
    for step in steps:
        for series in step.series:
            for launch in series.launches if series.metric == THROUGHPUT else ():
                launches.setdefault(launch.round, []).append(launch)
    together = tuple(
        replace(each[0], samples=np.sum([launch.samples for launch in each], axis=0))
        for _, each in sorted(launches.items())
        if len(each) == len(steps)
    )
    return BenchmarkResult(
        id_,
        " ".join(parts.values()),
        Tier.INTERLEAVED,
        (Series(THROUGHPUT, 1, together),),
        location=steps[0].location,
        parts=parts,
        round_s=steps[0].round_s,
        files=steps[0].files,
    )
