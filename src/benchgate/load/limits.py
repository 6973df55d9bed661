"""Whether the load generator itself, not the target, limited what was measured. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.units import format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

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
