"""The engine of the canary: work that no change of the user can touch."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.config import PythonBenchmark
from benchgate.measure.arm import Arm
from benchgate.measure.functions.engine import FunctionEngine

if TYPE_CHECKING:
    from collections.abc import (
        Sequence,
    )

    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.processes import Guardian


_CANARY = Path(__file__).with_name("canary")
_FOLDER = "BENCHGATE_CANARY_FOLDER"
_SHORT = {"samples": 15, "launch_time_s": 0.015, "timeout_s": 60.0}


def canary_engine(
    arms: Sequence[Arm], settings: EngineSettings, guardian: Guardian, *, in_trees: bool
) -> FunctionEngine:
    """Make the engine that measures the canary on both arms; its ids are in CANARY_IDS.

    Args:
        in_trees: also measure how long it takes to write and read a file, in the folder of the
            trees.
    """
    # The same for both: two folders may lie on the disk in different ways.
    folder = os.path.commonpath([arm.root for arm in arms])
    benchmark = PythonBenchmark.model_construct(
        paths=("bench_canary.py",),
        interpreter=f"{shlex.quote(sys.executable)} -S -B",
        pythonpath=(),
        group="benchgate",
    )
    here = [
        Arm(arm.name, _CANARY, arm.env, variables={_FOLDER: folder} if in_trees else {})
        for arm in arms
    ]
    measure = settings.measure.model_copy(update=_SHORT)
    outside = replace(settings.outside, checkout=None)
    short = replace(settings, measure=measure, outside=outside, event=None, valgrind=None)
    return FunctionEngine({arm.name: [benchmark] for arm in here}, here, short, guardian)
