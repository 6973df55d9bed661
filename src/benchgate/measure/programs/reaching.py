"""Sees what programs run and read, in an execution that is not measured.

A watch sees what their processes open. Of those of Python, it is also known which functions run.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from benchgate.measure.observing import folder_for_counts
from benchgate.measure.programs.observer import HOOK
from benchgate.measure.programs.runner import CommandFailedError
from benchgate.measure.reach import CannotWatchError, OpenedBesides, why_affected, why_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.arm import ArmName
    from benchgate.measure.programs.commands import ArmCommand
    from benchgate.measure.programs.run_settings import RunSettings
    from benchgate.measure.programs.runner import ArmRunner
    from benchgate.measure.reach import Differences

_VARIABLE: Final = "BENCHGATE_REACH"


@dataclass(frozen=True, slots=True)
class ProgramReach:
    """Says whether commands are affected.

    Args:
        runners: execute them, by arm.
    """

    runners: Mapping[ArmName, ArmRunner]
    differences: Differences

    def why(self, settings: RunSettings, commands: Sequence[ArmCommand]) -> str:
        """Why a command is affected; "" if it is not; see `ReachingEngine.reach`."""
        if hidden := why_hidden(text for one in commands for text in one.texts):
            return hidden
        try:
            with OpenedBesides(self.differences) as besides:
                reports = {one.arm: self._executed(settings, one) for one in commands}
                opened = besides.why(reports)
        except (CommandFailedError, CannotWatchError) as error:
            return f"cannot be seen: {str(error).partition(chr(10))[0]}"
        finally:
            for command in commands:
                with suppress(CommandFailedError):
                    self.runners[command.arm].clean_up(settings, command)
        return why_affected(self.differences, reports) or opened

    def _executed(self, settings: RunSettings, command: ArmCommand) -> Mapping[str, Any]:
        """Execute a command; join what its processes of Python say."""
        with folder_for_counts() as folder:
            asked = folder / "asked.json"
            asked.write_text(json.dumps(self.differences.asked(command.arm)), encoding="utf-8")
            told = folder / "told"
            told.mkdir()
            paths = os.pathsep.join(filter(None, (HOOK, command.env.get("PYTHONPATH", ""))))
            env = {**command.env, "PYTHONPATH": paths, _VARIABLE: f"{asked}|{told}"}
            runner, watched = self.runners[command.arm], replace(command, env=env)
            execution, notes = runner.check(settings, watched)
            if execution is None:  # it may run whatever it wants
                runner.prepare_and_time(settings, watched)
            joined = _joined(json.loads(file.read_bytes()) for file in sorted(told.iterdir()))
            return {**joined, "unknown": [*joined["unknown"], *notes]}


def _joined(reports: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    joined: dict[str, Any] = {
        key: [] for key in ("touched", "ran", "mentioned", "unknown", "generated")
    }
    for one in reports:
        for key in ("touched", "ran", "mentioned", "unknown"):
            joined[key] += one[key]
        joined["generated"].append(one["generated"])
    return {**joined, "generated": sorted(set(joined["generated"])), "failed": ""}
