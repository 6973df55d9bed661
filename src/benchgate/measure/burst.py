"""A burst: the executions of one command in one round; the arms take turns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchgate.measure.arm_runner import CommandFailedError
from benchgate.measure.engine import Observation, Stopwatch
from benchgate.measure.execution import measured_in, notes_on
from benchgate.measure.lockstep import executions_within, later_orders

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from benchgate.measure.arm_runner import ArmRunner
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.execution import Execution


class BurstRunner:
    """Runs bursts. The first burst of a benchmark shows how many executions fit into one.

    Args:
        runner: executes the commands.
        burst_s: target time for one arm's executions in one round, prepare included.
    """

    def __init__(self, runner: ArmRunner, *, burst_s: float) -> None:
        self._runner = runner
        self._burst_s = burst_s
        self._executions: dict[str, int] = {}

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
            self._runner.clean_up_after_failure(settings, commands)
            raise
        self._runner.clean_up(settings, commands)
        return observations

    def _burst(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], rng: random.Random
    ) -> list[Observation]:
        warmups: dict[ArmCommand, list[Execution]] = {command: [] for command in commands}
        samples: dict[ArmCommand, list[Execution]] = {command: [] for command in commands}
        count = self._executions.get(settings.id)
        notes: dict[ArmCommand, tuple[str, ...]] = {}
        once = Stopwatch()
        if count is None:
            with once:
                notes = self._check(settings, commands, warmups)
                for turn in range(settings.warmup):
                    self._take_turns(
                        settings, [one for one in commands if len(warmups[one]) <= turn], warmups
                    )
        slowest_s = self._take_turns(settings, commands, samples)
        if count is None:
            count = executions_within(self._burst_s, slowest_s, settings.executions)
        for order in later_orders(commands, count - 1, rng):
            self._take_turns(settings, order, samples)
        self._executions[settings.id] = count
        return [
            Observation(
                arm=command.arm,
                benchmark=settings.id,
                order=order,
                metrics=measured_in(samples[command], warmups[command]),
                notes=(*notes.get(command, ()), *notes_on(samples[command])),
                once_s=once.elapsed_s,
            )
            for order, command in enumerate(commands)
        ]

    def _take_turns(
        self,
        settings: RunSettings,
        commands: Sequence[ArmCommand],
        into: dict[ArmCommand, list[Execution]],
    ) -> float:
        """Execute each command once; return the seconds of the slowest, prepare included."""
        slowest_s = 0.0
        for command in commands:
            started_s = time.perf_counter()
            into[command].append(self._runner.prepare_and_time(settings, command))
            slowest_s = max(slowest_s, time.perf_counter() - started_s)
        return slowest_s

    def _check(
        self,
        settings: RunSettings,
        commands: tuple[ArmCommand, ...],
        warmups: dict[ArmCommand, list[Execution]],
    ) -> dict[ArmCommand, tuple[str, ...]]:
        """Execute each command to check that it runs its own code; return notes about it.

        This is the first execution of the warm-up, or one that is not recorded.
        """
        notes = {}
        for command in commands:
            execution, notes[command] = self._runner.check(settings, command)
            if execution and settings.warmup:
                warmups[command].append(execution)
        return notes
