"""A burst: the executions of one command in one round; the arms take turns."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.affinity import available_cpus, kept_off, supports_pinning
from benchgate.measure.engine import Observation, Stopwatch
from benchgate.measure.execution import measured_in, notes_on, trouble_with
from benchgate.measure.lockstep import executions_within, later_orders
from benchgate.measure.owncode import ForeignCodeError, OwnCode

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.execution import Execution
    from benchgate.measure.process import CommandLauncher


class CommandFailedError(Exception):
    """A command, its prepare or its cleanup failed; its message becomes `Observation.error`."""

    def __init__(self, command: ArmCommand, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.command = command
        self.error = error
        self.of_all = of_all


class BurstRunner:
    """Runs bursts. The first burst of a benchmark shows how many executions fit into one.

    Args:
        arms: the arms that the commands belong to.
        launcher: starts the commands.
        checkout: the user's tree, whose files no arm may run; None to not check this.
        cpu: the CPU for pinned benchmarks; None if no CPU was chosen.
        all_cpus: the CPUs for everything else; None for the CPUs that are available now.
        burst_s: target time for one arm's executions in one round, prepare included.
    """

    def __init__(
        self,
        arms: Mapping[ArmName, Arm],
        launcher: CommandLauncher,
        *,
        checkout: Path | None,
        cpu: int | None,
        all_cpus: frozenset[int] | None,
        burst_s: float,
    ) -> None:
        self._arms = arms
        self._launcher = launcher
        self._own_code = OwnCode(checkout) if checkout else None
        pinning = supports_pinning()
        self._cpu = cpu if pinning else None
        self._all_cpus = (all_cpus or available_cpus()) if pinning else None
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
            for command in commands:
                with suppress(CommandFailedError):  # the first failure is the one to report
                    self._run(settings, command, "cleanup", command.cleanup)
            raise
        for command in commands:
            self._run(settings, command, "cleanup", command.cleanup)
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
            into[command].append(self._prepare_and_time(settings, command))
            slowest_s = max(slowest_s, time.perf_counter() - started_s)
        return slowest_s

    def _check(
        self,
        settings: RunSettings,
        commands: tuple[ArmCommand, ...],
        warmups: dict[ArmCommand, list[Execution]],
    ) -> dict[ArmCommand, tuple[str, ...]]:
        """Execute each command to check that it runs its own code; return notes about it.

        Watching costs a little time. So this is the first execution of the warm-up, or one
        that is not recorded.
        """
        notes = {}
        for command in commands:
            if self._own_code is None or settings.allow_foreign:
                continue
            arm = self._arms[command.arm]
            executions: list[Execution] = []

            def execute(command: ArmCommand = command, done: list[Execution] = executions) -> None:
                done.append(self._prepare_and_time(settings, command))

            try:
                notes[command] = self._own_code.check(
                    arm,
                    [other for other in self._arms.values() if other is not arm],
                    execute,
                    named=command.names_its_arm,
                    what=command.command[0],
                )
            except ForeignCodeError as error:
                raise CommandFailedError(command, str(error), of_all=True) from error
            if settings.warmup:
                warmups[command].append(executions[0])
        return notes

    def _prepare_and_time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        self._run(settings, command, "prepare", command.prepare)
        cpu = self._cpu if settings.pin else None
        cpus = self._all_cpus if cpu is None else frozenset({cpu})
        with kept_off(cpu):
            return self._execute(settings, command, command.command, command.ok_exit_codes, cpus)

    def _run(
        self, settings: RunSettings, command: ArmCommand, role: str, argv: tuple[str, ...] | None
    ) -> None:
        if argv is None:
            return
        try:
            self._execute(settings, command, argv, frozenset({0}), self._all_cpus)
        except CommandFailedError as failure:
            raise CommandFailedError(command, f"{role}: {failure.error}") from failure

    def _execute(
        self,
        settings: RunSettings,
        command: ArmCommand,
        argv: tuple[str, ...],
        ok_exit_codes: frozenset[int],
        cpus: frozenset[int] | None,
    ) -> Execution:
        try:
            execution = self._launcher.execute(
                argv, cwd=command.cwd, env=command.env, timeout_s=settings.timeout_s, cpus=cpus
            )
        except MeasureError as error:
            arm = self._arms[command.arm]
            hint = arm.why_missing(argv[0]) or error.hint
            parts = (arm.generalize(error.message), hint, error.details)
            raise CommandFailedError(command, "\n".join(filter(None, parts))) from error
        trouble = trouble_with(execution, ok_exit_codes, settings.timeout_s)
        if trouble is not None:
            raise CommandFailedError(command, trouble)
        return execution
