"""One launch of one benchmark in two live workers, one per arm."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.measure.counters import COUNTS_SETUPS, CounterError, count_per_call
from benchgate.measure.engine import MetricSamples, Observation, Stopwatch
from benchgate.measure.lockstep import (
    SamplePlan,
    Work,
    make_plan,
    mostly_waits,
    only_computes,
    shared_loops,
    take_samples,
    target_interval_ns,
    warm_up_until_settled,
)
from benchgate.measure.worker import WorkerFailedError
from benchgate.model.run import (
    ALLOC_BLOCKS,
    ALLOC_PEAK,
    CPU_TIME,
    INSTRUCTIONS,
    LARGEST,
    PEAK_RSS,
    PERF,
    TIME,
    Kind,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from benchgate.measure.counters import Event
    from benchgate.measure.lockstep import Samples
    from benchgate.measure.worker import Worker
    from benchgate.model.run import Metric


# How much longer than the next call the first call may take, and still count as warm. To discard it
# doubles a launch with one sample; to keep it hides a fifth of a change at most. Up to here, more
# rounds of half the cost see more.
_WARM_RATIO = 1.25
# A call that takes this long is a launch: it is neither repeated nor traced. Otherwise 9 rounds
# of it would not fit into the default budget.
_LONG_S = 10.0
_NOT_TRACED = "not traced, because a call takes too long for one more"
# How many times as fast calls must become in the warm-up, to calibrate again.
_MUCH_FASTER = 2
_BESIDE = (
    "it starts {}, which share one CPU with both sides: to let them run side by side, set "
    "`parallel = True`"
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much to measure in a launch.

    Attributes:
        samples: number of samples, if the work is short enough.
        launch_ns: time for these samples.
        warmup: samples to discard; None to continue until they settle.
        event: the event to count as instructions, after the samples; None to count nothing.
        brief: take a single sample, to see whether the benchmark works.
        pinned: whether the workers share one CPU.
        together: whether both arms may take a sample at the same time.
    """

    samples: int
    launch_ns: int
    warmup: int | None
    event: Event | None = None
    brief: bool = False
    pinned: bool = False
    together: bool = False


def measure_launch(
    id_: str,
    workers: Sequence[Worker],
    names: Sequence[str],
    plan: SamplePlan | None,
    sampling: Sampling,
    *,
    rng: random.Random,
    timeout_s: float,
    alone: bool,
) -> tuple[SamplePlan, list[Observation], bool]:
    """Measure one benchmark in every worker.

    Args:
        workers: ready workers with no benchmark open; each does every step, in this order.
        names: the benchmark's name in each worker.
        plan: None in the first launch of a session, which makes the plan and traces
            allocations.
        timeout_s: limit for each worker's setup, each call, and each later step.
        alone: whether nothing else is measured in these processes.

    Returns:
        The plan for the launches that follow; what was seen in each worker; whether a process was
        changed, so that no other benchmark may follow.
    """
    once = Stopwatch()
    opened = [_ask([w], timeout_s, "open", id=n) for w, n in zip(workers, names, strict=True)]
    own_rss = [step["rss_is_own"] or alone for (step,) in opened]
    # Of work in other processes, only times are known.
    is_inside = all(step["is_inside"] for (step,) in opened)
    times_each = any(step["times_each"] for (step,) in opened)
    number = max(step["number"] for (step,) in opened)
    timeout_s *= number
    plan = SamplePlan(number, 1, 0) if sampling.brief else plan
    is_first = plan is None
    sampler = _Sampler(workers, sampling, rng, timeout_s, once, times_each, is_inside)
    plan, warmup, samples = sampler.take(plan)
    is_long = max(wall_ns for (wall_ns, _), *_ in samples) >= 1e9 * _long_s(timeout_s)
    peaks = [step["peak_rss"] for step in _ask(workers, timeout_s, "peak")]
    metrics = [_timings(plan, *both) for both in zip(samples, warmup, strict=True)]
    notes = plan.notes
    # One more sample would cost too much for work so slow that it gets a single one.
    if sampling.event and times_each:
        notes += (f"{INSTRUCTIONS.name}: {COUNTS_SETUPS}",)
    elif sampling.event and is_inside and (is_first or plan.samples > 1):
        with once if plan.samples == 1 else nullcontext():
            notes += _count(workers, plan.loops, sampling.event, timeout_s, metrics)
    _ask(workers, timeout_s, "end")
    for found, peak in zip(metrics, peaks, strict=True):
        if all(own_rss) and is_inside:
            found.append(MetricSamples.single(PEAK_RSS, peak))
    if is_first and is_inside:
        with once:
            notes += _trace(workers, timeout_s, metrics, is_long=is_long)
    closed = _ask(workers, timeout_s, "close")
    beside = dict.fromkeys(name for step in closed for name in step["beside"])
    if beside and sampling.pinned:
        notes += (_BESIDE.format(" and ".join(beside)),)
    observations = [
        _observed(id_, worker, found, notes, once.elapsed_s)
        for worker, found in zip(workers, metrics, strict=True)
    ]
    return plan, observations, any(step["changed"] for step in closed)


def _observed(
    id_: str,
    worker: Worker,
    metrics: Sequence[MetricSamples],
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


def _ask(
    workers: Sequence[Worker], timeout_s: float, step: str, **arguments: object
) -> list[dict[str, Any]]:
    """Let each worker carry out one step, one worker after the other."""
    replies = []
    for worker in workers:
        worker.allow(timeout_s)
        replies.append(worker.ask(step, **arguments))
    return replies


def _long_s(timeout_s: float) -> float:
    """How long a sample takes at least if it is not repeated; repeated ones share a limit."""
    return min(_LONG_S, timeout_s / 3)


@dataclass(slots=True)
class _Sampler:
    """Takes the samples of one launch, in workers with the same benchmark open.

    Attributes:
        once: times what only the first launch of a session needs.
    """

    workers: Sequence[Worker]
    sampling: Sampling
    rng: random.Random
    timeout_s: float
    once: Stopwatch
    times_each: bool
    is_inside: bool

    def take(self, plan: SamplePlan | None) -> tuple[SamplePlan, list[Samples], list[Samples]]:
        """Follow the plan; make another one if there is none, or the samples are not like it.

        They may be much faster than the calls that it was made from, or wait for the other arm.

        Returns:
            The plan, and of each worker the warm-up and the samples.
        """
        calls_ns: list[float] = []
        together = self.sampling.together and len(self.workers) > 1
        if plan is None:
            with self.once:
                plan, calls_ns = self._calibrate(together=together)
        taken = self._follow(plan)
        plan, warmup, samples = taken
        waits = plan.together and not plan.of_cpu and any(map(_mostly_waits, samples))
        # Without calls that the plan was just made from, there is nothing to compare.
        faster = [
            before_ns * plan.loops > _MUCH_FASTER * min(wall_ns for wall_ns, _ in discarded + each)
            for before_ns, discarded, each in zip(calls_ns, warmup, samples, strict=False)
        ]
        if not waits and not any(faster):
            return taken
        with self.once:
            _ask(self.workers, self.timeout_s, "end")
            plan, _ = self._calibrate(together=together and not waits)
        return self._follow(plan)

    def _follow(self, plan: SamplePlan) -> tuple[SamplePlan, list[Samples], list[Samples]]:
        """Warm up, then take the samples."""
        try:
            warmup, plan = self._warm_up(plan)
            self._ask_sharing(plan, "begin")
            samples = take_samples(self.workers, plan.samples, self.rng, together=plan.together)
        except WorkerFailedError as failure:
            failure.is_beside = plan.together
            raise
        return plan, warmup, samples

    def _calibrate(self, *, together: bool) -> tuple[SamplePlan, list[float]]:
        """Make a plan; return it, and the duration of a call in each worker, in ns."""
        workers, timeout_s, sampling = self.workers, self.timeout_s, self.sampling
        timer_cost_ns = max(worker.timer.error_ns for worker in workers)
        target_ns = target_interval_ns(timer_cost_ns, sampling.launch_ns, sampling.samples)
        long_ns = int(1e9 * _long_s(timeout_s))
        limits = {"target_ns": target_ns, "long_ns": long_ns}
        found = _ask(workers, timeout_s, "calibrate", may_share=together, **limits)
        loops = shared_loops([(each["loops"], each["sample_ns"]) for each in found], target_ns)
        samples_ns = [
            each["sample_ns"]
            if each["loops"] == loops
            else _ask([worker], timeout_s, "time", loops=loops)[0]["sample_ns"]
            for each, worker in zip(found, workers, strict=True)
        ]
        work = Work(
            loops=loops,
            samples_ns=samples_ns,
            beside_ns=max(each["beside_ns"] for each in found),
            has_number=any(each["has_number"] for each in found),
            is_limited=loops < max(each["loops"] for each in found),
            times_each=self.times_each,
            is_warm=all(each["first_ns"] <= _WARM_RATIO * each["sample_ns"] for each in found),
            only_computes=together and only_computes(each["waiting_ratio"] for each in found),
            is_several=not self.is_inside or any(each["is_several"] for each in found),
        )
        plan = make_plan(
            work,
            timer_cost_ns=timer_cost_ns,
            launch_ns=sampling.launch_ns,
            samples=sampling.samples,
            warmup=sampling.warmup,
        )
        return plan, [sample_ns / loops for sample_ns in samples_ns]

    def _warm_up(self, plan: SamplePlan) -> tuple[list[Samples], SamplePlan]:
        """Discard samples; if their number is open, determine it for all launches."""
        self._ask_sharing(plan, "loops", loops=plan.loops, shares_cpu=plan.together)
        if plan.warmup is not None:
            warmup = take_samples(self.workers, plan.warmup, self.rng, together=plan.together)
            return warmup, plan
        warmup, settled = warm_up_until_settled(self.workers, self.rng)
        count = len(warmup[0])
        notes = plan.notes
        if not settled:
            notes += (f"the warm-up has not settled after {count} samples",)
        return warmup, replace(plan, warmup=count, notes=notes)

    def _ask_sharing(self, plan: SamplePlan, step: str, **arguments: object) -> None:
        """Let each worker carry out a step; the samples that follow have the same time limit."""
        factor = len(self.workers) if plan.together else 1
        _ask(self.workers, factor * self.timeout_s, step, **arguments)


def _mostly_waits(samples: Samples) -> bool:
    return mostly_waits([1 - cpu_ns / max(wall_ns, 1) for wall_ns, cpu_ns in samples])


def _count(
    workers: Sequence[Worker],
    loops: int,
    event: Event,
    timeout_s: float,
    into: Sequence[list[MetricSamples]],
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
        found.append(MetricSamples.single(INSTRUCTIONS, count, loops=loops, counter=PERF))
    return ()


def _trace(
    workers: Sequence[Worker],
    timeout_s: float,
    into: Sequence[list[MetricSamples]],
    *,
    is_long: bool,
) -> tuple[str, ...]:
    """Trace the allocations in every worker, or say why not."""
    if is_long:
        return tuple(f"{metric.name}: {_NOT_TRACED}" for metric in (ALLOC_PEAK, ALLOC_BLOCKS))
    for found, step in zip(into, _ask(workers, timeout_s, "allocations"), strict=True):
        values = ((metric, step[metric.name]) for metric in (ALLOC_PEAK, ALLOC_BLOCKS))
        found += [MetricSamples.single(*each) for each in values if each[1] is not None]
    return ()


def _timings(plan: SamplePlan, samples: Samples, warmup: Samples) -> list[MetricSamples]:
    pairs = [np.array(each, np.float64).reshape(-1, 2).T for each in (samples, warmup)]
    wall, cpu = zip(*(each / (1e9 * plan.loops) for each in pairs), strict=True)
    times = cpu if plan.together and plan.of_cpu else wall
    return [MetricSamples(TIME, plan.loops, *times), MetricSamples(CPU_TIME, plan.loops, *cpu)]


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
        if not abs(value) <= LARGEST:
            raise WorkerFailedError(worker, f"it returned {value}, which is too large")
        if metric.unit == "s" and value < 0:
            raise WorkerFailedError(worker, f"it returned {value} seconds, which no time can be")
        worker.allow(timeout_s)
        is_spent = bool(worker.ask("close")["changed"]) or is_spent
    observations = [
        _observed(id_, worker, [MetricSamples.single(replace(metric, kind=kind), value)])
        for worker, metric, value in zip(workers, metrics, values, strict=True)
    ]
    return kind, observations, is_spent


def _value(worker: Worker, timeout_s: float) -> float:
    worker.allow(timeout_s)
    value: float = worker.ask("value")["value"]
    return value
