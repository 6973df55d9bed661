"""Runs commands in bursts: the arms take turns after each execution, or run together."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from benchgate.measure.contract import (
    OF_SEVERAL,
    Observation,
    Stopwatch,
    mostly_waits,
    only_computes,
    why_in_turn,
)
from benchgate.measure.machine import kept_off
from benchgate.measure.processes import measured_in, notes_on
from benchgate.measure.programs.runner import ArmRunner, CommandFailedError
from benchgate.model.notes import OF_ONE_THREAD

if TYPE_CHECKING:
    import random
    from collections.abc import (
        Mapping,
        Sequence,
    )

    from benchgate.measure.arm import ArmName
    from benchgate.measure.processes import Execution
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.programs.run_settings import RunSettings

    Executions: TypeAlias = dict[ArmCommand, list[Execution]]

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
