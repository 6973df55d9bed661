"""One launch of one benchmark in two live workers, one per arm.

They take samples in turn in random order, or together on one CPU. What disturbs one of them then
disturbs the other, too, so the ratio of their times varies much less than if they take turns. The
time of each is the time until it ended, without the time in which it could have run but the CPU was
busy with something else. The OS knows that of a single thread; of several, the time is their CPU
time.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.measure.contract import (
    Observation,
    Stopwatch,
)
from benchgate.measure.functions.asking import are_of_python, ask, ask_if_known, can, long_s
from benchgate.measure.functions.calibration import SampleKind
from benchgate.measure.functions.sample_plan import (
    SamplePlan,
)
from benchgate.measure.functions.sampler import Sampler, Sampling
from benchgate.measure.machine import CounterError
from benchgate.measure.workers import COUNTS_SETUPS, count_per_call
from benchgate.model.metrics import (
    ALLOC_BLOCKS,
    ALLOC_PEAK,
    CPU_TIME,
    INSTRUCTIONS,
    PEAK_RSS,
    PERF,
    TIME,
)
from benchgate.model.run import Series

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from benchgate.measure.functions.samples import Samples
    from benchgate.measure.machine import Event
    from benchgate.measure.workers import Worker

_NOT_TRACED = "not traced, because a call takes too long for one more"
_BESIDE = (
    "it starts {}, which share one CPU with both sides: to let them run side by side, set "
    "`parallel = True`"
)


@dataclass(frozen=True, slots=True)
class LaunchedBenchmark:
    """A benchmark as it is opened in the workers of one launch.

    Attributes:
        names: its name in each worker.
        timeout_s: limit for each worker's setup, each call, and each later step.
        alone: whether nothing else is measured in these processes.
    """

    id: str
    names: Sequence[str]
    timeout_s: float
    alone: bool = False


def measure_launch(
    launched: LaunchedBenchmark,
    workers: Sequence[Worker],
    plan: SamplePlan | None,
    sampling: Sampling,
    rng: random.Random,
) -> tuple[SamplePlan, list[Observation], bool]:
    """Measure one benchmark in every worker.

    Args:
        workers: ready workers with no benchmark open; each does every step, in this order.
        plan: None in the first launch of a session, which makes it and may trace allocations.

    Returns:
        The plan for the launches that follow; what was seen in each worker; whether a process was
        changed, so that no other benchmark may follow.
    """
    once, timeout_s = Stopwatch(), launched.timeout_s
    opened = [ask([w], timeout_s, "open", n) for w, n in zip(workers, launched.names, strict=True)]
    own_rss = all(step.get("rss_is_own", False) or launched.alone for (step,) in opened)
    kind = SampleKind.of([step for (step,) in opened])
    timeout_s *= kind.number or 1
    plan = SamplePlan(kind.number or 1, 1, 0) if sampling.brief else plan
    is_first = plan is None
    sampler = Sampler(workers, sampling, rng, timeout_s, once, kind)
    plan, warmup, samples = sampler.take(plan)
    is_long = max(wall_ns for (wall_ns, _), *_ in samples) >= 1e9 * long_s(timeout_s)
    peaks = [step["peak_rss"] for step in ask_if_known(workers, timeout_s, "peak")]
    metrics = [_timings(plan, *both) for both in zip(samples, warmup, strict=True)]
    notes, can_count = plan.notes, kind.is_inside and can(workers, "count")
    # One more sample would cost too much for work so slow that it gets a single one.
    if sampling.event and kind.times_each:
        notes += (f"{INSTRUCTIONS.name}: {COUNTS_SETUPS}",)
    elif sampling.event and can_count and (is_first or plan.samples > 1):
        with once if plan.samples == 1 else nullcontext():
            notes += _count(workers, plan.loops, sampling.event, timeout_s, metrics)
    ask_if_known(workers, timeout_s, "end")
    if own_rss and kind.is_inside:
        for found, peak in zip(metrics, peaks, strict=False):
            found.append(Series.single(PEAK_RSS, peak))
    is_wanted = (is_first and sampling.traces) or not are_of_python(workers)
    if is_wanted and kind.is_inside and can(workers, "allocations"):
        with once if is_first else nullcontext():
            notes += _trace(workers, timeout_s, metrics, is_long=is_long)
    closed = ask(workers, timeout_s, "close")
    notes += _notes_on_others(closed) if sampling.pinned else ()
    observations = [
        replace(
            observed(launched.id, worker, found, notes, once.elapsed_s),
            uses_files=uses_files or not kind.is_inside,
        )
        for worker, found, uses_files in zip(workers, metrics, sampler.uses_files, strict=True)
    ]
    return plan, observations, any(step.get("changed") for step in closed)


def _notes_on_others(closed: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Say what worked beside the benchmarks that were closed, if anything did."""
    names = dict.fromkeys(name for step in closed for name in step.get("beside", ()))
    return (_BESIDE.format(" and ".join(names)),) if names else ()


def observed(
    id_: str,
    worker: Worker,
    metrics: Sequence[Series],
    notes: tuple[str, ...] = (),
    once_s: float = 0.0,
) -> Observation:
    """What was seen in a worker whose benchmark is closed."""
    worker.forget_output()
    return Observation(
        worker.arm.name,
        id_,
        worker.order,
        tuple(metrics),
        notes=notes,
        once_s=once_s,
        runs_own_code=worker.runs_own_code,
    )


def _count(
    workers: Sequence[Worker],
    loops: int,
    event: Event,
    timeout_s: float,
    into: Sequence[list[Series]],
) -> tuple[str, ...]:
    """Count in every worker, or say why not: the count of only one arm would be worthless."""
    counts = []
    try:
        for worker in workers:
            worker.allow(timeout_s)
            counts.append(count_per_call(worker, loops, event))
    except CounterError as error:
        return (f"{INSTRUCTIONS.name}: {error}",)
    for found, count in zip(into, counts, strict=True):
        found.append(Series.single(INSTRUCTIONS, count, loops=loops, counter=PERF))
    return ()


def _trace(
    workers: Sequence[Worker],
    timeout_s: float,
    into: Sequence[list[Series]],
    *,
    is_long: bool,
) -> tuple[str, ...]:
    """Trace the allocations in every worker, or say why not."""
    if is_long:
        return tuple(f"{metric.name}: {_NOT_TRACED}" for metric in (ALLOC_PEAK, ALLOC_BLOCKS))
    for found, step in zip(into, ask(workers, timeout_s, "allocations"), strict=True):
        values = ((metric, step[metric.name]) for metric in (ALLOC_PEAK, ALLOC_BLOCKS))
        found += [Series.single(*each) for each in values if each[1] is not None]
    return ()


def _timings(plan: SamplePlan, samples: Samples, warmup: Samples) -> list[Series]:
    pairs = [np.array(each, np.float64).reshape(-1, 2).T for each in (samples, warmup)]
    wall, cpu = zip(*(each / (1e9 * plan.loops) for each in pairs), strict=True)
    times = cpu if plan.together and plan.of_cpu else wall
    return [
        Series.of_launch(TIME, *times, loops=plan.loops),
        Series.of_launch(CPU_TIME, *cpu, loops=plan.loops),
    ]
