"""Observes what a program calls on both sides: one of Python or Node, or one that is built.

Each is executed again, outside of every measurement.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate._worker import PROGRAM
from benchgate.measure.languages import ADAPTERS
from benchgate.measure.machine import LIMIT_S, CounterError, find_valgrind
from benchgate.measure.observing import (
    Observed,
    call_trees,
    compared,
    folder_for_counts,
    under_callgrind,
)
from benchgate.measure.programs.runner import CommandFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.programs.run_settings import RunSettings
    from benchgate.measure.programs.runner import ArmRunner
    from benchgate.model.calls import CallTree


HOOK: Final = str(PROGRAM.parent / "hook")
_NODEHOOK: Final = str(ADAPTERS / "program.cjs")
_VARIABLE: Final = "BENCHGATE_OBSERVE"
_ELF: Final = b"\x7fELF"


class UnobservedError(Exception):
    """What a program calls is not known; the text says why."""


@dataclass(frozen=True, slots=True)
class ProgramObserver:
    """Observes commands.

    Args:
        runners: execute them, by arm.
    """

    arms: Mapping[ArmName, Arm]
    runners: Mapping[ArmName, ArmRunner]

    def observe(
        self, settings: RunSettings, commands: Sequence[ArmCommand], limit_s: float
    ) -> Mapping[ArmName, CallTree]:
        """Observe a command in every arm.

        Args:
            limit_s: time limit for counting the calls of each.

        Raises:
            UnobservedError: it failed, makes too many calls, or cannot be observed.
        """
        settings = replace(settings, timeout_s=min(settings.timeout_s, LIMIT_S))
        try:
            found = [self._running(settings, one, limit_s) for one in commands]
            if all(found):
                return compared([one for one in found if one])
            return self._built(settings, commands)
        except (CommandFailedError, CounterError) as error:
            # What follows would advise to raise the timeout, which is not what ended it.
            raise UnobservedError(str(error).partition("\n")[0].partition(";")[0]) from error
        except ValueError as error:
            raise UnobservedError(f"what it wrote is not as benchgate knows it: {error}") from error
        finally:
            for command in commands:
                with suppress(CommandFailedError):
                    self.runners[command.arm].clean_up(settings, command)

    def _running(
        self, settings: RunSettings, command: ArmCommand, limit_s: float
    ) -> Observed | None:
        """Observe the process that calls most; None if none is of Python or Node."""
        counts = self._hooked(settings, command, f"counts|{round(1e9 * limit_s)}")
        if not counts:
            return None
        most = max(counts, key=lambda one: len(one["nodes"]))
        if most["is_over"]:
            raise UnobservedError("it makes too many calls to count them in time")
        times: dict[tuple[str, int, str], int] = {}
        for process in self._hooked(settings, command, "times|0"):
            for file, line, name, own_ns, *_ in process["functions"]:
                times[file, line, name] = times.get((file, line, name), 0) + own_ns
        timed = [
            [file, line, name, times.get((file, line, name), 0), *more]
            for file, line, name, _, *more in most["functions"]
        ]
        arm = self.arms[command.arm]
        return Observed.of(arm, most["folders"], {**most, "functions": timed}, 1)

    def _hooked(
        self, settings: RunSettings, command: ArmCommand, what: str
    ) -> list[Mapping[str, Any]]:
        """Execute a command; return what each process of Python or Node wrote."""
        with folder_for_counts() as folder:
            paths = os.pathsep.join(filter(None, (HOOK, command.env.get("PYTHONPATH", ""))))
            options = f'--require "{_NODEHOOK}" {command.env.get("NODE_OPTIONS", "")}'.strip()
            own = {"PYTHONPATH": paths, "NODE_OPTIONS": options, _VARIABLE: f"{folder}|{what}"}
            env = {**command.env, **own}
            self.runners[command.arm].prepare_and_time(settings, replace(command, env=env))
            return [found for file in folder.iterdir() if (found := _read(file))]

    def _built(
        self, settings: RunSettings, commands: Sequence[ArmCommand]
    ) -> Mapping[ArmName, CallTree]:
        """Observe programs that belong to the project, under callgrind."""
        if not all(self._is_built(one) for one in commands):
            raise UnobservedError(
                "it is no program of Python or Node, nor one that the project built"
            )
        valgrind = find_valgrind(commands[0].env)
        with folder_for_counts() as folder:
            for command in commands:
                own = folder / command.arm
                own.mkdir()
                under = (*under_callgrind(valgrind, own, samples=False), *command.command)
                runner = self.runners[command.arm]
                runner.prepare_and_time(settings, replace(command, command=under))
            sides = [(self.arms[one.arm], folder / one.arm) for one in commands]
            return call_trees(sides, 1)

    def _is_built(self, command: ArmCommand) -> bool:
        """Whether a command starts an executable file of the arm."""
        arm = self.arms[command.arm]
        file = Path(os.path.normpath(command.cwd / command.command[0]))
        is_own = file.is_relative_to(arm.root) or file.is_relative_to(arm.env)
        if not is_own or not file.is_file():
            return False
        with file.open("rb") as opened:
            return opened.read(len(_ELF)) == _ELF


def _read(file: Path) -> Any:  # noqa: ANN401 - what the program that wrote it says
    """What a process wrote; None if it was killed meanwhile."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None
