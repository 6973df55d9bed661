"""Launches of a scenario in both arms that take turns, so that both see the same machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchgate.load.drivers import registry
from benchgate.load.meeting import is_ready, tell_ended
from benchgate.load.order import INTERRUPTED, LoadReply
from benchgate.load.substitution import OWN_PLACEHOLDERS, PORT, placeholders_in
from benchgate.load.turns import TurnOrder, turn_ns
from benchgate.measure.scenario_launch import LaunchFailedError, opened
from benchgate.stats.histogram import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchgate.load.tables import Service
    from benchgate.measure.scenario_discovery import ArmScenario
    from benchgate.measure.scenario_launch import LaunchTools, Loaded, OpenLaunch, Outcome
    from benchgate.measure.scenario_plan import LaunchPlan


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
        and registry.find(one.target.driver).is_own(one.target)
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
    launches: list[OpenLaunch] = []
    with ExitStack() as stack:
        for plan, each in zip(plans, tools, strict=True):
            try:
                launches.append(stack.enter_context(opened(plan, each)))
            except LaunchFailedError as error:
                if launches:
                    raise NotSideBySideError(str(error).partition("\n")[0]) from error
                return {plan: error}
        # Both launches have a folder of their own, and the first one's is as good as any.
        loaded = _loaded(launches, round_index, turn_ns, launches[0].folder / "meeting")
        return {launch.plan: launch.end(result) for launch, result in loaded.items()}


def _loaded(
    launches: Sequence[OpenLaunch], round_index: int, turn_ns: int, meeting: Path
) -> dict[OpenLaunch, Loaded]:
    """Run both load generators; leave out a launch that ended only because the other one did."""
    first, second = launches
    try:
        meeting.mkdir()
    except OSError as error:
        return {first: LaunchFailedError(f"no room for its files: {error.strerror}")}

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
    return isinstance(loaded, LaunchFailedError) and str(loaded) == INTERRUPTED
