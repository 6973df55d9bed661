"""Runs the commands of the arms, each on its CPU, and checks whose code they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.machine import available_cpus, kept_off, why_unpinned
from benchgate.measure.processes import AllowedTime, trouble_with
from benchgate.measure.programs.own_code import ForeignCodeError, OwnCode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.processes import CommandLauncher, Execution
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.programs.run_settings import RunSettings


class RunFailedError(Exception):
    """What an arm ran failed; the message is one line, then details: see `Observation.error`.

    Args:
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
    """

    def __init__(self, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.of_all = of_all


class CommandFailedError(RunFailedError):
    """A command, its prepare or its cleanup failed."""

    def __init__(self, command: ArmCommand, error: str, *, of_all: bool = False) -> None:
        super().__init__(error, of_all=of_all)
        self.command = command


class ArmRunner:
    """Runs commands, one at a time.

    Args:
        arms: the arms that the commands belong to.
        launcher: starts the commands.
        settings: `outside.checkout` is the user's tree, whose files no arm may run.

    Attributes:
        all_cpus: the CPUs for what is not pinned; None for those of benchgate.
    """

    def __init__(
        self,
        arms: Mapping[ArmName, Arm],
        launcher: CommandLauncher,
        settings: EngineSettings,
    ) -> None:
        checkout = settings.outside.checkout
        self._arms = arms
        self._launcher = launcher
        self._own_code = OwnCode(checkout) if checkout else None
        impossible = why_unpinned()
        self._cpu = None if impossible else settings.cpu
        self.all_cpus = None if impossible else settings.all_cpus or available_cpus()
        self._unpinned = impossible or settings.unpinned

    def opened(self, arm: ArmName) -> Collection[Path] | None:
        """The files of its own that an arm's command opened when it was checked; None: unknown."""
        return self._own_code.opened.get(arm) if self._own_code else None

    def notes_on_pinning(self, *, pin: bool) -> tuple[str, ...]:
        """Say why a benchmark is not pinned, if it should be."""
        return (self._unpinned,) if pin and self._cpu is None else ()

    def check(
        self, settings: RunSettings, command: ArmCommand
    ) -> tuple[Execution | None, tuple[str, ...]]:
        """Execute a command to check that it runs its own code; return notes about it, too.

        Watching costs a little time. The execution is None if nothing is to be checked: then the
        command did not run.

        Raises:
            CommandFailedError: it failed, or it runs other code.
        """
        executions: list[Execution] = []
        notes = self.check_while(
            settings,
            command,
            lambda: executions.append(self.prepare_and_time(settings, command)),
            what=command.command[0],
        )
        return (executions[0], notes) if executions else (None, ())

    def check_while(
        self,
        settings: RunSettings,
        command: ArmCommand,
        run: Callable[[], object],
        *,
        what: str,
        besides: Sequence[Path] = (),
    ) -> tuple[str, ...]:
        """Check which code is run by something that includes a command; return notes about it.

        It does not run at all if nothing is to be checked.

        Args:
            what: what runs, for the error.
            besides: files and folders that do not count, whoever opens something of them.

        Raises:
            CommandFailedError: it runs other code; also what `run` raises.
        """
        if self._own_code is None or settings.allow_foreign:
            return ()
        arm = self._arms[command.arm]
        try:
            return self._own_code.check(
                arm,
                [other for other in self._arms.values() if other is not arm],
                run,
                named=command.names_its_arm,
                what=what,
                besides=besides,
            )
        except ForeignCodeError as error:
            raise CommandFailedError(command, str(error), of_all=True) from error

    def prepare_and_time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        """Run the prepare, and then execute the command.

        Raises:
            CommandFailedError: one of them failed.
        """
        self.prepare(settings, command)
        with kept_off(self.cpu_for(settings)):
            return self.time(settings, command)

    def cpu_for(self, settings: RunSettings) -> int | None:
        """The CPU that a command is pinned to; None if it is not pinned."""
        return self._cpu if settings.pin else None

    def prepare(self, settings: RunSettings, command: ArmCommand) -> None:
        """Run the prepare of a command, if it has one."""
        self._run(settings, command, "prepare", command.prepare)

    def time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        """Execute a command; whoever calls this keeps benchgate off its CPU."""
        cpu = self.cpu_for(settings)
        return self._execute(
            settings,
            command,
            command.command,
            self.all_cpus if cpu is None else frozenset({cpu}),
            ok_exit_codes=command.ok_exit_codes,
            stdout=command.stdout,
        )

    def give_up(self) -> None:
        """End the command that is running in another thread; it fails there."""
        self._launcher.close()

    def clean_up(self, settings: RunSettings, command: ArmCommand) -> None:
        """Run the cleanup of a command, if it has one."""
        self._run(settings, command, "cleanup", command.cleanup)

    def _run(
        self, settings: RunSettings, command: ArmCommand, role: str, argv: tuple[str, ...] | None
    ) -> None:
        if argv is None:
            return
        try:
            self._execute(settings, command, argv, self.all_cpus)
        except CommandFailedError as failure:
            raise CommandFailedError(command, f"{role}: {failure.error}") from failure

    def _execute(
        self,
        settings: RunSettings,
        command: ArmCommand,
        argv: tuple[str, ...],
        cpus: frozenset[int] | None,
        *,
        ok_exit_codes: frozenset[int] = frozenset({0}),
        stdout: Path | None = None,
    ) -> Execution:
        try:
            execution = self._launcher.execute(
                argv,
                cwd=command.cwd,
                env=command.env,
                allowed=AllowedTime(settings.timeout_s, settings.grace_s, settings.planned_s),
                cpus=cpus,
                stdout=stdout,
            )
        except MeasureError as error:
            arm = self._arms[command.arm]
            hint = arm.why_missing(argv[0]) or error.hint
            parts = (arm.generalize(error.message), hint, error.details)
            raise CommandFailedError(command, "\n".join(filter(None, parts))) from error
        trouble = trouble_with(execution, ok_exit_codes)
        if trouble is not None:
            raise CommandFailedError(command, trouble)
        return execution
