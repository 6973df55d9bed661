"""Takes the samples of one launch: by the plan, or by a new one if they are not like it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.measure.contract import (
    Stopwatch,
    mostly_waits,
    only_computes,
)
from benchgate.measure.functions.asking import are_of_python, ask, ask_if_known, can, long_s
from benchgate.measure.functions.calibration import LONG_SAMPLE_NS, SampleCalibration, SampleKind
from benchgate.measure.functions.sample_plan import (
    SamplePlan,
    Work,
    make_plan,
    shared_loops,
    target_interval_ns,
)
from benchgate.measure.functions.samples import Samples, take_samples, warm_up_until_settled
from benchgate.measure.workers import FileUse, WorkerFailedError

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from benchgate.measure.machine import Event
    from benchgate.measure.workers import Worker

_MOST_TRIES = 3


# How much longer than the next call the first call may take, and still count as warm. To discard it
# doubles a launch with one sample; to keep it hides a fifth of a change at most. Up to here, more
# rounds of half the cost see more.
_WARM_RATIO = 1.25
# A call so quick is tried more often.
_QUICK_NS = 1_000_000
# How many times as fast calls must become in the warm-up, to calibrate again.
_MUCH_FASTER = 2


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


@dataclass(slots=True)
class Sampler:
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
        together = shares and can(self.workers, "shared")
        if plan is None:
            with self.once:
                plan, calls_ns = self._calibrate(together=together)
        taken = self._follow(plan)
        for _ in range(_MOST_TRIES - 1):
            # It waits for the other arm, or another virtual machine had the CPU for a moment.
            if not _waits(*taken) or max(taken[2][0])[0] > LONG_SAMPLE_NS:
                break
            with self.once:
                ask_if_known(self.workers, self.timeout_s, "end")
                taken = self._follow(plan)
        plan, warmup, samples = taken
        is_quick = max(samples)[0][0] < _QUICK_NS
        if self.sampling.brief and is_quick and not are_of_python(self.workers):
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
            ask_if_known(self.workers, self.timeout_s, "end")
            plan, _ = self._calibrate(together=together and not waits)
        return self._follow(plan)

    def _follow(self, plan: SamplePlan) -> tuple[SamplePlan, list[Samples], list[Samples]]:
        """Warm up, then take the samples."""
        try:
            warmup, plan = self._warm_up(plan)
            if can(self.workers, "begin"):
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
        long_ns = int(1e9 * long_s(timeout_s))
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
        ask(self.workers, factor * self.timeout_s, step, argument)


def _waits(plan: SamplePlan, _: list[Samples], samples: list[Samples]) -> bool:
    """Whether in most samples that both arms took at the same time one of them waited."""
    ratios = [
        max(1 - cpu_ns / max(wall_ns, 1) for wall_ns, cpu_ns in beside)
        for beside in zip(*samples, strict=True)
    ]
    return plan.together and not plan.of_cpu and mostly_waits(ratios)
