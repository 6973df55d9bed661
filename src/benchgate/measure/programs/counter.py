"""Counts the instructions of programs under valgrind, in launches of their own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.measure.machine import (
    LIMIT_S,
    CounterError,
    count_of_program,
    layout_of_round,
)
from benchgate.measure.observing import CountLedger, folder_for_counts
from benchgate.measure.programs.commands import HASH_SEED
from benchgate.measure.programs.runner import CommandFailedError

if TYPE_CHECKING:
    from benchgate.measure.arm import ArmName
    from benchgate.measure.contract import Observation
    from benchgate.measure.machine import Valgrind
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.programs.run_settings import RunSettings
    from benchgate.measure.programs.runner import ArmRunner


class ProgramCounter:
    """Counts commands, one execution per arm and round.

    Args:
        runner: executes them, all at the same addresses.

    Attributes:
        ledger: which of them are still to be counted.
    """

    def __init__(self, valgrind: Valgrind, runner: ArmRunner) -> None:
        self._valgrind = valgrind
        self._runner = runner
        self.ledger = CountLedger(valgrind.wants)

    def count(
        self, settings: RunSettings, commands: tuple[ArmCommand, ...], round_index: int
    ) -> list[Observation]:
        """Count a command in every arm; if it fails under valgrind, return notes that say why."""
        settings = replace(settings, timeout_s=min(settings.timeout_s, LIMIT_S))
        counts: dict[ArmName, float] = {}
        try:
            for command in commands:
                counts[command.arm] = self._count_in(settings, command, round_index)
            for command in commands:
                self._runner.clean_up(settings, command)
        except (CommandFailedError, CounterError) as error:
            for command in commands:
                with suppress(CommandFailedError):
                    self._runner.clean_up(settings, command)
            arms = [command.arm for command in commands]
            return self.ledger.given_up(settings.id, arms, str(error))
        return self.ledger.counted(settings.id, counts, loops=1)

    def _count_in(self, settings: RunSettings, command: ArmCommand, round_index: int) -> int:
        # Hashes of strings, and so the order of sets, vary with the seed.
        seed = {HASH_SEED: str(layout_of_round(round_index).hash_seed)}
        with folder_for_counts() as folder:
            under = self._valgrind.under_cachegrind(folder)
            slow = replace(command, command=(*under, *command.command), env=seed | {**command.env})
            self._runner.prepare_and_time(settings, slow)
            return count_of_program(folder)
