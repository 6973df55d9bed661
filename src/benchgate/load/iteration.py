"""One launch: set up, load, tear down, and merge what was measured."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchgate.load.aside import LeftAloneError, after, run_aside
from benchgate.load.drivers.driver import TargetError
from benchgate.load.group import GivenUpError
from benchgate.load.groups import available_cpus, run_groups
from benchgate.load.launch import open_launch
from benchgate.load.limits import Signs, limits
from benchgate.load.merging import generator_of, late_p99_s, launch_of, merged_steps
from benchgate.load.order import INTERRUPTED, LoadReply
from benchgate.load.worker import ERRORS_BEFORE_PAUSE, text_of
from benchgate.units import counted

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.load.group import EndedGroup
    from benchgate.load.launch import Launch
    from benchgate.load.order import LoadOrder
    from benchgate.load.recording import StepRecord

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

    Raises:
        ConfigError: the scenario file is not valid.
    """
    try:
        launch = open_launch(order)
    except TargetError as error:
        return LoadReply(str(error))
    return run_launch(launch, stop)


def run_launch(launch: Launch, stop: threading.Event) -> LoadReply:
    """Carry out a launch that is open; its driver is closed at the end."""
    try:
        reply = _loaded(launch, stop)
    finally:
        notes = _tear_down(launch)
    return LoadReply(reply.error, reply.steps, (*reply.notes, *notes), reply.server)


def _loaded(launch: Launch, stop: threading.Event) -> LoadReply:
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
    return _reply(launch, groups, server, notes)


def _set_up(launch: Launch, stop: threading.Event) -> None:
    script = launch.scenario.setup
    if script is None:
        return
    try:
        run_aside(lambda: launch.driver.run(script), stop.is_set)
    except (TargetError, LeftAloneError):
        raise
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way
        raise TargetError(launch.conceal(f"the setup failed: {text_of(error)}")) from None


def _tear_down(launch: Launch) -> tuple[str, ...]:
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
    launch: Launch, what: str, work: Callable[[], object], timeout_s: float
) -> str | None:
    """Run code whose failure changes nothing of the result; return a note if it failed."""
    try:
        run_aside(work, after(timeout_s))
    except LeftAloneError:
        return f"{what} had not ended after {timeout_s:g} s"
    except TargetError as error:
        return f"{what} failed: {error}"
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way
        return launch.conceal(f"{what} failed: {text_of(error)}")
    return None


def _introspect(launch: Launch) -> tuple[dict[str, str], tuple[str, ...]]:
    found: dict[str, str] = {}

    def ask() -> None:
        found.update(launch.driver.introspect())

    note = _best_effort(launch, "asking the target for its settings", ask, INTROSPECT_S)
    return found, () if note is None else (note,)


def _reply(
    launch: Launch,
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
    merged = merged_steps(records, f"{scenario.experiment.seed + order.round}")
    generator = generator_of(groups, scenario, limits(_signs(launch, groups, merged)))
    return LoadReply(
        error=lost or None,
        steps={
            name: launch_of(record, scenario, order, generator) for name, record in merged.items()
        },
        notes=(*notes, *_notes(groups)),
        server=server,
    )


def _signs(launch: Launch, groups: Sequence[EndedGroup], merged: Mapping[str, StepRecord]) -> Signs:
    scenario = launch.scenario
    medians = [record.histogram.percentile(0.5) for record in merged.values()]
    medians_s = [median / 1e9 for median in medians if median is not None]
    records = [group.record for group in groups if group.record is not None]
    return Signs(
        cpu_ratios=tuple(record.cpu_s / scenario.duration_s for record in records),
        workers=scenario.most_workers,
        cpus=available_cpus() if scenario.load.cluster is None else len(groups),
        has_processes=scenario.load.workers == "process" or scenario.load.cluster is not None,
        works_here=launch.driver.WORKS_HERE,
        late_p99_s=late_p99_s(groups, scenario.loop),
        clock_step_s=time.get_clock_info("perf_counter").resolution,
        p50_s=min(medians_s, default=None),
    )


def _notes(groups: Sequence[EndedGroup]) -> tuple[str, ...]:
    records = [group.record for group in groups if group.record is not None]
    notes = [note for record in records for note in record.notes]
    if any(record.paused_s for record in records):
        # Without a figure it is the same note for every launch.
        notes.append(f"workers paused, as each does after {ERRORS_BEFORE_PAUSE} errors in a row")
    return tuple(notes)
