"""Measures scenarios: each launch loads a target that has just been started."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.load.launch import LoadReply
from benchgate.load.signature import may_be_elsewhere
from benchgate.measure.contract import (
    DataFiles,
    DataFilesError,
    Definition,
    Discovery,
    DiscoveryFailure,
    EngineSettings,
    Observation,
    Stopwatch,
    ignore,
    starting_order,
)
from benchgate.measure.processes import CommandLauncher
from benchgate.measure.programs import ArmRunner, RunFailedError, require_equal_variables
from benchgate.measure.reach import why_hidden, why_opened
from benchgate.measure.scenarios.discovery import ScenarioFiles, definition_of
from benchgate.measure.scenarios.launch import LaunchTools, check, observed, run_alone
from benchgate.measure.scenarios.launch_plans import GENERATOR, launch_plans
from benchgate.measure.scenarios.turns import (
    NotSideBySideError,
    may_take_turns,
    run_in_turns,
    stood_still,
    turn_of,
)
from benchgate.measure.trees import Scratch

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.config import ScenarioBenchmark
    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.processes import Guardian
    from benchgate.measure.reach import Differences
    from benchgate.measure.scenarios.discovery import Unit
    from benchgate.measure.scenarios.launch import Outcome
    from benchgate.measure.scenarios.launch_plans import LaunchPlan


_REPEATED: Final = (
    "a launch was repeated, because no operation ended in it on either side: the machine stood"
    " still"
)
_ELSEWHERE: Final = "may load a server that benchgate does not start"
_NOT_RUN: Final = "has no operation in a launch of one second, so benchgate cannot see what it runs"


class ScenarioEngine:
    """Measures scenarios on one or two arms.

    Args:
        benchmarks: the scenarios that each arm's own configuration defines.
        arms: one or two arms, whose variables have the same names.
        guardian: ends processes that outlive benchgate.
        settings: how programs run.
        generator: the command that starts the load generator.
        pause: waits for some seconds.
    """

    def __init__(
        self,
        benchmarks: Mapping[ArmName, Sequence[ScenarioBenchmark]],
        arms: Sequence[Arm],
        guardian: Guardian,
        settings: EngineSettings,
        *,
        generator: Sequence[str] = GENERATOR,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        require_equal_variables(arms)
        self._arms = {arm.name: arm for arm in arms}
        self._files = ScenarioFiles.of(benchmarks, arms)
        self._units = self._files.units(settings.aliases, settings.unable)
        self._unit_of = {id_: unit for unit in self._units for id_ in unit.ids}
        self._brief = settings.brief
        self._generator = tuple(generator)
        self._pause = pause
        self._settings = settings
        self._plans: dict[str, tuple[LaunchPlan, ...]] = {}
        self._notes: dict[tuple[str, ArmName], tuple[str, ...]] = {}
        self._seen: dict[str, dict[ArmName, LoadReply]] = {}
        self._failed: dict[tuple[str, ArmName], RunFailedError] = {}
        self._parted: set[str] = set()
        self._scratch = Scratch()
        # Launches of two arms may run at the same time, and a launcher executes one command.
        self._launchers = {arm: CommandLauncher(guardian) for arm in self._arms}
        environ = settings.outside.environ
        self._tools = {
            arm: LaunchTools(
                ArmRunner(self._arms, launcher, settings),
                guardian,
                self._scratch,
                environ,
                introspect=settings.introspect,
            )
            for arm, launcher in self._launchers.items()
        }

    def discover(self) -> Discovery:
        """Read the scenario file of every arm."""
        data = DataFiles(self._arms)
        found: dict[ArmName, list[Definition]] = {arm: [] for arm in self._arms}
        failures = list(self._files.failures)
        for unit in self._units:
            for one in unit.arms:
                try:
                    found[one.arm.name] += [
                        definition_of(unit, one, step, data) for step in one.ids
                    ]
                except DataFilesError as error:
                    failures += [
                        DiscoveryFailure(one.arm.name, id_, str(error)) for id_ in one.ids.values()
                    ]
        return Discovery({arm: tuple(each) for arm, each in found.items()}, tuple(failures))

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,  # noqa: ARG002 - a launch draws from the seed of the scenario
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Launch each scenario of these benchmarks in every arm; see `contract.Engine`."""
        for unit in dict.fromkeys(self._unit_of[id_] for id_ in ids):
            wanted = [id_ for id_ in ids if self._unit_of[id_] is unit]
            starting(wanted[0])
            yield from self._measure(unit, wanted, round_index)

    def reach(self, ids: Sequence[str], differences: Differences) -> Mapping[str, str]:
        """Say it by what is opened in the first launch of each arm; see `ReachingEngine`."""
        found: dict[str, str] = {}
        for unit in dict.fromkeys(self._unit_of[id_] for id_ in ids):
            why = self._why_affected(unit, differences)
            own = [id_ for id_ in ids if self._unit_of[id_] is unit]
            found |= {id_: why or ("" if self._has_run(unit, id_) else _NOT_RUN) for id_ in own}
        return found

    def close(self) -> None:
        """End the load generator if it is running, and remove the files of the launches."""
        for launcher in self._launchers.values():
            launcher.close()
        self._scratch.close()

    def _why_affected(self, unit: Unit, differences: Differences) -> str:
        if any(may_be_elsewhere(one.target) for one in unit.arms):
            return _ELSEWHERE
        texts = (text for plan in self._plans_of(unit) for text in plan.command.texts)
        if hidden := why_hidden(texts):
            return hidden
        opened: dict[ArmName, Collection[Path] | None] = {}
        for plan in self._plans_of(unit):
            arm = plan.scenario.arm.name
            try:
                self._check(unit, plan, 0)
            except RunFailedError as error:
                self._failed[unit.title, arm] = error
                return f"cannot be seen: {str(error).partition(chr(10))[0]}"
            opened[arm] = self._tools[arm].runner.opened(arm) or None
        return why_opened(differences, opened)

    def _has_run(self, unit: Unit, id_: str) -> bool:
        """Whether a step had an operation in the first launch of each arm, which is short."""
        replies = self._seen.get(unit.title, {})
        launches = [replies[arm].steps.get(unit.steps(arm)[id_]) for arm in replies]
        return all(launch and launch.ops for launch in launches)

    def _plans_of(self, unit: Unit) -> tuple[LaunchPlan, ...]:
        if unit.title not in self._plans:
            self._plans[unit.title] = launch_plans(unit, self._settings, self._generator)
        return self._plans[unit.title]

    def _measure(self, unit: Unit, ids: Sequence[str], round_index: int) -> Iterator[Observation]:
        ordered = starting_order(self._plans_of(unit), unit.title, round_index)
        once = Stopwatch()
        launched: dict[LaunchPlan, Outcome] = {}
        for plan in ordered:
            try:
                with once:
                    self._check(unit, plan, round_index)
            except RunFailedError as error:
                launched[plan] = error
        launched = launched or self._launched(unit, ordered, round_index)
        launched_ids = {id_ for plan in launched for id_ in plan.scenario.ids.values()}
        for plan in ordered:
            # What only this arm has can be measured although the other one failed.
            if plan not in launched and not launched_ids.issuperset(plan.scenario.ids.values()):
                launched[plan] = self._alone(plan, round_index)
        for id_ in ids:
            seen = [
                self._observed(unit, plan, id_, order, launched[plan])
                for order, plan in enumerate(ordered)
                if plan in launched and id_ in plan.scenario.ids.values()
            ]
            for one in [one for one in seen if one.error] or seen:
                yield replace(one, once_s=once.elapsed_s)

    def _check(self, unit: Unit, plan: LaunchPlan, round_index: int) -> None:
        """Before the first launch in an arm, check that it runs the arm's own code.

        If it failed when `reach` asked, it is not started again for that.

        Raises:
            RunFailedError: it does not, or does not work at all.
        """
        arm = plan.scenario.arm.name
        if failed := self._failed.pop((unit.title, arm), None):
            raise failed
        if (unit.title, arm) in self._notes or self._brief:
            return
        compares = len(unit.arms) > 1
        reply, notes = check(plan, self._tools[arm], round_index, compares=compares)
        self._notes[unit.title, arm] = notes
        if reply is not None:
            self._seen.setdefault(unit.title, {})[arm] = reply

    def _launched(
        self, unit: Unit, ordered: Sequence[LaunchPlan], round_index: int
    ) -> dict[LaunchPlan, Outcome]:
        """Launch it in every arm: side by side if that is possible, or in turn."""
        # The arms rest equally long, whatever their files say.
        pause_s = max(plan.scenario.scenario.experiment.pause_s for plan in ordered)
        if (turn_ns := self._turn_ns(unit)) is not None:
            self._pause(pause_s)
            tools = [self._tools[plan.scenario.arm.name] for plan in ordered]
            try:
                in_turns = run_in_turns(ordered, tools, round_index, turn_ns)
                if not stood_still(in_turns.values()):
                    return in_turns
                self._note(unit, _REPEATED)
                return run_in_turns(ordered, tools, round_index, turn_ns)
            except NotSideBySideError as error:
                self._part(unit, error)
        launched: dict[LaunchPlan, Outcome] = {}
        for plan in ordered:
            self._pause(pause_s)
            launched[plan] = reply = self._alone(plan, round_index)
            if isinstance(reply, LoadReply):
                self._seen.setdefault(unit.title, {}).setdefault(plan.scenario.arm.name, reply)
        return launched

    def _part(self, unit: Unit, error: NotSideBySideError) -> None:
        """From now on, launch the arms one after the other."""
        self._parted.add(unit.title)
        self._note(
            unit,
            "base and head are loaded one after the other, which is less exact: their services do"
            f" not start side by side ({error})",
        )

    def _note(self, unit: Unit, text: str) -> None:
        """Let the benchmarks of a scenario say this from now on, once."""
        for one in unit.arms:
            known = self._notes.get((unit.title, one.arm.name), ())
            self._notes[unit.title, one.arm.name] = tuple(dict.fromkeys((*known, text)))

    def _alone(self, plan: LaunchPlan, round_index: int) -> Outcome:
        tools = self._tools[plan.scenario.arm.name]
        return run_alone(plan, tools, round_index, brief=self._brief)

    def _turn_ns(self, unit: Unit) -> int | None:
        """How long a turn takes if the arms take turns; None if they do not, or not yet."""
        seen = self._seen.get(unit.title, {})
        if self._brief or unit.title in self._parted or len(seen) < len(unit.arms):
            return None
        if not may_take_turns(unit.arms):
            return None
        duration_s = unit.arms[0].scenario.duration_s
        return turn_of(seen.values(), duration_s)

    def _observed(
        self,
        unit: Unit,
        plan: LaunchPlan,
        id_: str,
        order: int,
        reply: Outcome,
    ) -> Observation:
        one, arm = plan.scenario, plan.scenario.arm.name
        if isinstance(reply, RunFailedError):
            return Observation(arm, id_, order, error=str(reply), of_all=reply.of_all)
        step = unit.steps(arm)[id_]
        notes = (*self._notes.get((unit.title, arm), ()), *reply.notes)
        launch = reply.steps.get(step)
        if launch is None:
            why = f"the load generator reported nothing about the step {step}"
            return Observation(arm, id_, order, error=why)
        if self._brief and not launch.ops + launch.errors:
            return Observation(arm, id_, order)
        found = observed(arm, id_, order, launch, one.scenario.load.max_error_rate)
        return replace(found, notes=notes, server=reply.server)
