"""The load generator's program: reads an order, carries out the launch, writes the reply."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from benchgate.errors import BenchgateError
from benchgate.files import write_atomic
from benchgate.load.aside import LeftAloneError, run_aside
from benchgate.load.drivers.driver import TargetError
from benchgate.load.group import EndedGroup, GivenUpError, after, epoch_ns, run_workers
from benchgate.load.launch import INTERRUPTED, LoadOrder, LoadReply, open_launch
from benchgate.load.recording import Windowing
from benchgate.load.schedule import plan_of
from benchgate.load.worker import ERRORS_BEFORE_PAUSE, text_of
from benchgate.model.load import Generator, LoadLaunch, Loop, WorkerGroup
from benchgate.model.redact import Redactor
from benchgate.stats.histogram import Histogram, encode, pack
from benchgate.units import counted, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.load.launch import ProcessLaunch
    from benchgate.load.recording import StepRecord
    from benchgate.load.scenario import Scenario
    from benchgate.load.schedule import TurnOrder


HERE = "here"

# So long all workers of this machine may take to be awake at the epoch.
_TO_WAKE_NS = 10_000_000
_TO_WAKE_EACH_NS = 200_000


def available_cpus() -> int:
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class LocalGate:
    """A gate for the only group of a launch."""

    stop: threading.Event
    workers: int
    turns: TurnOrder | None = None

    def arrive(self) -> None:
        """There is nobody to tell."""

    def epoch_ns(self) -> int:
        """Begin as soon as all workers can be awake, or together with the other launch."""
        to_wake_ns = _TO_WAKE_NS + self.workers * _TO_WAKE_EACH_NS
        return epoch_ns(self.turns, to_wake_ns, self.is_stopped)

    def is_stopped(self) -> bool:
        return self.stop.is_set()


def run_groups(launch: ProcessLaunch, stop: threading.Event) -> tuple[EndedGroup, ...]:
    """Load the target with all workers.

    Raises:
        TargetError: a connection cannot be opened.
        GivenUpError: it was stopped.
    """
    load, workers = launch.scenario.load, launch.scenario.most_workers
    # Every launch waits for what this program imports, and few need asyncio or multiprocessing.
    if load.cluster is not None:
        from benchgate.load.cluster import run_on_cluster  # noqa: PLC0415 - see above

        return run_on_cluster(launch, stop.is_set)
    if load.workers == "process":
        from benchgate.load.processes import run_in_processes  # noqa: PLC0415 - see above

        duration_s = plan_of(launch.scenario, 0, launch.order.turns).over_ns / 1e9
        return run_in_processes(launch.order, workers, available_cpus(), duration_s, stop)
    gate = LocalGate(stop, workers, launch.order.turns)
    record = run_workers(launch, range(workers), gate)
    return (EndedGroup(HERE, workers, record),)


TEARDOWN_S = 30.0
"""How long a teardown may take; then it is left alone."""

INTROSPECT_S = 10.0
"""How long the target may take to say its version and settings."""

CLOSE_S = 5.0
"""How long the driver may take to close."""


def run_iteration(order: LoadOrder, stop: threading.Event) -> LoadReply:
    """Carry out one launch.

    Args:
        stop: set by a signal: the load ends at once, and the teardown still runs.
    """
    try:
        launch = open_launch(order)
    except TargetError as error:
        return LoadReply(str(error))
    return run_launch(launch, stop)


def run_launch(launch: ProcessLaunch, stop: threading.Event) -> LoadReply:
    """Carry out a launch that is open; its driver is closed at the end."""
    try:
        reply = _loaded(launch, stop)
    finally:
        notes = _tear_down(launch)
    return LoadReply(reply.error, reply.steps, (*reply.notes, *notes), reply.server)


def _loaded(launch: ProcessLaunch, stop: threading.Event) -> LoadReply:
    try:
        _set_up(launch, stop)
        groups = run_groups(launch, stop)
    except TargetError as error:
        return LoadReply(str(error))
    except (GivenUpError, LeftAloneError):
        return LoadReply(INTERRUPTED)
    server: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    if launch.order.introspect:
        server, notes = _introspect(launch)
    return _reply_of(launch, groups, server, notes)


def _set_up(launch: ProcessLaunch, stop: threading.Event) -> None:
    script = launch.scenario.setup
    if script is None:
        return
    try:
        run_aside(lambda: launch.driver.run(script), stop.is_set)
    except (TargetError, LeftAloneError):
        raise
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way
        raise TargetError(launch.conceal(f"the setup failed: {text_of(error)}")) from None


def _tear_down(launch: ProcessLaunch) -> tuple[str, ...]:
    """Run the teardown and close the driver, whatever happened before."""
    notes = []
    script = launch.scenario.teardown
    if script is not None:
        notes.append(
            _best_effort(launch, "the teardown", lambda: launch.driver.run(script), TEARDOWN_S)
        )
    notes.append(_best_effort(launch, "closing the driver", launch.driver.close, CLOSE_S))
    return tuple(note for note in notes if note is not None)


def _best_effort(
    launch: ProcessLaunch, what: str, work: Callable[[], object], timeout_s: float
) -> str | None:
    """Run code whose failure changes nothing of the result; return a note if it failed."""
    try:
        run_aside(work, after(timeout_s))
    except LeftAloneError:
        return f"{what} had not ended after {timeout_s:g} s"
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way
        return launch.conceal(f"{what} failed: {text_of(error)}")
    return None


def _introspect(launch: ProcessLaunch) -> tuple[dict[str, str], tuple[str, ...]]:
    found: dict[str, str] = {}

    def ask() -> None:
        found.update(launch.driver.introspect())

    note = _best_effort(launch, "asking the target for its settings", ask, INTROSPECT_S)
    return found, () if note is None else (note,)


def _reply_of(
    launch: ProcessLaunch,
    groups: Sequence[EndedGroup],
    server: dict[str, str],
    notes: tuple[str, ...],
) -> LoadReply:
    scenario, order = launch.scenario, launch.order
    records = [group.record for group in groups if group.record is not None]
    lost = "; ".join(
        f"{counted(group.workers, 'worker')} on {group.place} were lost: {group.lost}"
        for group in groups
        if group.lost is not None
    )
    if not records:
        return LoadReply(lost or "no worker has recorded anything")
    merged, *others = (record.steps for record in records)
    for other in others:
        for name, step in other.items():
            merged[name].merge(step)
    generator = Generator(
        groups=tuple(
            WorkerGroup(
                place=group.place,
                workers=group.workers,
                cpu_ratio=group.record.cpu_s / scenario.duration_s if group.record else 0.0,
                clock_offset_s=group.clock_offset_s,
                clock_error_s=group.clock_error_s,
                lost=group.lost,
            )
            for group in groups
        ),
        start_spread_s=_start_spread_s(groups),
        late_p99_s=late_p99_s(groups, scenario.loop),
        limits=_limits(launch, groups, merged),
    )
    return LoadReply(
        error=lost or None,
        steps={name: launch_of(step, scenario, order, generator) for name, step in merged.items()},
        notes=(*notes, *_notes(groups)),
        server=server,
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
        windows=record.course(Windowing.of(scenario.duration_s)),
        generator=generator,
        unfinished=record.unfinished,
        turn_s=None if order.turns is None else order.turns.turn_ns / 1e9,
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


def _limits(
    launch: ProcessLaunch, groups: Sequence[EndedGroup], merged: Mapping[str, StepRecord]
) -> tuple[str, ...]:
    scenario = launch.scenario
    medians_ns = [record.histogram.percentile(0.5) for record in merged.values()]
    is_on_cluster = scenario.load.cluster is not None
    return tuple(
        GeneratorUse(
            cpu_ratios=[one.record.cpu_s / scenario.duration_s for one in groups if one.record],
            workers=scenario.most_workers,
            cpus=len(groups) if is_on_cluster else available_cpus(),
            has_processes=scenario.load.workers == "process" or is_on_cluster,
            works_here=launch.driver.WORKS_HERE,
            late_p99_s=late_p99_s(groups, scenario.loop),
            clock_step_s=time.get_clock_info("perf_counter").resolution,
            p50_s=min((one_ns / 1e9 for one_ns in medians_ns if one_ns is not None), default=None),
        ).limits()
    )


def _notes(groups: Sequence[EndedGroup]) -> tuple[str, ...]:
    records = [group.record for group in groups if group.record is not None]
    notes = [note for record in records for note in record.notes]
    if any(record.paused_s for record in records):
        # Without a figure it is the same note for every launch.
        notes.append(f"workers paused, as each does after {ERRORS_BEFORE_PAUSE} errors in a row")
    return tuple(notes)


BUSY_RATIO = 0.9
"""CPU time of a process per second from which it is called busy."""

LATE_S = 0.001
"""Free workers that begin later than this make an open loop wrong."""

# A clock that moves in steps of more than this share of the median latency blurs it.
_COARSE_RATIO = 0.01


@dataclass(frozen=True, slots=True)
class GeneratorUse:
    """What a load took of its generator.

    Attributes:
        cpu_ratios: of each group: CPU time of its process per second of the measured time.
        cpus: that this machine lets the generator use; on a cluster one for each process there.
        has_processes: whether the workers were spread over processes.
        works_here: whether the target does its work in the generator's processes, as SQLite does:
            what it uses cannot be told from what the generator uses.
        late_p99_s: 99th percentile of how late free workers began; None for a closed loop.
        clock_step_s: the resolution of the clock.
        p50_s: the least median latency of a step; None if nothing ended well.
    """

    cpu_ratios: Sequence[float]
    workers: int
    cpus: int
    has_processes: bool
    works_here: bool
    late_p99_s: float | None
    clock_step_s: float
    p50_s: float | None

    def limits(self) -> Iterator[str]:
        """Say why it may have been the bottleneck, and what to do, a sentence each."""
        total, busiest = sum(self.cpu_ratios), max(self.cpu_ratios, default=0.0)
        if self.has_processes and not self.works_here and total >= BUSY_RATIO * self.cpus:
            yield (
                f"The load generator used {total:.1f} of {self.cpus} CPUs, so the target may be"
                " faster than this shows. Use fewer workers, a lower rate, or more machines."
            )
        if not self.has_processes and not self.works_here and busiest >= BUSY_RATIO:
            advice = "Use a lower rate, or another machine for the target."
            if self.workers > 1 and self.cpus > 1:
                advice = 'Use workers = "process", fewer workers, or a lower rate.'
            yield (
                f"The load generator used {format_percent(busiest)} of a CPU, about all that one"
                " Python process can use, so the target may be faster than this shows. "
                f"{advice}"
            )
        if self.late_p99_s is not None and self.late_p99_s > LATE_S:
            yield (
                "The load generator did not hold its schedule: 1 % of the operations began"
                f" {format_value(self.late_p99_s, 's')} or more after they were due although a"
                " worker was free, and the latencies include that. Use a lower rate, fewer"
                " workers, or a machine that is less busy."
            )
        if self.p50_s is not None and self.clock_step_s > _COARSE_RATIO * self.p50_s:
            yield (
                "The clock of this machine moves in steps of"
                f" {format_value(self.clock_step_s, 's')}, which is too coarse for a median"
                f" latency of {format_value(self.p50_s, 's')}."
            )


USAGE = "usage: python -I -m benchgate.load ORDER REPLY"


def main(arguments: Sequence[str]) -> int:
    """Carry out one launch.

    Returns:
        0 if the reply was written, also if it says that the launch failed; 2 if it was not, with a
        line on standard error.
    """
    if len(arguments) != 2:
        return _refuse(USAGE)
    order_path, reply_path = map(Path, arguments)
    try:
        order = TypeAdapter(LoadOrder).validate_json(order_path.read_bytes())
    except OSError as error:
        return _refuse(f"cannot read {order_path}: {error.strerror}")
    except ValidationError as error:
        return _refuse(f"{order_path} is no order: {_first_of(error)}")
    redact = Redactor(os.environ)
    try:
        with _told_by_signals() as stop:
            reply = _reply(order, stop)
            written = TypeAdapter(LoadReply).dump_json(reply, context=redact)
            write_atomic(reply_path, written)
    except BenchgateError as error:
        return _refuse(redact(" ".join(filter(None, (error.message, error.hint)))))
    return 0


def _first_of(error: ValidationError) -> str:
    """Say what is wrong first, and in which field unless the whole text is no JSON."""
    first = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def _reply(order: LoadOrder, stop: threading.Event) -> LoadReply:
    try:
        return run_iteration(order, stop)
    except BenchgateError as error:
        return LoadReply("\n".join(filter(None, (error.message, error.hint, error.details))))
    except Exception as error:  # noqa: BLE001 - the row says it; a traceback helps nobody there
        return LoadReply(f"the load generator failed: {text_of(error)}")


@contextmanager
def _told_by_signals() -> Iterator[threading.Event]:
    """Turn SIGINT and SIGTERM into an event, so that they interrupt no teardown."""
    stop = threading.Event()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)  # noqa: T201 - a program without a terminal of its own
    return 2
