"""Makes one launch of what several groups recorded."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from benchgate.load.windows import Windowing, merged, rows
from benchgate.model.load import (
    MOST_ERRORS_KEPT,
    Generator,
    LoadLaunch,
    Loop,
    WorkerGroup,
)
from benchgate.stats.histogram import Histogram, Reservoir, encode, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.load.group import EndedGroup, GroupRecord
    from benchgate.load.order import LoadOrder
    from benchgate.load.recording import StepRecord
    from benchgate.load.scenario import Scenario


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
