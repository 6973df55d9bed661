"""Counts the instructions of commands under valgrind, in executions of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.measure.arm_runner import CommandFailedError
from benchgate.measure.armcommand import HASH_SEED
from benchgate.measure.count_ledger import CountLedger, folder_for_counts
from benchgate.measure.counters import CounterError
from benchgate.measure.valgrind import LIMIT_S, count_of_program, layout_of_round

if TYPE_CHECKING:
    from benchgate.measure.arm_runner import ArmRunner
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import ArmName, Observation
    from benchgate.measure.valgrind import Valgrind


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
            self._runner.clean_up(settings, commands)
        except (CommandFailedError, CounterError) as error:
            self._runner.clean_up_after_failure(settings, commands)
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
