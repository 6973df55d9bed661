"""Makes one launch of what several groups recorded, and says whether the generator limited it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from benchgate.load.worker import Windowing, merged, rows
from benchgate.model.load import MOST_ERRORS_KEPT, Generator, LoadLaunch, Loop, WorkerGroup
from benchgate.stats.histogram import Histogram, Reservoir, encode, pack
from benchgate.units import format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.load.group import EndedGroup, GroupRecord
    from benchgate.load.launch import LoadOrder
    from benchgate.load.scenario import Scenario
    from benchgate.load.worker import StepRecord


def merged_steps(records: Sequence[GroupRecord], seed: str) -> dict[str, StepRecord]:
    """Merge what groups recorded of each step; the records themselves are used up.

    Args:
        seed: where the random samples come from.
    """
    names = list(records[0].steps)
    return {
        name: _merged_step([record.steps[name] for record in records], f"{seed} {name}")
        for name in names
    }


def _merged_step(records: Sequence[StepRecord], seed: str) -> StepRecord:
    first = records[0]
    if len(records) == 1:
        return first
    histogram = Histogram()
    reservoir = Reservoir(Random(seed))  # noqa: S311 - repeatable on purpose
    for record in records:
        histogram.merge(record.histogram)
        reservoir.merge(record.reservoir)
    indices = sorted({index for record in records for index in record.windows})
    errors = sorted(
        (error for record in records for error in record.kept_errors), key=lambda one: one.at_s
    )
    return type(first)(
        ops=sum(record.ops for record in records),
        errors=sum(record.errors for record in records),
        unfinished=sum(record.unfinished for record in records),
        kept_errors=errors[:MOST_ERRORS_KEPT],
        histogram=histogram,
        reservoir=reservoir,
        windows={
            index: merged([record.windows[index] for record in records if index in record.windows])
            for index in indices
        },
    )


def generator_of(
    groups: Sequence[EndedGroup], scenario: Scenario, limits: tuple[str, ...]
) -> Generator:
    """Say how the generator itself did."""
    return Generator(
        groups=tuple(_worker_group(group, scenario.duration_s) for group in groups),
        start_spread_s=_start_spread_s(groups),
        late_p99_s=late_p99_s(groups, scenario.loop),
        limits=limits,
    )


def late_p99_s(groups: Sequence[EndedGroup], loop: Loop) -> float | None:
    """How late free workers began what was due; None for a closed loop."""
    if loop is Loop.CLOSED:
        return None
    late = Histogram()
    for group in groups:
        if group.record is not None:
            late.merge(group.record.late)
    p99_ns = late.percentile(0.99)
    return 0.0 if p99_ns is None else p99_ns / 1e9


def _start_spread_s(groups: Sequence[EndedGroup]) -> float:
    """The time from the first start to the last one, at most: clocks of two machines may differ."""
    ended = [(group, group.record) for group in groups if group.record is not None]
    return max(
        (
            (last.last_start_ns - first.first_start_ns) / 1e9
            + (0.0 if one is other else one.clock_error_s + other.clock_error_s)
            for one, first in ended
            for other, last in ended
        ),
        default=0.0,
    )


def _worker_group(group: EndedGroup, duration_s: float) -> WorkerGroup:
    return WorkerGroup(
        place=group.place,
        workers=group.workers,
        cpu_ratio=0.0 if group.record is None else group.record.cpu_s / duration_s,
        clock_offset_s=group.clock_offset_s,
        clock_error_s=group.clock_error_s,
        lost=group.lost,
    )


def launch_of(
    record: StepRecord, scenario: Scenario, order: LoadOrder, generator: Generator
) -> LoadLaunch:
    """Write what a step did as it is stored."""
    return LoadLaunch(
        round=order.round,
        duration_s=scenario.duration_s,
        ops=record.ops,
        errors=record.errors,
        kept_errors=tuple(record.kept_errors),
        histogram=encode(record.histogram),
        sample=pack(record.reservoir.values()),
        windows=rows(Windowing.of(scenario.duration_s), record.windows),
        generator=generator,
        unfinished=record.unfinished,
        turn_s=None if order.turns is None else order.turns.turn_ns / 1e9,
    )


BUSY_RATIO = 0.9
"""CPU time of a process per second from which it is called busy."""

LATE_S = 0.001
"""Free workers that begin later than this make an open loop wrong."""

# A clock that moves in steps of more than this share of the median latency blurs it.
_COARSE_RATIO = 0.01


@dataclass(frozen=True, slots=True)
class Signs:
    """What the load generator knows about itself.

    Attributes:
        cpu_ratios: of each group: CPU time of its process per second of the measured time.
        workers: how many there were.
        cpus: that this machine lets the generator use; on a cluster one for each process there.
        has_processes: whether the workers were spread over processes.
        works_here: whether the target does its work in the generator's processes, as SQLite does.
        late_p99_s: 99th percentile of how late free workers began; None for a closed loop.
        clock_step_s: the resolution of the clock.
        p50_s: the least median latency of a step; None if nothing ended well.
    """

    cpu_ratios: tuple[float, ...]
    workers: int
    cpus: int
    has_processes: bool
    works_here: bool
    late_p99_s: float | None
    clock_step_s: float
    p50_s: float | None


def limits(signs: Signs) -> tuple[str, ...]:
    """Say why the generator may have been the bottleneck, and what to do, a sentence each."""
    return (*_cpu(signs), *_late(signs), *_clock(signs))


def _cpu(signs: Signs) -> Iterator[str]:
    # What a target in the same process uses cannot be told from what the generator uses.
    if signs.works_here:
        return
    total = sum(signs.cpu_ratios)
    busiest = max(signs.cpu_ratios, default=0.0)
    if signs.has_processes and total >= BUSY_RATIO * signs.cpus:
        yield (
            f"The load generator used {total:.1f} of {signs.cpus} CPUs, so the target may be"
            " faster than this shows. Use fewer workers, a lower rate, or more machines."
        )
    elif not signs.has_processes and busiest >= BUSY_RATIO:
        yield (
            f"The load generator used {format_percent(busiest)} of a CPU, about all that one Python"
            " process can use, so the target may be faster than this shows."
            f"{_more_processes(signs)}"
        )


def _more_processes(signs: Signs) -> str:
    if signs.workers > 1 and signs.cpus > 1:
        return ' Use workers = "process", fewer workers, or a lower rate.'
    return " Use a lower rate, or another machine for the target."


def _late(signs: Signs) -> Iterator[str]:
    late_s = signs.late_p99_s
    if late_s is None or late_s <= LATE_S:
        return
    yield (
        f"The load generator did not hold its schedule: 1 % of the operations began"
        f" {format_value(late_s, 's')} or more after they were due although a worker was free, and"
        " the latencies include that. Use a lower rate, fewer workers, or a machine that is less"
        " busy."
    )


def _clock(signs: Signs) -> Iterator[str]:
    if signs.p50_s is None or signs.clock_step_s <= _COARSE_RATIO * signs.p50_s:
        return
    yield (
        f"The clock of this machine moves in steps of {format_value(signs.clock_step_s, 's')},"
        f" which is too coarse for a median latency of {format_value(signs.p50_s, 's')}."
    )
