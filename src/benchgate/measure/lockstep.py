"""Takes turns: samples of both arms' live workers alternate in random order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar
from zlib import crc32

import numpy as np

from benchgate.stats.timer import TIMER_FACTOR, timer_note
from benchgate.stats.timeseries import settled_index

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


T = TypeVar("T")


def starting_order(arms: tuple[T, ...], benchmark: str, round_index: int) -> tuple[T, ...]:
    """The order in which the arms begin a round: ABBA over rounds, to cancel a linear drift.

    About half of the benchmarks use BAAB instead, so that a single round is balanced too.
    """
    swapped = round_index % 4 in (1, 2)
    return arms[::-1] if swapped ^ (crc32(benchmark.encode()) & 1) else arms


def later_orders(first: tuple[T, ...], count: int, rng: random.Random) -> list[tuple[T, ...]]:
    """The orders of the executions after the first, in random sequence.

    Including the first, each arm goes first equally often, or the starting arm once more.
    """
    swapped = (count + 1) // 2
    orders = [first[::-1]] * swapped + [first] * (count - swapped)
    rng.shuffle(orders)
    return orders


def executions_within(limit_s: float, one_s: float, most: int) -> int:
    """How many executions of `one_s` seconds fit into `limit_s`, from 1 to `most`."""
    return most if one_s * most <= limit_s else max(1, int(limit_s / one_s))


_WARMUP_WINDOW = 10
_MOST_WARMUP = 60
_SLOW_WARMUP = 3
_FEWEST_SAMPLES = 3
# A launch may take this many times its time to keep all samples, or to keep the fewest.
STRETCH = 4
_LONGEST_STRETCH = 20
# A sample of the slower arm may take this many times its time, so that the faster arm's is long
# enough.
_LONGEST_SAMPLE = 10
_RAISE_NUMBER = "raise `number`"
_DO_MORE = "each call is timed by itself, so let it do more work"
_HALF_IS_WARMUP = (
    "the first call in a process takes longer than the next, so half of each round is warm-up: "
    "`warmup = 0` in [measure] saves it"
)
_LIMITED = "the other side is too slow for more calls in a sample"


class Player(Protocol):
    """A live worker with a benchmark open."""

    def sample(self) -> tuple[int, int]:
        """Take one sample; return (wall_ns, cpu_ns)."""
        ...


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How a benchmark is measured in every launch of a session, the same on both arms.

    Attributes:
        loops: calls in one sample.
        samples: number of samples to take and keep.
        warmup: samples to discard before them; None until the first launch has determined it.
    """

    loops: int
    samples: int
    warmup: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turns:
    """The samples of one arm, in order, for all loops."""

    wall_ns: list[int]
    cpu_ns: list[int]


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
    loops: int,
    samples_ns: Sequence[int],
    *,
    timer_cost_ns: float,
    launch_ns: int,
    samples: int,
    warmup: int | None,
    beside_ns: int = 0,
    is_limited: bool = False,
    times_each: bool = False,
    is_warm: bool = False,
) -> SamplePlan:
    """Determine the number of samples, which is the same for all arms.

    Args:
        loops: calls in one sample, on every arm.
        samples_ns: duration of a sample on each arm.
        launch_ns: time for the samples of one launch; a launch may take up to four times as long
            to keep the number of samples, because the tail needs them.
        samples: how many to take if the work is short enough.
        warmup: how many to discard before them; None to determine it later. Slow work always gets
            a fixed number, at most as many as it has samples.
        beside_ns: what a sample takes that is not timed: setting up, for example.
        is_limited: whether the slowest arm limits the calls in a sample.
        times_each: whether the calls of a sample are timed one by one.
        is_warm: whether the first call in a process takes no longer than the next. If so, a launch
            with a single sample discards none, which halves its time.
    """
    longest_ns = max(samples_ns) + beside_ns
    fitting = int(STRETCH * launch_ns / longest_ns)
    if _FEWEST_SAMPLES * longest_ns <= _LONGEST_STRETCH * launch_ns:
        fitting = max(fitting, _FEWEST_SAMPLES)
    count = max(1, min(samples, fitting))
    notes = []
    timed_ns = min(samples_ns) / loops if times_each else min(samples_ns)
    if note := timer_note(timed_ns, timer_cost_ns):
        remedy = _DO_MORE if times_each else _RAISE_NUMBER
        notes.append(f"{note}: {_LIMITED if is_limited else remedy}")
    if count == 1 and is_warm:
        warmup = 0
    if warmup is None and count < _WARMUP_WINDOW:
        warmup = _SLOW_WARMUP
        if count > 1:
            discarded = min(warmup, count)
            notes.append(f"too slow to see whether the warm-up settles: {discarded} discarded")
    if count == 1 and warmup:
        notes.append(_HALF_IS_WARMUP)
    return SamplePlan(loops, count, None if warmup is None else min(warmup, count), tuple(notes))


def take_turns(players: Sequence[Player], count: int, rng: random.Random) -> list[Turns]:
    """Take `count` samples of every player, in a fresh random order for each."""
    turns = [Turns([], []) for _ in players]
    order = list(range(len(players)))
    for _ in range(count):
        rng.shuffle(order)
        for index in order:
            wall_ns, cpu_ns = players[index].sample()
            turns[index].wall_ns.append(wall_ns)
            turns[index].cpu_ns.append(cpu_ns)
    return turns


def warm_up_until_settled(
    players: Sequence[Player], rng: random.Random
) -> tuple[list[Turns], bool]:
    """Take samples until those of every player have settled, or a limit is reached.

    Returns:
        The discarded samples, equally many for each player, and whether all have settled.
    """
    turns = take_turns(players, _WARMUP_WINDOW, rng)
    while True:
        if all(_is_settled(each.wall_ns) for each in turns):
            return turns, True
        if len(turns[0].wall_ns) >= _MOST_WARMUP:
            return turns, False
        for all_turns, one in zip(turns, take_turns(players, 1, rng), strict=True):
            all_turns.wall_ns.extend(one.wall_ns)
            all_turns.cpu_ns.extend(one.cpu_ns)


def _is_settled(wall_ns: list[int]) -> bool:
    found = settled_index(np.asarray(wall_ns, dtype=np.float64), window=_WARMUP_WINDOW)
    return found is not None
