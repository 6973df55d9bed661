"""Whether the launches of both arms may take turns step by step, and lets them do so."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from benchgate.load import drivers
from benchgate.load.group import is_ready, tell_ended
from benchgate.load.launch import INTERRUPTED, LoadReply
from benchgate.load.placeholders import OWN_PLACEHOLDERS, PORT, placeholders_in
from benchgate.load.schedule import TurnOrder, turn_ns
from benchgate.measure.programs import RunFailedError
from benchgate.measure.scenarios.launch import LaunchTools, opened
from benchgate.measure.scenarios.services import POLL_S, ServiceFailedError
from benchgate.stats.histogram import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchgate.load.scenario import Service
    from benchgate.measure.scenarios.discovery import ArmScenario
    from benchgate.measure.scenarios.launch import Loaded, OpenLaunch, Outcome
    from benchgate.measure.scenarios.launch_plans import LaunchPlan


class NotSideBySideError(Exception):
    """The services of one arm do not start while those of the other arm run."""


def may_take_turns(arms: Sequence[ArmScenario]) -> bool:
    """Whether launches of these arms can run at the same time without touching each other."""
    loads = {(one.scenario.load.warmup_s, one.scenario.duration_s) for one in arms}
    return len(arms) > 1 and len(loads) == 1 and all(map(_is_apart, arms))


def _is_apart(one: ArmScenario) -> bool:
    """Whether another arm's launch of the same scenario can run at the same time."""
    scenario = one.scenario
    return (
        scenario.experiment.side_by_side
        and scenario.load.cluster is None
        and drivers.find(one.target.driver).is_own(one.target)
        and all(map(_has_own_place, scenario.services))
    )


def _has_own_place(service: Service) -> bool:
    """Whether a service is told a port or a folder that only this launch uses."""
    return any(
        name in OWN_PLACEHOLDERS or name.endswith(PORT)
        for text in (service.start, *service.env.values())
        for name in placeholders_in(text)
    )


def turn_of(replies: Iterable[LoadReply], duration_s: float) -> int | None:
    """Choose how long a turn takes, in ns, from earlier launches; None: they cannot take turns.

    Args:
        duration_s: the measured time of each launch.
    """
    medians = [
        decode(step.histogram).percentile(0.5) for reply in replies for step in reply.steps.values()
    ]
    slowest_ns = max((median for median in medians if median is not None), default=None)
    return None if slowest_ns is None else turn_ns(slowest_ns / 1e9, duration_s)


def stood_still(outcomes: Iterable[Outcome]) -> bool:
    """Whether launches in turns saw no operation end on any side, which tells nothing of either."""
    return all(
        isinstance(one, LoadReply) and not any(x.ops + x.errors for x in one.steps.values())
        for one in outcomes
    )


def run_in_turns(
    plans: Sequence[LaunchPlan],
    tools: Sequence[LaunchTools],
    round_index: int,
    turn_ns: int,
) -> dict[LaunchPlan, Outcome]:
    """Launch a scenario in two arms at the same time.

    Args:
        plans: of the arm that has the first turn, and of the other one.
        tools: of the same arms.
        turn_ns: how long a turn takes.

    Returns:
        How the launches ended. If one fails so early that the other one cannot begin, only the one
        that failed by itself.

    Raises:
        NotSideBySideError: the services of the second arm failed to start; nothing was measured.
    """
    with ExitStack() as stack:
        launches: list[OpenLaunch] = []
        for plan, each in zip(plans, tools, strict=True):
            try:
                launches.append(stack.enter_context(opened(plan, each)))
            except RunFailedError as error:
                return {plan: error}
        if not _have_started(launches):
            # Only one after the other shows whether one of them fails by itself.
            for launch in launches:
                try:
                    launch.start()
                except RunFailedError as error:
                    if launch is launches[0]:
                        return {launch.plan: error}
                    raise NotSideBySideError(str(error).partition("\n")[0]) from error
        # Both launches have a folder of their own, and the first one's is as good as any.
        loaded = _loaded(launches, round_index, turn_ns, launches[0].folder / "meeting")
        with ThreadPoolExecutor() as pool:  # a server may take a second to stop
            outcomes = pool.map(lambda launch: launch.end(loaded[launch]), loaded)
            return dict(zip((launch.plan for launch in loaded), outcomes, strict=True))


_STARTED: Final = object()


def _have_started(launches: Sequence[OpenLaunch]) -> bool:
    """Start the services of all launches at the same time; False if some failed, and none runs."""
    waiting = [launch.services.starting() for launch in launches]
    try:
        while waiting := [one for one in waiting if next(one, _STARTED) is not _STARTED]:
            time.sleep(POLL_S)
    except ServiceFailedError:
        for launch in launches:
            launch.services.stop_quickly()
        return False
    finally:
        for one in waiting:
            one.close()
    return True


def _loaded(
    launches: Sequence[OpenLaunch], round_index: int, turn_ns: int, meeting: Path
) -> dict[OpenLaunch, Loaded]:
    """Run both load generators; leave out a launch that ended only because the other one did."""
    first, second = launches
    try:
        meeting.mkdir()
    except OSError as error:
        return {first: RunFailedError(f"no room for its files: {error.strerror}")}

    def load(launch: OpenLaunch, place: int) -> Loaded:
        turns = TurnOrder(place=place, turn_ns=turn_ns, meeting=str(meeting))
        loaded = launch.load(round_index, turns=turns)
        tell_ended(meeting)
        return loaded

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(load, second, 1)
        try:
            loaded = {first: load(first, 0), second: future.result()}
        except BaseException:
            tell_ended(meeting)
            second.give_up()
            raise
    own = {launch: result for launch, result in loaded.items() if not _was_given_up(result)}
    # One that was ready may have waited for the other one until its time was over.
    unready = [one for place, one in enumerate(launches) if not is_ready(meeting, place)]
    return {one: result for one, result in own.items() if one in unready} or own or loaded


def _was_given_up(loaded: Loaded) -> bool:
    return isinstance(loaded, RunFailedError) and str(loaded) == INTERRUPTED
