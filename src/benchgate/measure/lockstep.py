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
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from benchgate.measure.counters import COUNTS_SETUPS, CounterError, count_per_call
from benchgate.measure.engine import MetricSamples, Observation, Stopwatch
from benchgate.measure.file_use import FileUse
from benchgate.measure.machine import run_time_ns
from benchgate.measure.sample_plan import (
    WARMUP_WINDOW,
    SamplePlan,
    Work,
    make_plan,
    mostly_waits,
    only_computes,
    shared_loops,
    target_interval_ns,
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
from benchgate.stats.trend import settled_index

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from benchgate.measure.counters import Event
    from benchgate.measure.worker import Worker
    from benchgate.model.run import Metric


_MOST_WARMUP = 60
_MOST_TRIES = 3

Samples: TypeAlias = "list[tuple[int, int]]"
"""The wall and CPU time of the samples of one arm, in order, each for all loops, in ns."""


class Player(Protocol):
    """A live worker with a benchmark open."""

    def begin_sample(self) -> None: ...

    def end_sample(self) -> tuple[int, int]:
        """Wait for the sample; return (wall_ns, cpu_ns)."""
        ...


def take_samples(
    players: Sequence[Player], count: int, rng: random.Random, *, together: bool = False
) -> list[Samples]:
    """Take `count` samples of every player, in a fresh random order for each.

    Args:
        together: let all begin a sample before any has ended it; otherwise they take turns.
    """
    samples: list[Samples] = [[] for _ in players]
    order = list(range(len(players)))
    for _ in range(count):
        rng.shuffle(order)
        for group in [order] if together else [[index] for index in order]:
            for index in group:
                players[index].begin_sample()
            for index in group:
                samples[index].append(players[index].end_sample())
    return samples


def warm_up_until_settled(
    players: Sequence[Player], rng: random.Random
) -> tuple[list[Samples], bool]:
    """Take samples until those of every player have settled, or a limit is reached.

    Returns:
        The discarded samples, equally many for each player, and whether all have settled.
    """
    samples = take_samples(players, WARMUP_WINDOW, rng)
    while True:
        walls_ns = [np.array(each, np.float64)[:, 0] for each in samples]
        if all(settled_index(each, window=WARMUP_WINDOW) is not None for each in walls_ns):
            return samples, True
        if len(samples[0]) >= _MOST_WARMUP:
            return samples, False
        for each, more in zip(samples, take_samples(players, 1, rng), strict=True):
            each.extend(more)


# How much longer than the next call the first call may take, and still count as warm. To discard it
# doubles a launch with one sample; to keep it hides a fifth of a change at most. Up to here, more
# rounds of half the cost see more.
_WARM_RATIO = 1.25
# A call that takes this long is a launch: it is neither repeated nor traced. Otherwise 9 rounds
# of it would not fit into the default budget.
_LONG_S = 10.0
# A sample that takes half as long is not taken a third time.
_LONG_NS = 100_000_000
# A call so quick is tried more often.
_QUICK_NS = 1_000_000
# How many times as long as a sample that which is not timed may become, because each call has some.
_MOST_BESIDE = 10
# No CPU does as many calls in a sample.
_MOST_LOOPS = 10**10
# Clocks of the OS differ by a little, and its accounting rounds.
_ONE_THREAD = 0.97
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
        start_ns: the benchmark's share of the time that a worker took to start.
        warmup: samples to discard; None to continue until they settle.
        event: the event to count as instructions, after the samples; None to count nothing.
        brief: take a single sample, to see whether the benchmark works.
        pinned: whether the workers share one CPU.
        together: whether both arms may take a sample at the same time.
        traces: whether to trace allocations in the first launch, which takes calls of its own.
    """

    samples: int
    launch_ns: int
    warmup: int | None
    start_ns: int = 0
    event: Event | None = None
    brief: bool = False
    pinned: bool = False
    together: bool = False
    traces: bool = True


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
        plan: None in the first launch of a session, which makes it and may trace allocations.
        timeout_s: limit for each worker's setup, each call, and each later step.
        alone: whether nothing else is measured in these processes.

    Returns:
        The plan for the launches that follow; what was seen in each worker; whether a process was
        changed, so that no other benchmark may follow.
    """
    once = Stopwatch()
    opened = [_ask([w], timeout_s, "open", n) for w, n in zip(workers, names, strict=True)]
    own_rss = all(step.get("rss_is_own", False) or alone for (step,) in opened)
    kind = SampleKind.of([step for (step,) in opened])
    timeout_s *= kind.number or 1
    plan = SamplePlan(kind.number or 1, 1, 0) if sampling.brief else plan
    is_first = plan is None
    sampler = _Sampler(workers, sampling, rng, timeout_s, once, kind)
    plan, warmup, samples = sampler.take(plan)
    is_long = max(wall_ns for (wall_ns, _), *_ in samples) >= 1e9 * _long_s(timeout_s)
    peaks = [step["peak_rss"] for step in _ask_if_known(workers, timeout_s, "peak")]
    metrics = [_timings(plan, *both) for both in zip(samples, warmup, strict=True)]
    notes, can_count = plan.notes, kind.is_inside and _can(workers, "count")
    # One more sample would cost too much for work so slow that it gets a single one.
    if sampling.event and kind.times_each:
        notes += (f"{INSTRUCTIONS.name}: {COUNTS_SETUPS}",)
    elif sampling.event and can_count and (is_first or plan.samples > 1):
        with once if plan.samples == 1 else nullcontext():
            notes += _count(workers, plan.loops, sampling.event, timeout_s, metrics)
    _ask_if_known(workers, timeout_s, "end")
    if own_rss and kind.is_inside:
        for found, peak in zip(metrics, peaks, strict=False):
            found.append(MetricSamples.single(PEAK_RSS, peak))
    is_wanted = (is_first and sampling.traces) or not _are_of_python(workers)
    if is_wanted and kind.is_inside and _can(workers, "allocations"):
        with once if is_first else nullcontext():
            notes += _trace(workers, timeout_s, metrics, is_long=is_long)
    closed = _ask(workers, timeout_s, "close")
    notes += _notes_on_others(closed) if sampling.pinned else ()
    observations = [
        replace(
            _observed(id_, worker, found, notes, once.elapsed_s),
            uses_files=uses_files or not kind.is_inside,
        )
        for worker, found, uses_files in zip(workers, metrics, sampler.uses_files, strict=True)
    ]
    return plan, observations, any(step.get("changed") for step in closed)


def _notes_on_others(closed: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Say what worked beside the benchmarks that were closed, if anything did."""
    names = dict.fromkeys(name for step in closed for name in step.get("beside", ()))
    return (_BESIDE.format(" and ".join(names)),) if names else ()


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
    workers: Sequence[Worker], timeout_s: float, step: str, argument: object = ""
) -> list[dict[str, Any]]:
    """Let each worker carry out one step, one worker after the other."""
    replies = []
    for worker in workers:
        worker.allow(timeout_s)
        replies.append(worker.ask(step, argument))
    return replies


def _can(workers: Sequence[Worker], step: str) -> bool:
    return all(step in worker.steps for worker in workers)


def _are_of_python(workers: Sequence[Worker]) -> bool:
    return _can(workers, "value")


def _ask_if_known(workers: Sequence[Worker], timeout_s: float, step: str) -> list[dict[str, Any]]:
    """Let each worker carry out a step that only some languages have; [] if one has not."""
    return _ask(workers, timeout_s, step) if _can(workers, step) else []


def _long_s(timeout_s: float) -> float:
    """How long a sample takes at least if it is not repeated; repeated ones share a limit."""
    return min(_LONG_S, timeout_s / 3)


@dataclass(frozen=True, slots=True)
class SampleKind:
    """What a sample of the open benchmark may be, on every arm.

    Attributes:
        number: the calls that its author has set; None if any will do.
        inner_loops: the calls are a multiple of these.
        times_each: whether they are timed one by one.
        is_inside: whether the worker's process does the work; of others only times are known.
    """

    number: int | None = None
    inner_loops: int = 1
    times_each: bool = False
    is_inside: bool = True

    @classmethod
    def of(cls, replies: Sequence[Mapping[str, Any]]) -> SampleKind:
        """What the workers say when they have opened the benchmark."""
        return cls(
            max((reply["number"] for reply in replies if reply.get("number")), default=None),
            max(reply.get("inner_loops", 1) for reply in replies),
            any(reply.get("times_each", False) for reply in replies),
            all(reply.get("is_inside", True) for reply in replies),
        )


@dataclass(slots=True)
class SampleCalibration:
    """Finds how many calls make a sample of one worker long enough, and what a sample is like.

    Attributes:
        may_share: whether both arms may take a sample at the same time, on one CPU.
        long_ns: a sample that takes this long is taken only once.
        loops, sample_ns, beside_ns: of the last samples; the time is the shortest.
        first_ns: how long the first of all samples took.
        waiting_ratio: the part of its time in which a sample did not compute, of the sample that
            waited least; waiting for a CPU does not count.
        is_several: whether threads or processes did a part of the last sample.
    """

    worker: Worker
    timeout_s: float
    kind: SampleKind
    may_share: bool
    long_ns: int
    loops: int = 1
    sample_ns: int = 1
    beside_ns: int = 0
    first_ns: int | None = None
    waiting_ratio: float = 1.0
    is_several: bool = False

    def find_loops(self, target_ns: int) -> None:
        """Take samples until they last this long, or have the number of calls that is set."""
        self.time(self.kind.number or 1)
        if self.kind.number:
            return
        if self.kind.times_each:
            # Their time need not be as long, because setting up takes time as well.
            if (loops := target_ns // max(self.sample_ns, self.beside_ns)) > 1:
                self.time(loops)
            return
        most_beside_ns = _MOST_BESIDE * max(target_ns, self.beside_ns)
        while self.sample_ns < target_ns and self.beside_ns < most_beside_ns:
            if self.loops > _MOST_LOOPS:
                problem = f"it takes no longer if it is called {self.loops:,} times: does it repeat"
                raise WorkerFailedError(self.worker, f"{problem} its work as often as it is asked?")
            # Aim a little high, but grow at most tenfold: the timing of few loops is coarse.
            aimed = int(self.loops * target_ns * 1.2 / self.sample_ns)
            self.time(max(self.loops + 1, min(self.loops * 10, aimed)))

    def time(self, loops: int) -> None:
        """Take a sample three times, twice if it is long, or once if it is very long.

        The shortest counts: first calls import, connect and fill caches, and interruptions only
        ever add time. This time decides how a whole session takes its samples.
        """
        inner_loops = self.kind.inner_loops
        self.loops = -(-loops // inner_loops) * inner_loops
        shared = " shared" if self.may_share else ""
        _ask([self.worker], self.timeout_s, "loops", f"{self.loops}{shared}")
        taken = [self._sample()]
        if sum(taken[0]) < self.long_ns:
            taken.append(self._sample())
        if sum(wall_ns for wall_ns, _ in taken) < _LONG_NS:
            taken.append(self._sample())
        self.first_ns = self.first_ns or taken[0][0]
        self.sample_ns = max(1, min(wall_ns for wall_ns, _ in taken))
        # What was set up before the first one is not part of it.
        self.beside_ns = sorted(beside_ns for _, beside_ns in taken)[len(taken) // 2]

    def _sample(self) -> tuple[int, int]:
        """Take a sample; return its time, and what it took that was not timed."""
        before_ns = run_time_ns(self.worker.pid) if self.may_share else None
        wall_ns, cpu_ns = self.worker.sample()
        if before_ns is not None and wall_ns:
            main_ns = (run_time_ns(self.worker.pid) or 0) - before_ns
            self.waiting_ratio = min(self.waiting_ratio, max(0.0, 1 - cpu_ns / wall_ns))
            self.is_several = main_ns < _ONE_THREAD * cpu_ns
        return wall_ns, self.worker.beside_ns


@dataclass(slots=True)
class _Sampler:
    """Takes the samples of one launch, in workers with the same benchmark open.

    Attributes:
        once: times what only the first launch of a session needs.
        uses_files: of each worker, whether it may have used files in the last samples.
    """

    workers: Sequence[Worker]
    sampling: Sampling
    rng: random.Random
    timeout_s: float
    once: Stopwatch
    kind: SampleKind
    uses_files: Sequence[bool] = ()

    def take(self, plan: SamplePlan | None) -> tuple[SamplePlan, list[Samples], list[Samples]]:
        """Follow the plan; make another one if there is none, or the samples are not like it.

        They may be much faster than the calls that it was made from, or wait for the other arm.

        Returns:
            The plan, and of each worker the warm-up and the samples.
        """
        calls_ns: list[float] = []
        shares = self.sampling.together and len(self.workers) > 1
        together = shares and _can(self.workers, "shared")
        if plan is None:
            with self.once:
                plan, calls_ns = self._calibrate(together=together)
        taken = self._follow(plan)
        for _ in range(_MOST_TRIES - 1):
            # It waits for the other arm, or another virtual machine had the CPU for a moment.
            if not _waits(*taken) or max(taken[2][0])[0] > _LONG_NS:
                break
            with self.once:
                _ask_if_known(self.workers, self.timeout_s, "end")
                taken = self._follow(plan)
        plan, warmup, samples = taken
        is_quick = max(samples)[0][0] < _QUICK_NS
        if self.sampling.brief and is_quick and not _are_of_python(self.workers):
            # Other languages than Python give a benchmark the number of its calls, and some fail
            # only if it is larger.
            self._calibrate(together=False)
        waits = _waits(*taken)
        # Without calls that the plan was just made from, there is nothing to compare.
        faster = [
            before_ns * plan.loops > _MUCH_FASTER * min(wall_ns for wall_ns, _ in discarded + each)
            for before_ns, discarded, each in zip(calls_ns, warmup, samples, strict=False)
        ]
        if not waits and not any(faster):
            return taken
        with self.once:
            _ask_if_known(self.workers, self.timeout_s, "end")
            plan, _ = self._calibrate(together=together and not waits)
        return self._follow(plan)

    def _follow(self, plan: SamplePlan) -> tuple[SamplePlan, list[Samples], list[Samples]]:
        """Warm up, then take the samples."""
        try:
            warmup, plan = self._warm_up(plan)
            if _can(self.workers, "begin"):
                self._ask_sharing(plan, "begin")
            watched = [FileUse(worker) for worker in self.workers]
            samples = take_samples(self.workers, plan.samples, self.rng, together=plan.together)
            self.uses_files = [each.has_used(plan.samples) for each in watched]
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
        found = [
            SampleCalibration(worker, timeout_s, self.kind, together, long_ns) for worker in workers
        ]
        for each in found:
            each.find_loops(target_ns)
        loops = shared_loops([(each.loops, each.sample_ns) for each in found], target_ns)
        is_limited = loops < max(each.loops for each in found)
        is_warm = all((each.first_ns or 0) <= _WARM_RATIO * each.sample_ns for each in found)
        for each in found:
            if each.loops != loops:
                each.time(loops)
        samples_ns = [each.sample_ns for each in found]
        work = Work(
            loops=loops,
            samples_ns=samples_ns,
            beside_ns=max(each.beside_ns for each in found),
            has_number=self.kind.number is not None,
            is_limited=is_limited,
            times_each=self.kind.times_each,
            is_warm=is_warm,
            only_computes=together and only_computes(each.waiting_ratio for each in found),
            is_several=not self.kind.is_inside or any(each.is_several for each in found),
        )
        plan = make_plan(
            work,
            timer_cost_ns=timer_cost_ns,
            launch_ns=sampling.launch_ns,
            start_ns=sampling.start_ns,
            samples=sampling.samples,
            warmup=sampling.warmup,
        )
        return plan, [sample_ns / loops for sample_ns in samples_ns]

    def _warm_up(self, plan: SamplePlan) -> tuple[list[Samples], SamplePlan]:
        """Discard samples; if their number is open, determine it for all launches."""
        shared = " shared" if plan.together else ""
        self._ask_sharing(plan, "loops", f"{plan.loops}{shared}")
        if plan.warmup is not None:
            warmup = take_samples(self.workers, plan.warmup, self.rng, together=plan.together)
            return warmup, plan
        warmup, settled = warm_up_until_settled(self.workers, self.rng)
        count = len(warmup[0])
        notes = plan.notes
        if not settled:
            notes += (f"the warm-up has not settled after {count} samples",)
        return warmup, replace(plan, warmup=count, notes=notes)

    def _ask_sharing(self, plan: SamplePlan, step: str, argument: object = "") -> None:
        """Let each worker carry out a step; the samples that follow have the same time limit."""
        factor = len(self.workers) if plan.together else 1
        _ask(self.workers, factor * self.timeout_s, step, argument)


def _waits(plan: SamplePlan, _: list[Samples], samples: list[Samples]) -> bool:
    """Whether in most samples that both arms took at the same time one of them waited."""
    ratios = [
        max(1 - cpu_ns / max(wall_ns, 1) for wall_ns, cpu_ns in beside)
        for beside in zip(*samples, strict=True)
    ]
    return plan.together and not plan.of_cpu and mostly_waits(ratios)


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
        _observed(id_, worker, [MetricSamples.single(replace(metric, kind=kind), value)])
        for worker, metric, value in zip(workers, metrics, values, strict=True)
    ]
    return kind, observations, is_spent


def _value(worker: Worker, timeout_s: float) -> float:
    worker.allow(timeout_s)
    value: float = worker.ask("value")["value"]
    return value
