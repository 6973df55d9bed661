"""Measures a suite of another tool: each run of it is a launch of all its benchmarks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.config.program_benchmarks import FILTER
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import (
    DataFiles,
    Definition,
    Discovery,
    EngineSettings,
    Observation,
    ignore,
    starting_order,
)
from benchgate.measure.processes import CommandLauncher
from benchgate.measure.programs import (
    ArmRunner,
    RunFailedError,
    RunSettings,
    arm_commands,
    workload_hash,
)
from benchgate.measure.reach import why_hidden, why_opened
from benchgate.measure.suites.first_runs import FirstRuns
from benchgate.measure.suites.ledger import SuiteLedger
from benchgate.measure.suites.run import run_suite
from benchgate.measure.suites.tool_filter import filter_of
from benchgate.measure.trees import Scratch
from benchgate.model.run import Status, Tier
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from benchgate.config import SuiteBenchmark
    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Execution, Guardian
    from benchgate.measure.programs import ArmCommand
    from benchgate.measure.reach import Differences
    from benchgate.measure.suites.run import SuiteRun


_NAMED = 5
PART_FAILED: Final = (
    f"a run of its suite with {FILTER} failed, or lacked a benchmark: now the whole suite runs"
)


class SuiteEngine:
    """Measures one suite on one or two arms.

    Only a run tells which benchmarks a suite has. So the suite runs once when they are searched.
    That run may compile, and benchgate watches it to check whose code runs. It is the warm-up: its
    values count only if `command_warmup` of `measure` is 0.

    If its command has `{filter}` in all arms, a round of some benchmarks runs only these, and
    others that the filter cannot tell apart from them. All arms get the same filter. Once it has
    left out what it should select, the suite runs as a whole.

    Args:
        suites: the suite as each arm's own configuration defines it.
        arms: one or two arms, whose variables have the same names.
        guardian: ends processes that outlive benchgate.
        settings: how it runs; if both arms have it, the longer timeout applies.
    """

    def __init__(
        self,
        suites: Mapping[ArmName, SuiteBenchmark],
        arms: Sequence[Arm],
        guardian: Guardian,
        settings: EngineSettings,
    ) -> None:
        leading = suites.get(settings.lead) or next(iter(suites.values()))
        self._title = leading.title
        self._suites = suites
        self._arms = {arm.name: arm for arm in arms}
        self._aliases = settings.aliases
        self._tell = settings.tell
        self._is_run = settings.runs_suites
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
        self._filters = all(suite.has_filter for suite in suites.values())
        self._formats: dict[ArmName, str] = {}
        self._counting: dict[ArmName, SuiteRun] = {}
        self._ledger = SuiteLedger({}, {})
        self._known: set[str] = set()

    def discover(self) -> Discovery:
        """Run the suite once in every arm, to find its benchmarks.

        If suites do not run, a single entry stands for it, which cannot be measured.
        """
        if not self._is_run:
            entries = {arm: (_entry(suite),) for arm, suite in self._suites.items()}
            return Discovery({arm: entries.get(arm, ()) for arm in self._arms})
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
        """Run the suite once in every arm that has one of the benchmarks; see `contract.Engine`."""
        if not ids:
            return
        starting(ids[0])
        having = tuple(
            one for one in self._commands if any(self._ledger.has(one.arm, id_) for id_ in ids)
        )
        commands = starting_order(having, self._title, round_index)
        counting, self._counting = self._counting, {}
        runs, failed, notes = self._run_some(
            [one for one in commands if one.arm not in counting], ids
        )
        runs |= counting
        notes += self._late_in(runs)
        spent_s = sum(run.took_s for run in counting.values())
        for id_ in ids:
            seen = [
                self._observed(one.arm, id_, order, runs, failed)
                for order, one in enumerate(commands)
                if self._ledger.has(one.arm, id_)
            ]
            seen += self._belated(id_, commands, runs)
            for one in [one for one in seen if one.error] or seen:
                yield replace(one, notes=(*one.notes, *notes), once_s=-spent_s)

    def reach(self, ids: Sequence[str], differences: Differences) -> Mapping[str, str]:
        """Say it by what the suite opened when it was run to find them; see `ReachingEngine`."""
        opened = {arm: self._runner.opened(arm) for arm in self._suites}
        hidden = why_hidden(text for one in self._commands for text in one.texts)
        return dict.fromkeys(ids, hidden or why_opened(differences, opened))

    def close(self) -> None:
        """End the suite if it is running, and remove its outputs."""
        self._launcher.close()
        self._scratch.close()

    def _run_some(
        self, commands: Sequence[ArmCommand], ids: Sequence[str]
    ) -> tuple[dict[ArmName, SuiteRun], dict[ArmName, RunFailedError], tuple[str, ...]]:
        """Run these benchmarks, or the whole suite if it cannot be told which; return notes, too.

        What the filter leaves out is no failure of the benchmark: so the suite runs once more.
        """
        wanted = self._ledger.own_ids(frozenset(ids))
        if not self._filters or wanted == self._ledger.own_ids():
            return *self._run_all(commands), ()
        runs, failed = self._run_all(commands, wanted)
        is_whole = not failed and not any(
            run.trouble or self._ledger.lacks(arm, ids, run) for arm, run in runs.items()
        )
        if is_whole:
            return runs, failed, ()
        self._filters = False
        return *self._run_all(commands), (PART_FAILED,)

    def _run_all(
        self,
        commands: Sequence[ArmCommand],
        wanted: Collection[str] = (),
        *,
        check: bool = False,
    ) -> tuple[dict[ArmName, SuiteRun], dict[ArmName, RunFailedError]]:
        """Run the suite in these arms, then clean up; return what ran, and what failed.

        Args:
            wanted: the arms' own ids of what to run at least; none for everything.
        """
        runs: dict[ArmName, SuiteRun] = {}
        failed: dict[ArmName, RunFailedError] = {}
        for command in (self._filtered(one, wanted) for one in commands):
            arm, suite = command.arm, self._suites[command.arm]
            format_name = self._formats.get(arm) or suite.format
            try:
                runs[arm] = run_suite(
                    suite,
                    self._arms[arm],
                    command,
                    format_name,
                    self._check if check else self._execute,
                    folder=self._scratch.fresh(),
                )
                self._formats[arm] = runs[arm].format
            except RunFailedError as error:
                failed[arm] = error
            except OSError as error:
                failed[arm] = RunFailedError(f"no room for its output: {error.strerror}")
        for command in commands:
            try:
                self._runner.clean_up(self._settings, command)
            except RunFailedError as error:
                failed.setdefault(command.arm, error)
        return {arm: run for arm, run in runs.items() if arm not in failed}, failed

    def _filtered(self, command: ArmCommand, wanted: Collection[str]) -> ArmCommand:
        suite, arm = self._suites[command.arm], self._arms[command.arm]
        if not suite.has_filter:
            return command
        group = "" if suite.group is None else f"{suite.group}/"
        names = [arm.substitute(id_.removeprefix(group)) for id_ in sorted(wanted)]
        text = filter_of(suite.format or "", names)
        words = tuple(word.replace(FILTER, text) for word in command.command)
        return replace(command, command=words)

    def _check(self, command: ArmCommand) -> tuple[Execution, tuple[str, ...]]:
        """Execute it, and check that it runs the code of its own arm, which costs a little."""
        execution, notes = self._runner.check(self._settings, command)
        return (execution, notes) if execution else self._execute(command)

    def _execute(self, command: ArmCommand) -> tuple[Execution, tuple[str, ...]]:
        return self._runner.prepare_and_time(self._settings, command), ()

    def _observed(
        self,
        arm: ArmName,
        id_: str,
        order: int,
        runs: Mapping[ArmName, SuiteRun],
        failed: Mapping[ArmName, RunFailedError],
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
                f"and every round {'of all ' if self._filters else ''}takes about as long"
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


def _entry(suite: SuiteBenchmark) -> Definition:
    workload = workload_hash(suite, pin=suite.pin)
    return Definition(
        suite.title, workload, Tier.SUITE, suite.KIND, suite.tags, is_unrun_suite=True
    )
