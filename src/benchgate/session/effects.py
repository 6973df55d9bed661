"""The side effects that a use case needs; the command line creates the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.report.progress import Progress


@dataclass(frozen=True, slots=True)
class Effects:
    """The world.

    Attributes:
        clock: seconds that only grow.
        now: the time of day, UTC, ISO 8601 with a trailing Z.
        draw_seed: a fresh seed.
        environ: variables of this process.
        cwd: where the command was called.
        progress: told what is being done.
    """

    clock: Callable[[], float]
    now: Callable[[], str]
    draw_seed: Callable[[], int]
    environ: Mapping[str, str]
    cwd: Path
    progress: Progress
