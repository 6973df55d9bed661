"""Finds change points with another package, in whose environment this runs; see __main__.py.

It reads {"tool", "series": [[...]]} and writes {"found": [[...]], "cpu_s"}.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def otava(values: list[float]) -> list[int]:
    from otava.analysis import compute_change_points  # type: ignore[import-not-found] # noqa: PLC0415

    return [int(point.index) for point in compute_change_points(values)[0]]


def signal_processing(values: list[float]) -> list[int]:
    from signal_processing_algorithms.energy_statistics.energy_statistics import (  # type: ignore[import-not-found] # noqa: PLC0415
        e_divisive,
    )

    return [int(index) for index in e_divisive(values)]


@dataclass(frozen=True)
class Tool:
    """A package, the virtual environment that has it, and how to call it."""

    environment: str
    find: Callable[[list[float]], list[int]]


TOOLS = {
    "otava": Tool(".venv-otava", otava),
    "signal-processing-algorithms": Tool(".venv-energy", signal_processing),
}


def main() -> None:
    asked: dict[str, Any] = json.load(sys.stdin)
    find = TOOLS[asked["tool"]].find
    find([1.0 + index % 3 for index in range(20)])  # imports
    begin = time.process_time()
    found = [find(values) for values in asked["series"]]
    json.dump({"found": found, "cpu_s": time.process_time() - begin}, sys.stdout)


if __name__ == "__main__":
    main()
