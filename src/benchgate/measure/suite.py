"""Measures a suite of another tool: each run of it is a launch of all its benchmarks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.measure.arm_runner import ArmRunner, CommandFailedError, ProgramSettings
from benchgate.measure.armcommand import RunSettings, arm_commands
from benchgate.measure.datafiles import DataFiles
from benchgate.measure.engine import ArmName, Observation, ignore
from benchgate.measure.lockstep import starting_order
from benchgate.measure.process import CommandLauncher
from benchgate.measure.suite_discovery import FirstRuns
from benchgate.measure.suite_ledger import SuiteLedger
from benchgate.measure.suite_output import Scratch
from benchgate.measure.suite_run import SuiteFailedError, SuiteRunner
from benchgate.model.run import Status
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.config import SuiteBenchmark
    from benchgate.measure.armcommand import ArmCommand
    from benchgate.measure.engine import Arm, Discovery
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.suite_run import SuiteRun

_NAMED = 5


class SuiteEngine:
    """Measures one suite on one or two arms.

    Only a run tells which benchmarks a suite has. So the suite runs once when they are searched.
    That run may compile, and benchgate watches it to check whose code runs. It is the warm-up: its
    values count only if `command_warmup` of `measure` is 0.

    Args:
        suites: the suite as each arm's own configuration defines it.
        arms: one or two arms, whose variables have the same names.
        guardian: ends processes that outlive benchgate.
        settings: how it runs; if both arms have it, the longer timeout applies.
        tell: tells the user what takes time, and what concerns no single benchmark.

    Raises:
        MeasureError: the arms set different variables.
    """

    def __init__(
        self,
        suites: Mapping[ArmName, SuiteBenchmark],
        arms: Sequence[Arm],
        guardian: Guardian,
        settings: ProgramSettings,
        *,
        tell: Callable[[str], None] = ignore,
    ) -> None:
        leading = suites.get(settings.lead) or next(iter(suites.values()))
        self._title = leading.title
        self._suites = suites
        self._arms = {arm.name: arm for arm in arms}
        self._aliases = settings.aliases
        self._tell = tell
        self._settings = RunSettings(
            id=self._title,
            executions=1,
            warmup=settings.measure.command_warmup,
            pin=leading.pin,
            allow_foreign=leading.allow_foreign,
            timeout_s=max(suite.timeout_s for suite in suites.values()),
        )
        self._commands = arm_commands(suites, arms, settings.outside)
        self._launcher = CommandLauncher(guardian)
        self._scratch = Scratch()
        self._runner = ArmRunner(self._arms, self._launcher, settings)
        self._runs = SuiteRunner(self._runner, self._settings, self._scratch, self._arms)
        self._formats: dict[ArmName, str] = {}
        self._counting: dict[ArmName, SuiteRun] = {}
        self._ledger = SuiteLedger({}, {})
        self._known: set[str] = set()

    def discover(self) -> Discovery:
        """Run the suite once in every arm, to find its benchmarks."""
        commands = starting_order(self._commands, self._title, 0)
        sides = "on both sides" if len(commands) > 1 else f"on the {commands[0].arm}"
        self._tell(f"running the suite {self._title} {sides} to find its benchmarks")
        runs, failed = self._run_all(commands, check=True)
        first = FirstRuns(self._title, self._arms, self._suites, runs, failed, self._aliases)
        pin = self._settings.pin
        notes = self._runner.notes_on_pinning(pin=pin)
        found = first.discovery(DataFiles(self._arms), notes, pin=pin)
        own_ids = {arm: {one.id: one.own_id for one in each} for arm, each in found.found.items()}
        self._ledger = SuiteLedger(own_ids, runs)
        self._known = {id_ for run in runs.values() for id_ in run.benchmarks}
        self._counting = {} if self._settings.warmup else runs
        self._tell_found(runs, len({id_ for ids in own_ids.values() for id_ in ids}))
        return found

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,  # noqa: ARG002 - a suite has an order of its own
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Run the suite once in every arm that has one of the benchmarks; see `engine.Engine`."""
        if not ids:
            return
        starting(ids[0])
        having = tuple(
            one for one in self._commands if any(self._ledger.has(one.arm, id_) for id_ in ids)
        )
        commands = starting_order(having, self._title, round_index)
        counting, self._counting = self._counting, {}
        runs, failed = self._run_all([one for one in commands if one.arm not in counting])
        runs |= counting
        late = self._late_in(runs)
        spent_s = sum(run.took_s for run in counting.values())
        for id_ in ids:
            seen = [
                self._observed(one.arm, id_, order, runs, failed)
                for order, one in enumerate(commands)
                if self._ledger.has(one.arm, id_)
            ]
            seen += self._belated(id_, commands, runs)
            for one in [one for one in seen if one.error] or seen:
                yield replace(one, notes=(*one.notes, *late), once_s=-spent_s)

    def close(self) -> None:
        """End the suite if it is running, and remove its outputs."""
        self._launcher.close()
        self._scratch.close()

    def _run_all(
        self, commands: Sequence[ArmCommand], *, check: bool = False
    ) -> tuple[dict[ArmName, SuiteRun], dict[ArmName, SuiteFailedError]]:
        """Run the suite in these arms, then clean up; return what ran, and what failed."""
        runs: dict[ArmName, SuiteRun] = {}
        failed: dict[ArmName, SuiteFailedError] = {}
        for command in commands:
            arm, suite = command.arm, self._suites[command.arm]
            format_name = self._formats.get(arm) or suite.format
            try:
                runs[arm] = self._runs.run(command, suite, format_name, check=check)
                self._formats[arm] = runs[arm].format
            except SuiteFailedError as error:
                failed[arm] = error
        for command in commands:
            try:
                self._runner.clean_up(self._settings, (command,))
            except CommandFailedError as error:
                failed.setdefault(command.arm, SuiteFailedError(error.error))
        return {arm: run for arm, run in runs.items() if arm not in failed}, failed

    def _observed(
        self,
        arm: ArmName,
        id_: str,
        order: int,
        runs: Mapping[ArmName, SuiteRun],
        failed: Mapping[ArmName, SuiteFailedError],
    ) -> Observation:
        if error := failed.get(arm):
            why = f"its suite failed: {error}"
            return Observation(arm, id_, order, error=why, of_all=error.of_all)
        return self._ledger.observe(arm, id_, order, runs[arm])

    def _belated(
        self, id_: str, commands: Sequence[ArmCommand], runs: Mapping[ArmName, SuiteRun]
    ) -> list[Observation]:
        """Refuse a benchmark as new if a later run of the other arm reports it after all."""
        lacking = {arm for arm in runs if not self._ledger.has(arm, id_)}
        old_ids = {new: old for old, new in self._aliases.items()}
        found = {
            arm: runs[arm].benchmarks.get(id_)
            or (runs[arm].benchmarks.get(old_ids.get(id_, "")) if arm is ArmName.BASE else None)
            for arm in lacking
        }
        # One that fails in every run was never more than a failure.
        late = [arm for arm, one in found.items() if one and one.status is Status.OK]
        return [
            Observation(
                one.arm,
                id_,
                order,
                error=f"the suite of the {late[0]} reports it now, but its first run did not: it "
                "must report the same benchmarks in every run",
                of_all=True,
            )
            for order, one in enumerate(commands)
            if late and one.arm not in lacking
        ]

    def _tell_found(self, runs: Mapping[ArmName, SuiteRun], count: int) -> None:
        if count:
            took = format_duration(sum(run.took_s for run in runs.values()))
            self._tell(
                f"the suite {self._title} has {counted(count, 'benchmark')}; this run took {took}, "
                "and every round takes about as long"
            )

    def _late_in(self, runs: Mapping[ArmName, SuiteRun]) -> tuple[str, ...]:
        """Say which benchmarks the first runs did not report: they are not measured."""
        late = sorted({id_ for run in runs.values() for id_ in run.benchmarks} - self._known)
        self._known.update(late)
        if not late:
            return ()
        more = f" and {len(late) - _NAMED} more" if len(late) > _NAMED else ""
        named = f"{', '.join(late[:_NAMED])}{more}"
        return (f"its suite reports what its first run did not, and that is left out: {named}",)
