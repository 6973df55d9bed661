"""Measures commands, in bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.measure.arm import ArmName
from benchgate.measure.contract import (
    DataFiles,
    DataFilesError,
    Definition,
    Discovery,
    DiscoveryFailure,
    EngineSettings,
    Observation,
    ignore,
    starting_order,
    workload_of,
)
from benchgate.measure.processes import CommandLauncher
from benchgate.measure.programs.bursts import BURST_S, BurstRunner
from benchgate.measure.programs.commands import arm_commands, with_hash_seed, workload_hash
from benchgate.measure.programs.counter import ProgramCounter
from benchgate.measure.programs.observer import ProgramObserver, UnobservedError
from benchgate.measure.programs.reaching import ProgramReach
from benchgate.measure.programs.run_settings import run_settings
from benchgate.measure.programs.runner import ArmRunner, CommandFailedError
from benchgate.model.calls import NOT_KNOWN
from benchgate.model.metrics import TIME
from benchgate.model.run import Tier, renamed

if TYPE_CHECKING:
    import random
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from benchgate.config import CommandBenchmark
    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.reach import Differences


# A program has many calls, and counting each takes as long as several calls.
_COUNT_S = 10.0


class CommandEngine:
    """Measures commands on one or two arms.

    Args:
        benchmarks: the benchmarks that each arm's own configuration defines, with unique names.
        arms: one or two arms, whose variables have the same names.
        guardian: ends processes that outlive benchgate.
        settings: how they run.
        burst_s: target time for one arm's executions in one round, prepare included.
    """

    def __init__(
        self,
        benchmarks: Mapping[ArmName, Sequence[CommandBenchmark]],
        arms: Sequence[Arm],
        guardian: Guardian,
        settings: EngineSettings,
        *,
        burst_s: float = BURST_S,
    ) -> None:
        self._benchmarks = _by_id(benchmarks, settings.aliases)
        self._settings = {
            id_: run_settings(id_, each, settings.lead, settings.measure)
            for id_, each in self._benchmarks.items()
        }
        self._arms = {arm.name: arm for arm in arms}
        self._data = DataFiles(self._arms)
        self._commands = {
            id_: arm_commands(each, arms, settings.outside)
            for id_, each in self._benchmarks.items()
        }
        # The commands of two arms may run at the same time, and a launcher executes one command.
        self._launchers = {arm: CommandLauncher(guardian, settings.event) for arm in self._arms}
        self._runners = {
            arm: ArmRunner(self._arms, launcher, settings)
            for arm, launcher in self._launchers.items()
        }
        self._bursts = BurstRunner(self._runners, burst_s=burst_s)
        self._counting_launcher = CommandLauncher(guardian, same_addresses=True)
        self._counter = None
        if settings.valgrind:
            runner = ArmRunner(self._arms, self._counting_launcher, settings)
            self._counter = ProgramCounter(settings.valgrind, runner)

    def discover(self) -> Discovery:
        """Return the benchmarks that the configuration of each arm defines."""
        found: dict[ArmName, list[Definition]] = {arm: [] for arm in self._arms}
        failures = []
        for id_, benchmarks in self._benchmarks.items():
            for arm, benchmark in benchmarks.items():
                try:
                    found[arm].append(self._define(id_, benchmark, arm))
                except DataFilesError as error:
                    failures.append(DiscoveryFailure(arm, id_, str(error)))
        by_arm = {arm: tuple(definitions) for arm, definitions in found.items()}
        return Discovery(by_arm, tuple(failures))

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Measure one burst of each benchmark in every arm; see `contract.Engine`.

        If an arm fails, only failures are yielded for the benchmark. If the base failed, the head
        is then tried alone, because which arm went first was random.
        """
        for name in ids:
            starting(name)
            settings = self._settings[name]
            ordered = starting_order(self._commands[name], name, round_index)
            commands = with_hash_seed(ordered, rng)
            try:
                yield from self._bursts.measure(settings, commands, rng)
            except CommandFailedError as failure:
                yield _failed(failure, name, commands)
                heads = tuple(one for one in commands if one.arm is ArmName.HEAD)
                if heads and failure.command not in heads:
                    try:
                        self._bursts.measure(settings, heads, rng)
                    except CommandFailedError as too:
                        yield _failed(too, name, commands)

    def due_for_counting(self, ids: Iterable[str]) -> list[str]:
        """Keep the commands of all arms that valgrind still has to count."""
        in_all = (id_ for id_ in ids if len(self._commands[id_]) == len(self._arms))
        return self._counter.ledger.due(in_all) if self._counter else []

    def count_round(
        self,
        ids: Sequence[str],
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Generator[Sequence[Observation]]:
        """Count one execution of each benchmark in every arm; see `contract.CountingEngine`."""
        if self._counter:
            for name in ids:
                starting(name)
                commands = starting_order(self._commands[name], name, round_index)
                yield self._counter.count(self._settings[name], commands, round_index)

    def observes(self, id_: str) -> bool:
        """Whether both arms have it."""
        return len(self._commands[id_]) > 1

    def observe(self, id_: str, limit_s: float, metrics: Collection[str]) -> Sequence[Observation]:
        """Observe a command, executed again in each arm; see `contract.ObservingEngine`."""
        if TIME.name not in metrics:
            return []
        observer = ProgramObserver(self._arms, self._runners)
        commands = sorted(self._commands[id_], key=lambda one: one.arm)
        try:
            found = observer.observe(self._settings[id_], commands, max(limit_s, _COUNT_S))
        except UnobservedError as error:
            notes = (f"{NOT_KNOWN}{error}",)
            return [Observation(one.arm, id_, 0, notes=notes) for one in commands]
        return [Observation(arm, id_, 0, calls={TIME.name: tree}) for arm, tree in found.items()]

    def reach(self, ids: Sequence[str], differences: Differences) -> Mapping[str, str]:
        """See what one more execution in each arm reaches; see `reach.ReachingEngine`."""
        reach = ProgramReach(self._runners, differences)
        ordered = {id_: sorted(self._commands[id_], key=lambda one: one.arm) for id_ in ids}
        return {id_: reach.why(self._settings[id_], each) for id_, each in ordered.items()}

    def close(self) -> None:
        """End the commands that are running, if there are any."""
        for launcher in (*self._launchers.values(), self._counting_launcher):
            launcher.close()

    def _define(self, id_: str, benchmark: CommandBenchmark, arm: ArmName) -> Definition:
        files = self._data.parts(arm, benchmark.data)
        pin = self._settings[id_].pin
        definition = workload_hash(benchmark, pin=pin, inside=self._arms[arm].inside)
        parts = {"its definition": definition, **files}
        return Definition(
            id=id_,
            workload=workload_of(parts) if files else definition,
            tier=Tier.INTERLEAVED,
            kind=benchmark.KIND,
            tags=benchmark.tags,
            notes=self._runners[arm].notes_on_pinning(pin=pin),
            parts=parts,
            renamed_from=None if benchmark.name == id_ else benchmark.name,
        )


def _by_id(
    benchmarks: Mapping[ArmName, Sequence[CommandBenchmark]], aliases: Mapping[str, str]
) -> Mapping[str, Mapping[ArmName, CommandBenchmark]]:
    """Join the commands of the arms by id, the head's first; renamed ones have their new id."""
    named = {arm: {one.name: one for one in each} for arm, each in benchmarks.items()}
    base, head = (named.get(arm, {}) for arm in (ArmName.BASE, ArmName.HEAD))
    new_ids = renamed(base, head, aliases)
    joined = {name: {ArmName.HEAD: benchmark} for name, benchmark in head.items()}
    for name, benchmark in base.items():
        joined.setdefault(new_ids.get(name, name), {})[ArmName.BASE] = benchmark
    return joined


def _failed(failure: CommandFailedError, name: str, commands: Sequence[ArmCommand]) -> Observation:
    order = commands.index(failure.command)
    arm, error = failure.command.arm, failure.error
    return Observation(arm, name, order, error=error, of_all=failure.of_all)
