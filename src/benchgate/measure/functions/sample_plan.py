"""Plans the samples of a launch: how many, how long, and whether both arms take them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.measure.contract import OF_SEVERAL
from benchgate.model.notes import OF_ONE_THREAD
from benchgate.stats.timer import TIMER_FACTOR, timer_note

if TYPE_CHECKING:
    from collections.abc import Sequence


WARMUP_WINDOW = 10
_SLOW_WARMUP = 3
_FEWEST_SAMPLES = 3
# A launch may take this many times its time to keep all samples, or to keep the fewest.
STRETCH = 4
_LONGEST_STRETCH = 20
# A kernel lets a process run for about 3 ms before another one. Samples in turn are steady if they
# are shorter, and samples of both arms at the same time if they are much longer.
_SLICE_NS = 3_000_000
_SAMPLE_TOGETHER_NS = 24_000_000
_STRETCH_TOGETHER = 8
# A sample of the slower arm may take this many times its time, so that the faster arm's is long
# enough.
_LONGEST_SAMPLE = 10
_RAISE_NUMBER = "raise `number`"
_DO_MORE = "each call is timed by itself, so let it do more work"
_LIMITED = "the other side is too slow for more calls in a sample"


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How a benchmark is measured in every launch of a session, the same on both arms.

    Attributes:
        loops: calls in one sample.
        samples: number of samples to take and keep.
        warmup: samples to discard before them; None until the first launch has determined it.
        together: whether the arms take each sample at the same time, on one CPU.
        of_cpu: whether the time of such a sample is its CPU time.
    """

    loops: int
    samples: int
    warmup: int | None
    notes: tuple[str, ...] = ()
    together: bool = False
    of_cpu: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What a benchmark's samples are like, as far as the first ones show.

    Attributes:
        loops: calls in a sample, on every arm.
        samples_ns: duration of a sample on each arm.
        beside_ns: what a sample takes that is not timed: setting up, for example.
        has_number: whether a sample must have these loops.
        is_limited: whether the slowest arm limits the calls in a sample.
        times_each: whether the calls of a sample are timed one by one.
        is_warm: whether the first call in a process takes no longer than the next. If so, a launch
            with a single sample discards none, which halves its time.
        only_computes: whether the arms may take a sample at the same time, on one CPU.
        is_several: whether threads or other processes do a part of the work.
    """

    loops: int
    samples_ns: Sequence[int]
    beside_ns: int = 0
    has_number: bool = False
    is_limited: bool = False
    times_each: bool = False
    is_warm: bool = False
    only_computes: bool = False
    is_several: bool = False


def target_interval_ns(timer_cost_ns: float, launch_ns: int, samples: int) -> int:
    """Return the shortest allowed duration of a sample."""
    return max(math.ceil(TIMER_FACTOR * timer_cost_ns), launch_ns // samples)


def shared_loops(calibrated: Sequence[tuple[int, int]], target_ns: int) -> int:
    """Return the calls in a sample, which are the same on all arms.

    The fastest arm needs the most. If one arm is many times slower, it limits them: such a
    difference shows in short samples too, and a sample of the slow arm must not take forever.

    Args:
        calibrated: for each arm the loops that it needs by itself, and how long they take in ns.
        target_ns: the shortest duration that a sample should have.
    """
    slowest_ns = max(sample_ns / loops for loops, sample_ns in calibrated)
    needed = [loops for loops, _ in calibrated]
    affordable = int(_LONGEST_SAMPLE * target_ns / slowest_ns)
    return min(max(needed), max(min(needed), affordable))


def make_plan(
    work: Work,
    *,
    timer_cost_ns: float,
    launch_ns: int,
    samples: int,
    warmup: int | None,
    start_ns: int = 0,
) -> SamplePlan:
    """Determine the number of samples, which is the same for all arms.

    Args:
        launch_ns: time for the samples of one launch; a launch may take several times as long, to
            keep the number of samples that the tail needs, or because the work is slow.
        start_ns: what the process took to start. One that is slow to start takes as long for its
            samples if both arms take turns.
        samples: how many to take if the work is short enough.
        warmup: how many to discard before them; None to determine it. Slow work always gets a
            fixed number, at most as many as it has samples.
    """
    if work.only_computes and min(work.samples_ns) >= _SLICE_NS:
        return _plan_together(work, launch_ns, samples, warmup)
    longest_ns = max(work.samples_ns) + work.beside_ns
    most_ns = max(STRETCH * launch_ns, min(start_ns, _LONGEST_STRETCH * launch_ns))
    fitting = int(most_ns / longest_ns)
    if _FEWEST_SAMPLES * longest_ns <= _LONGEST_STRETCH * launch_ns:
        fitting = max(fitting, _FEWEST_SAMPLES)
    count = max(1, min(samples, fitting))
    notes = []
    shortest_ns = min(work.samples_ns)
    timed_ns = shortest_ns / work.loops if work.times_each else shortest_ns
    if note := timer_note(timed_ns, timer_cost_ns):
        remedy = _DO_MORE if work.times_each else _RAISE_NUMBER
        notes.append(f"{note}: {_LIMITED if work.is_limited else remedy}")
    if count == 1 and work.is_warm:
        warmup = 0
    if warmup is None and count < WARMUP_WINDOW:
        warmup = _SLOW_WARMUP
        if count > 1:
            discarded = min(warmup, count)
            notes.append(f"too slow to see whether the warm-up settles: {discarded} discarded")
    return SamplePlan(
        work.loops, count, None if warmup is None else min(warmup, count), tuple(notes)
    )


def _plan_together(work: Work, launch_ns: int, samples: int, warmup: int | None) -> SamplePlan:
    """Plan samples that both arms take at the same time: few, but long ones.

    How far one is ahead at the beginning or at the end of a sample then matters little.
    """
    loops, sample_ns = work.loops, max(work.samples_ns)
    if not work.has_number:
        call_ns = sample_ns / loops
        loops = max(1, round(_SAMPLE_TOGETHER_NS / call_ns))
        sample_ns = round(call_ns * loops)
    fitting = round(_STRETCH_TOGETHER * launch_ns / (sample_ns + work.beside_ns))
    count = max(1, min(samples, fitting))
    if count == 1 and work.is_warm:
        warmup = 0
    note = OF_SEVERAL if work.is_several else OF_ONE_THREAD
    discarded = 0 if warmup == 0 else 1
    return SamplePlan(loops, count, discarded, (note,), together=True, of_cpu=work.is_several)
