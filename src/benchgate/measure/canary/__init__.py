"""The canary's engine: an ordinary Python benchmark, run by benchgate's own interpreter."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.config import PythonBenchmark
from benchgate.measure.engine import Arm
from benchgate.measure.python import PythonEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.measure.guardian import Guardian
    from benchgate.measure.python_workers import PythonSettings

_FOLDER = Path(__file__).parent
_TREE = "BENCHGATE_CANARY_TREE"
_SHORT = {"samples": 15, "launch_time_s": 0.015, "timeout_s": 60.0}


def canary_engine(
    arms: Sequence[Arm], settings: PythonSettings, guardian: Guardian, *, in_trees: bool
) -> PythonEngine:
    """Make the engine that measures the canary on both arms; its ids are in CANARY_IDS.

    Args:
        in_trees: also measure how long it takes to write and read a file in each arm's tree.
    """
    benchmark = PythonBenchmark.model_construct(
        paths=("bench_canary.py",),
        interpreter=f"{shlex.quote(sys.executable)} -S -B",
        pythonpath=(),
        group="benchgate",
    )
    here = [
        Arm(arm.name, _FOLDER, arm.env, variables={_TREE: str(arm.root)} if in_trees else {})
        for arm in arms
    ]
    measure = settings.measure.model_copy(update=_SHORT)
    short = replace(settings, measure=measure, forbidden=(), event=None, valgrind=None)
    return PythonEngine({arm.name: [benchmark] for arm in here}, here, short, guardian)
