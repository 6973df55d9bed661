"""Runs configured commands in their arms: with their prepare and cleanup, on their CPUs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.affinity import available_cpus, kept_off, supports_pinning
from benchgate.measure.armcommand import StartingEnvironment
from benchgate.measure.engine import ArmName
from benchgate.measure.execution import trouble_with
from benchgate.measure.owncode import ForeignCodeError, OwnCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from benchgate.config import Measure
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import Arm
    from benchgate.measure.execution import Execution
    from benchgate.measure.process import CommandLauncher


class CommandFailedError(Exception):
    """A command, its prepare or its cleanup failed; its message becomes `Observation.error`."""

    def __init__(self, command: ArmCommand, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.command = command
        self.error = error
        self.of_all = of_all


@dataclass(frozen=True, slots=True)
class ProgramSettings:
    """How programs are run and measured.

    Attributes:
        measure: the defaults for what a benchmark does not set.
        aliases: for each benchmark that the head renamed, its new id by its old id.
        lead: the arm that decides how a benchmark of both arms runs.
        cpu: the CPU for pinned benchmarks; None if no CPU was chosen.
        all_cpus: the CPUs for everything else; None for the CPUs that are available now, which
            are too few inside `kept_off`.
        unpinned: the reason why no CPU was chosen, for a note.
        outside: the environment that the environment of every program starts from.
    """

    measure: Measure
    aliases: Mapping[str, str] = field(default_factory=dict)
    lead: ArmName = ArmName.HEAD
    cpu: int | None = None
    all_cpus: frozenset[int] | None = None
    unpinned: str = "not pinned: no CPU was chosen"
    outside: StartingEnvironment = field(default_factory=StartingEnvironment)


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
        settings: ProgramSettings,
    ) -> None:
        checkout = settings.outside.checkout
        self._arms = arms
        self._launcher = launcher
        self._own_code = OwnCode(checkout) if checkout else None
        pinning = supports_pinning()
        self._cpu = settings.cpu if pinning else None
        self.all_cpus = (settings.all_cpus or available_cpus()) if pinning else None
        self._unpinned = settings.unpinned if pinning else f"not pinned: {pinning.reason}"

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
        """Run the prepare of a command, if it has one.

        Raises:
            CommandFailedError: it failed.
        """
        self._run(settings, command, "prepare", command.prepare)

    def time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        """Execute a command; whoever calls this keeps benchgate off its CPU.

        Raises:
            CommandFailedError: it failed.
        """
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

    def clean_up(self, settings: RunSettings, commands: Iterable[ArmCommand]) -> None:
        """Run the cleanup of every command.

        Raises:
            CommandFailedError: one of them failed.
        """
        for command in commands:
            self._run(settings, command, "cleanup", command.cleanup)

    def clean_up_after_failure(self, settings: RunSettings, commands: Iterable[ArmCommand]) -> None:
        """Run the cleanup of every command, also if some fail: the first failure is reported."""
        for command in commands:
            with suppress(CommandFailedError):
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
                timeout_s=settings.timeout_s,
                cpus=cpus,
                stdout=stdout,
                grace_s=settings.grace_s,
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
