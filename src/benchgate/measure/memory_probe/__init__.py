"""Makes the engine that measures work that waits for memory, which all lanes share."""

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
_SHORT = {"samples": 5, "launch_time_s": 0.05, "warmup": 1, "timeout_s": 60.0}


def memory_engine(
    arms: Sequence[Arm], settings: PythonSettings, guardian: Guardian, *, lanes: int, copied: int
) -> PythonEngine:
    """Make the engine; it finds a benchmark for each lane, and all of them do the same.

    Args:
        copied: bytes that a call copies. Each process has twice as many.
    """
    benchmark = PythonBenchmark.model_construct(
        paths=("bench_memory.py",),
        interpreter=f"{shlex.quote(sys.executable)} -S -B",
        pythonpath=(),
        group="memory",
        isolate=True,
    )
    variables = {"BENCHGATE_PROBE_LANES": str(lanes), "BENCHGATE_PROBE_BYTES": str(copied)}
    here = [Arm(arm.name, _FOLDER, arm.env, variables=variables) for arm in arms]
    short = replace(settings, measure=settings.measure.model_copy(update=_SHORT))
    return PythonEngine({arm.name: [benchmark] for arm in here}, here, short, guardian)
