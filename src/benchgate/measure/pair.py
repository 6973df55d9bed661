"""One launch of one benchmark in two live workers, one per arm."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from benchgate.measure.counters import COUNTS_SETUPS, CounterError, count_per_call
from benchgate.measure.engine import MetricSamples, Stopwatch
from benchgate.measure.lockstep import (
    SamplePlan,
    Turns,
    make_plan,
    shared_loops,
    take_turns,
    target_interval_ns,
    warm_up_until_settled,
)
from benchgate.model.metrics import (
    ALLOC_BLOCKS,
    ALLOC_PEAK,
    CPU_TIME,
    INSTRUCTIONS,
    PEAK_RSS,
    PERF,
    TIME,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.measure.counters import Event
    from benchgate.measure.worker import Worker
    from benchgate.model.run import Metric

# How much longer than the next call the first call may take, and still count as warm. Calls of
# seconds differ by some percent on a busy machine, and a tenth hides a tenth of a change at most.
_WARM_RATIO = 1.1
# A call that takes this long is a launch: it is neither repeated nor traced. Otherwise 9 rounds
# of it would not fit into the default budget.
_LONG_S = 10.0
_NOT_TRACED = "not traced, because a call takes too long for one more"
# How many times as fast calls must become in the warm-up, to calibrate again.
_MUCH_FASTER = 2
P = TypeVar("P")
_NOTHING: FloatArray = np.empty(0)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much to measure in a launch.

    Attributes:
        samples: number of samples, if the work is short enough.
        launch_ns: time for these samples.
        warmup: samples to discard; None to continue until they settle.
        event: the event to count as instructions, after the samples; None to count nothing.
        brief: take a single sample, to see whether the benchmark works.
    """

    samples: int
    launch_ns: int
    warmup: int | None
    event: Event | None = None
    brief: bool = False


@dataclass(frozen=True, slots=True)
class LaunchOutcome(Generic[P]):
    """The results of one launch.

    Attributes:
        plan: the plan for the launches that follow; of a number that is not a time, its kind.
        metrics: the metrics of each worker, in the order of the workers.
        is_spent: whether a worker's process was changed, so that no other benchmark may follow.
        notes: notes that a reader of the metrics must see.
        once_s: time, in seconds, that only the first launch of a session needs.
        beside: what worked beside the benchmark: "threads", "processes".
    """

    plan: P
    metrics: tuple[tuple[MetricSamples, ...], ...]
    is_spent: bool
    notes: tuple[str, ...] = ()
    once_s: float = 0.0
    beside: tuple[str, ...] = ()


def measure_launch(
    workers: Sequence[Worker],
    names: Sequence[str],
    plan: SamplePlan | None,
    sampling: Sampling,
    rng: random.Random,
    *,
    timeout_s: float,
    alone: bool,
) -> LaunchOutcome[SamplePlan]:
    """Measure one benchmark in every worker.

    Args:
        workers: ready workers with no benchmark open; each does every step, in this order.
        names: the benchmark's name in each worker.
        plan: None in the first launch of a session, which makes the plan and traces
            allocations.
        timeout_s: limit for each worker's setup, each call, and each later step.
        alone: whether nothing else is measured in these processes.

    Raises:
        WorkerFailedError: the benchmark failed; the state of the workers is then unknown.
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
    if plan is None:
        sampled = _first_samples(workers, sampling, rng, timeout_s, once, times_each=times_each)
    else:
        sampled = _take_samples(workers, plan, rng, timeout_s)
    plan, warmup, turns = sampled
    is_long = max(each.wall_ns[0] for each in turns) >= 1e9 * _long_s(timeout_s)
    peaks = [step["peak_rss"] for step in _ask(workers, timeout_s, "peak")]
    metrics = [_timings(plan.loops, *both) for both in zip(turns, warmup, strict=True)]
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
            found.append(_single(PEAK_RSS, peak))
    if is_first and is_inside:
        with once:
            notes += _trace(workers, timeout_s, metrics, is_long=is_long)
    closed = _ask(workers, timeout_s, "close")
    for worker in workers:
        worker.forget_output()
    is_spent = any(step["changed"] for step in closed)
    beside = tuple(dict.fromkeys(name for step in closed for name in step["beside"]))
    return LaunchOutcome(plan, tuple(map(tuple, metrics)), is_spent, notes, once.elapsed_s, beside)


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


def _first_samples(
    workers: Sequence[Worker],
    sampling: Sampling,
    rng: random.Random,
    timeout_s: float,
    once: Stopwatch,
    *,
    times_each: bool,
) -> tuple[SamplePlan, list[Turns], list[Turns]]:
    """Make the plan and follow it; make it again if the calls that it is made from were slow."""
    with once:
        plan, samples_ns = _calibrate(workers, sampling, timeout_s, times_each=times_each)
    sampled = _take_samples(workers, plan, rng, timeout_s)
    _, warmup, turns = sampled
    shortest_ns = [
        min((*before.wall_ns, *each.wall_ns)) for before, each in zip(warmup, turns, strict=True)
    ]
    pairs = zip(shortest_ns, samples_ns, strict=True)
    if all(_MUCH_FASTER * now_ns >= before_ns for now_ns, before_ns in pairs):
        return sampled
    with once:
        _ask(workers, timeout_s, "end")
        plan, _ = _calibrate(workers, sampling, timeout_s, times_each=times_each)
    return _take_samples(workers, plan, rng, timeout_s)


def _take_samples(
    workers: Sequence[Worker], plan: SamplePlan, rng: random.Random, timeout_s: float
) -> tuple[SamplePlan, list[Turns], list[Turns]]:
    """Warm up, then take the samples; return also the warm-up and its number in the plan."""
    warmup, plan = _warm_up(workers, plan, rng, timeout_s)
    _ask(workers, timeout_s, "begin")
    return plan, warmup, take_turns(workers, plan.samples, rng)


def _calibrate(
    workers: Sequence[Worker], sampling: Sampling, timeout_s: float, *, times_each: bool
) -> tuple[SamplePlan, list[int]]:
    """Make a plan; return it, and the duration of a sample in each worker."""
    timer_cost_ns = max(worker.timer.error_ns for worker in workers)
    target_ns = target_interval_ns(timer_cost_ns, sampling.launch_ns, sampling.samples)
    long_ns = int(1e9 * _long_s(timeout_s))
    found = _ask(workers, timeout_s, "calibrate", target_ns=target_ns, long_ns=long_ns)
    loops = shared_loops([(each["loops"], each["sample_ns"]) for each in found], target_ns)
    shared = [
        each if each["loops"] == loops else _ask([worker], timeout_s, "time", loops=loops)[0]
        for each, worker in zip(found, workers, strict=True)
    ]
    samples_ns = [each["sample_ns"] for each in shared]
    plan = make_plan(
        loops,
        samples_ns,
        beside_ns=max(each["beside_ns"] for each in found),
        timer_cost_ns=timer_cost_ns,
        launch_ns=sampling.launch_ns,
        samples=sampling.samples,
        warmup=sampling.warmup,
        is_limited=loops < max(each["loops"] for each in found),
        times_each=times_each,
        is_warm=all(each["first_ns"] <= _WARM_RATIO * each["sample_ns"] for each in found),
    )
    return plan, samples_ns


def _warm_up(
    workers: Sequence[Worker], plan: SamplePlan, rng: random.Random, timeout_s: float
) -> tuple[list[Turns], SamplePlan]:
    """Discard samples; if their number is open, determine it for all launches."""
    _ask(workers, timeout_s, "loops", loops=plan.loops)
    if plan.warmup is not None:
        return take_turns(workers, plan.warmup, rng), plan
    turns, settled = warm_up_until_settled(workers, rng)
    count = len(turns[0].wall_ns)
    notes = plan.notes
    if not settled:
        notes += (f"the warm-up has not settled after {count} samples",)
    return turns, replace(plan, warmup=count, notes=notes)


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
        found.append(replace(_single(INSTRUCTIONS, count), loops=loops, counter=PERF))
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
        found += [_single(metric, value) for metric, value in values if value is not None]
    return ()


def _timings(loops: int, turns: Turns, warmup: Turns) -> list[MetricSamples]:
    scale = 1e9 * loops
    return [
        MetricSamples(TIME, loops, _scaled(turns.wall_ns, scale), _scaled(warmup.wall_ns, scale)),
        MetricSamples(CPU_TIME, loops, _scaled(turns.cpu_ns, scale), _scaled(warmup.cpu_ns, scale)),
    ]


def _scaled(values: Sequence[int], divisor: float) -> FloatArray:
    return np.asarray(values, dtype=np.float64) / divisor


def _single(metric: Metric, value: float) -> MetricSamples:
    return MetricSamples(metric, 1, np.array([value], dtype=np.float64), _NOTHING)
