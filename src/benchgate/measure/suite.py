"""Measures a suite of another tool: each run of it is a launch of all its benchmarks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.config.benchmarks import FILTER
from benchgate.gate.rows import TOOL, VERSION
from benchgate.measure.arm_command import (
    ArmRunner,
    DataFiles,
    DataFilesError,
    EngineSettings,
    RunFailedError,
    RunSettings,
    arm_commands,
    workload_hash,
    workload_of,
)
from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    DiscoveryFailure,
    Observation,
    ignore,
    starting_order,
)
from benchgate.measure.launcher import CommandLauncher
from benchgate.measure.suite_filter import filter_of
from benchgate.measure.suite_run import (
    Scratch,
    notes_of,
    run_suite,
    values_of,
    version_of,
)
from benchgate.model.run import Status, Tier, renamed
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from benchgate.config import SuiteBenchmark
    from benchgate.measure.arm_command import ArmCommand
    from benchgate.measure.engine import Arm, MetricSamples
    from benchgate.measure.execution import Execution
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.suite_run import SuiteRun
    from benchgate.model.run import Metric


_SKIPPED_SHOWN = 3
_WITHOUT_ERROR = "its tool reported that it failed"


@dataclass(frozen=True, slots=True)
class FirstRuns:
    """The first run of a suite in every arm.

    Attributes:
        title: what people call the suite.
        arms, suites: all of them; the suite as the arm's own configuration defines it.
        runs: those that could be read.
        failed: why the others could not.
        aliases: old id to new id.
    """

    title: str
    arms: Mapping[ArmName, Arm]
    suites: Mapping[ArmName, SuiteBenchmark]
    runs: Mapping[ArmName, SuiteRun]
    failed: Mapping[ArmName, RunFailedError]
    aliases: Mapping[str, str]

    @property
    def new_ids(self) -> dict[str, str]:
        """The new id of each benchmark that the head renamed, by its old id."""
        base, head = (self._reported(arm) for arm in (ArmName.BASE, ArmName.HEAD))
        return {old: new for new, old in renamed(base, head, self.aliases).items()}

    def discovery(self, data: DataFiles, notes: tuple[str, ...], *, pin: bool) -> Discovery:
        """Describe the benchmarks that ran, and report the others.

        Args:
            data: reads the data files that the suite names.
            notes: on every benchmark.
            pin: whether the suite is kept on one CPU.
        """
        found: dict[ArmName, tuple[Definition, ...]] = dict.fromkeys(self.arms, ())
        if any(error.of_all for error in self.failed.values()):
            return Discovery(
                found,
                tuple(
                    DiscoveryFailure(arm, self.title, str(error), of_all=error.of_all)
                    for arm, error in self.failed.items()
                ),
            )
        failures = [*self._failed_suites(), *self._failed_benchmarks()]
        for arm in self.runs:
            try:
                found[arm] = tuple(self._definitions(arm, data, notes, pin=pin))
            except DataFilesError as error:
                failures.append(DiscoveryFailure(arm, self.title, str(error)))
        toolchains = {arm: _toolchain(run.tool) for arm, run in self.runs.items()}
        return Discovery(found, tuple(failures), toolchains)

    def _reported(self, arm: ArmName) -> tuple[str, ...]:
        run = self.runs.get(arm)
        return tuple(run.benchmarks) if run else ()

    def _definitions(
        self, arm: ArmName, data: DataFiles, notes: tuple[str, ...], *, pin: bool
    ) -> Iterator[Definition]:
        run, suite = self.runs[arm], self.suites[arm]
        notes = (*notes, *run.notes, *_skipped_in(run))
        if trouble := self._trouble_of(arm):
            notes = (*notes, f"its suite on the {arm}: {trouble.partition(chr(10))[0]}")
        parts = {
            "its definition": workload_hash(suite, pin=pin, inside=self.arms[arm].inside),
            TOOL: run.format,
            **data.parts(arm, suite.data),
        }
        new_ids = self.new_ids if arm is ArmName.BASE else {}
        for own_id, one in run.benchmarks.items():
            if one.status is Status.FAILED:
                continue
            version = version_of(run.format, one)
            own_parts = parts | ({VERSION: version} if version else {})
            yield Definition(
                id=new_ids.get(own_id, own_id),
                workload=workload_of(own_parts),
                tier=Tier.SUITE,
                kind=suite.KIND,
                tags=suite.tags,
                notes=(*notes, *notes_of(one)),
                renamed_from=own_id if own_id in new_ids else None,
                parts=own_parts,
                suite=self.title,
            )

    def _failed_suites(self) -> Iterator[DiscoveryFailure]:
        """Report the arms whose run failed or is doubtful.

        If the run of another arm shows which benchmarks there are, each of them failed.
        """
        for arm, error in self.failed.items():
            others = {id_ for other in self.runs for id_ in self._reported(other)}
            first, *rest = sorted(others) or [self.title]
            whose = "its suite failed: " if others else ""
            yield DiscoveryFailure(arm, first, f"{whose}{error}", suite=self.title)
            line = str(error).partition("\n")[0]
            for id_ in rest:
                short = f"its suite failed: {line}\n{first} has the details"
                yield DiscoveryFailure(arm, id_, short, suite=self.title)
        if self._trouble_of(ArmName.HEAD):
            for arm in self.runs:
                if trouble := self._trouble_of(arm):
                    yield DiscoveryFailure(arm, self.title, trouble)

    def _trouble_of(self, arm: ArmName) -> str:
        run = self.runs.get(arm)
        return run.trouble_beside(run.benchmarks) if run else ""

    def _failed_benchmarks(self) -> Iterator[DiscoveryFailure]:
        for arm, run in self.runs.items():
            new_ids = self.new_ids if arm is ArmName.BASE else {}
            for own_id, one in run.benchmarks.items():
                if one.status is Status.FAILED:
                    why = one.error or _WITHOUT_ERROR
                    yield DiscoveryFailure(arm, new_ids.get(own_id, own_id), why)


def _skipped_in(run: SuiteRun) -> list[str]:
    """Notes on what could not be read; the last one only counts if there is much of it."""
    shown = [f"its suite: not read: {one}" for one in run.skipped[:_SKIPPED_SHOWN]]
    rest = len(run.skipped) - len(shown)
    return [*shown, f"its suite: not read: {rest} more"] if rest else shown


def _toolchain(tool: str) -> dict[str, str]:
    """The tool and its version, if it tells one: "pytest-benchmark 5.1.0"."""
    name, _, version = tool.rpartition(" ")
    return {name: version} if name else {}


_MOST_MISSING = 3


class SuiteLedger:
    """Turns each run into observations; a benchmark may be missing in some runs.

    Args:
        own_ids: for each arm the benchmarks that its first run reported: the arm's own id of each,
            by the id that both arms share.
        first_runs: the first run of each arm.
    """

    def __init__(
        self,
        own_ids: Mapping[ArmName, Mapping[str, str]],
        first_runs: Mapping[ArmName, SuiteRun],
    ) -> None:
        self._own_ids = own_ids
        self._first_ids = {arm: frozenset(run.benchmarks) for arm, run in first_runs.items()}
        self._troubled = frozenset(
            arm for arm, run in first_runs.items() if run.trouble_beside(run.benchmarks)
        )
        self._last: dict[ArmName, tuple[SuiteRun, str]] = {}
        self._metrics: dict[tuple[ArmName, str, str], Metric] = {}
        self._reported: Counter[tuple[ArmName, str]] = Counter()
        self._missing: Counter[tuple[ArmName, str]] = Counter()

    def has(self, arm: ArmName, id_: str) -> bool:
        """Whether the first run of an arm reported a benchmark."""
        return id_ in self._own_ids.get(arm, {})

    def own_ids(self, ids: Collection[str] | None = None) -> frozenset[str]:
        """The ids that the arms themselves have for some benchmarks; by default for all."""
        return frozenset(
            own_id
            for known in self._own_ids.values()
            for id_, own_id in known.items()
            if ids is None or id_ in ids
        )

    def lacks(self, arm: ArmName, ids: Collection[str], run: SuiteRun) -> bool:
        """Whether a run says nothing about one of these benchmarks of its arm."""
        known = self._own_ids.get(arm, {})
        return any(id_ in known and known[id_] not in run.benchmarks for id_ in ids)

    def observe(self, arm: ArmName, id_: str, order: int, run: SuiteRun) -> Observation:
        """Say what a run of an arm shows about one of its benchmarks."""
        trouble = self._trouble_of(arm, run)
        if trouble and arm not in self._troubled:
            return Observation(arm, id_, order, error=f"its suite failed: {trouble}")
        found = run.benchmarks.get(self._own_ids[arm][id_])
        if found is None:
            return self._absent(arm, id_, order)
        self._reported[arm, id_] += 1
        if found.status is Status.FAILED:
            return Observation(arm, id_, order, error=found.error or "it failed under its tool")
        metrics = values_of(found)
        unlike = (each.metric.name for each in metrics if not self._is_known(arm, id_, each))
        wrong = next(unlike, None)
        if wrong is not None:
            why = f"{wrong} changed its unit, direction or kind between two runs"
            return Observation(arm, id_, order, error=why)
        return Observation(arm, id_, order, metrics=metrics)

    def _trouble_of(self, arm: ArmName, run: SuiteRun) -> str:
        """What is wrong with a run, which is asked for each of its benchmarks."""
        known = self._last.get(arm)
        if known is None or known[0] is not run:
            known = self._last[arm] = run, run.trouble_beside(self._first_ids[arm])
        return known[1]

    def _absent(self, arm: ArmName, id_: str, order: int) -> Observation:
        """No value: too many of these are a failure, because rounds are spent for nothing."""
        self._missing[arm, id_] += 1
        missing, reported = self._missing[arm, id_], self._reported[arm, id_]
        if missing >= _MOST_MISSING and missing > reported:
            why = f"its suite reported it in only {reported} of {missing + reported} runs"
            return Observation(arm, id_, order, error=f"{why}, although the first run had it")
        note = "its suite did not report it in every run: these rounds are left out"
        return Observation(arm, id_, order, notes=(note,))

    def _is_known(self, arm: ArmName, id_: str, measured: MetricSamples) -> bool:
        metric = measured.metric
        return self._metrics.setdefault((arm, id_, metric.name), metric) == metric


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
        """Run the suite once in every arm that has one of the benchmarks; see `engine.Engine`."""
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
