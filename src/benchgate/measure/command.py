"""Measures commands in bursts: the arms take turns after each execution, or run together."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from benchgate.measure.arm_command import (
    ArmRunner,
    CommandFailedError,
    DataFiles,
    DataFilesError,
    EngineSettings,
    arm_commands,
    run_settings,
    with_hash_seed,
    workload_hash,
    workload_of,
)
from benchgate.measure.counting import ProgramCounter
from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    DiscoveryFailure,
    Observation,
    Stopwatch,
    ignore,
    starting_order,
)
from benchgate.measure.execution import measured_in, notes_on
from benchgate.measure.launcher import CommandLauncher
from benchgate.measure.machine import kept_off
from benchgate.measure.observed_programs import ProgramObserver, UnobservedError
from benchgate.measure.sample_plan import OF_SEVERAL, mostly_waits, only_computes, why_in_turn
from benchgate.model.calls import NOT_KNOWN
from benchgate.model.notes import OF_ONE_THREAD
from benchgate.model.run import TIME, Tier, renamed

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
    from benchgate.measure.arm_command import ArmCommand, RunSettings
    from benchgate.measure.engine import Arm
    from benchgate.measure.execution import Execution
    from benchgate.measure.guardian import Guardian


if TYPE_CHECKING:
    Executions: TypeAlias = dict[ArmCommand, list[Execution]]

# A program has many calls, and counting each takes as long as several calls.
_COUNT_S = 10.0
_BESIDE = (
    "it starts other processes or threads, which share one CPU with it: to let them run side by"
    " side, set `parallel = true`"
)


def note_on(executions: Sequence[Execution]) -> str:
    """Say what the time of executions beside the other arm is."""
    return OF_ONE_THREAD if all(one.is_one_thread for one in executions) else OF_SEVERAL


def run_together(
    runners: Mapping[ArmName, ArmRunner], settings: RunSettings, commands: Sequence[ArmCommand]
) -> list[Execution]:
    """Run the prepare of each arm, and then execute the commands of both arms at the same time.

    Args:
        settings: pinned.
        commands: of two arms; the first is started first.
    """
    first, second = commands
    for command in commands:
        runners[command.arm].prepare(settings, command)
    longer = replace(settings, timeout_s=len(commands) * settings.timeout_s)
    with kept_off(runners[first.arm].cpu_for(settings)), ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(runners[first.arm].time, longer, first)
        try:
            executed = runners[second.arm].time(longer, second)
            executions = [ahead.result(), executed]
        except BaseException:
            runners[first.arm].give_up()
            raise
    return [replace(one, shared_cpu=True) for one in executions]


T = TypeVar("T")


def later_orders(first: tuple[T, ...], count: int, rng: random.Random) -> list[tuple[T, ...]]:
    """The orders of the executions after the first, in random sequence.

    Including the first, each arm goes first equally often, or the starting arm once more.
    """
    swapped = (count + 1) // 2
    orders = [first[::-1]] * swapped + [first] * (count - swapped)
    rng.shuffle(orders)
    return orders


def executions_within(limit_s: float, one_s: float, most: int) -> int:
    """How many executions of `one_s` seconds fit into `limit_s`, from 1 to `most`."""
    return most if one_s * most <= limit_s else max(1, int(limit_s / one_s))


class BurstRunner:
    """Runs bursts. The first burst of a benchmark shows how many executions fit into one.

    The arms take turns until their executions have shown that they may run at the same time.

    Args:
        runners: execute the commands, by arm.
        burst_s: target time for one arm's executions in one round, prepare included.
    """

    def __init__(self, runners: Mapping[ArmName, ArmRunner], *, burst_s: float) -> None:
        self._runners = runners
        self._burst_s = burst_s
        self._executions: dict[str, int] = {}
        self._can_share: set[str] = set()
        self._parted: set[str] = set()

    def measure(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], rng: random.Random
    ) -> list[Observation]:
        """Measure a burst and run the cleanup, but not after Ctrl-C: then nothing more may run.

        Raises:
            CommandFailedError: an arm failed.
        """
        try:
            observations = self._burst(settings, commands, rng)
        except CommandFailedError:
            for command in commands:
                with suppress(CommandFailedError):
                    self._runners[command.arm].clean_up(settings, command)
            raise
        for command in commands:
            self._runners[command.arm].clean_up(settings, command)
        return observations

    def _burst(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], rng: random.Random
    ) -> list[Observation]:
        warmups: Executions = {command: [] for command in commands}
        notes: dict[ArmCommand, tuple[str, ...]] = {}
        once = Stopwatch()
        if settings.id not in self._executions:
            with once:
                notes = self._warm_up(settings, commands, warmups)
        samples, shared = self._samples(settings, commands, rng)
        return [
            Observation(
                arm=command.arm,
                benchmark=settings.id,
                order=order,
                metrics=measured_in(samples[command], warmups[command]),
                notes=(
                    *notes.get(command, ()),
                    *self._notes_on_sharing(settings, samples[command]),
                    *shared,
                    *notes_on(samples[command]),
                ),
                once_s=once.elapsed_s,
            )
            for order, command in enumerate(commands)
        ]

    def _warm_up(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], warmups: Executions
    ) -> dict[ArmCommand, tuple[str, ...]]:
        """Check each command, and execute it without measuring it; return notes about it."""
        notes = self._check(settings, commands, warmups)
        for turn in range(settings.warmup):
            self._take_turns(
                settings, [one for one in commands if len(warmups[one]) <= turn], warmups
            )
        self._learn(settings, warmups)
        return notes

    def _samples(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], rng: random.Random
    ) -> tuple[Executions, tuple[str, ...]]:
        """Execute the commands of all arms equally often; return also a note on how."""
        if not self._may_share(settings, commands):
            samples = self._repeat(settings, commands, rng, together=False)
            self._learn(settings, samples)
            return samples, ()
        try:
            samples = self._repeat(settings, commands, rng, together=True)
        except CommandFailedError as failure:
            # They may need the same thing, such as a port. A command that fails anyway fails again.
            self._parted.add(settings.id)
            return self._repeat(settings, commands, rng, together=False), (
                why_in_turn(failure.error),
            )
        # Nobody knows it of several threads.
        if any(
            mostly_waits([one.is_one_thread * one.waiting_ratio for one in each])
            for each in samples.values()
        ):
            self._parted.add(settings.id)
        return samples, (note_on([one for each in samples.values() for one in each]),)

    def _may_share(self, settings: RunSettings, commands: tuple[ArmCommand, ...]) -> bool:
        return (
            len(commands) > 1
            and not settings.in_turn
            and self._runners[commands[0].arm].cpu_for(settings) is not None
            and settings.id in self._can_share - self._parted
        )

    def _learn(self, settings: RunSettings, executions: Executions) -> None:
        """Remember whether all arms were seen to need nothing but a CPU."""
        if all(executions.values()) and only_computes(
            min(one.waiting_ratio for one in each) for each in executions.values()
        ):
            self._can_share.add(settings.id)

    def _repeat(
        self,
        settings: RunSettings,
        commands: tuple[ArmCommand, ...],
        rng: random.Random,
        *,
        together: bool,
    ) -> Executions:
        samples: Executions = {command: [] for command in commands}
        run = self._run_together if together else self._take_turns
        one_s = run(settings, commands, samples)
        count = self._executions.get(settings.id)
        if count is None:
            count = executions_within(self._burst_s, one_s, settings.executions)
        for order in later_orders(commands, count - 1, rng):
            run(settings, order, samples)
        self._executions[settings.id] = count
        return samples

    def _take_turns(
        self, settings: RunSettings, commands: Sequence[ArmCommand], into: Executions
    ) -> float:
        """Execute each command once; return the seconds of the slowest, prepare included."""
        slowest_s = 0.0
        for command in commands:
            started_s = time.perf_counter()
            into[command].append(self._runners[command.arm].prepare_and_time(settings, command))
            slowest_s = max(slowest_s, time.perf_counter() - started_s)
        return slowest_s

    def _run_together(
        self, settings: RunSettings, commands: Sequence[ArmCommand], into: Executions
    ) -> float:
        """Execute all commands at the same time; return the seconds for each, prepare included."""
        started_s = time.perf_counter()
        executions = run_together(self._runners, settings, commands)
        for command, execution in zip(commands, executions, strict=True):
            into[command].append(execution)
        return (time.perf_counter() - started_s) / len(commands)

    def _notes_on_sharing(
        self, settings: RunSettings, samples: Sequence[Execution]
    ) -> tuple[str, ...]:
        """Say that a pinned command runs several things that could run side by side."""
        pinned = any(runner.cpu_for(settings) is not None for runner in self._runners.values())
        several = any(one.is_several_threads for one in samples)
        return (_BESIDE,) if pinned and several else ()

    def _check(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], warmups: Executions
    ) -> dict[ArmCommand, tuple[str, ...]]:
        """Execute each command to check that it runs its own code; return notes about it.

        This is the first execution of the warm-up, or one that is not recorded.
        """
        notes = {}
        for command in commands:
            execution, notes[command] = self._runners[command.arm].check(settings, command)
            if execution and settings.warmup:
                warmups[command].append(execution)
        return notes


BURST_S = 6.0


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
        """Measure one burst of each benchmark in every arm; see `engine.Engine`.

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
        """Count one execution of each benchmark in every arm; see `engine.CountingEngine`."""
        if self._counter:
            for name in ids:
                starting(name)
                commands = starting_order(self._commands[name], name, round_index)
                yield self._counter.count(self._settings[name], commands, round_index)

    def observes(self, id_: str) -> bool:
        """Whether both arms have it."""
        return len(self._commands[id_]) > 1

    def observe(self, id_: str, limit_s: float, metrics: Collection[str]) -> Sequence[Observation]:
        """Observe a command, executed again in each arm; see `engine.ObservingEngine`."""
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
    new_ids = {old: new for new, old in renamed(base, head, aliases).items()}
    joined = {name: {ArmName.HEAD: benchmark} for name, benchmark in head.items()}
    for name, benchmark in base.items():
        joined.setdefault(new_ids.get(name, name), {})[ArmName.BASE] = benchmark
    return joined


def _failed(failure: CommandFailedError, name: str, commands: Sequence[ArmCommand]) -> Observation:
    order = commands.index(failure.command)
    arm, error = failure.command.arm, failure.error
    return Observation(arm, name, order, error=error, of_all=failure.of_all)
