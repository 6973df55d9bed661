"""The side effects that a use case needs; the command line provides the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.measure.builds import BuildCache
    from benchgate.report.progress import Progress
    from benchgate.session.phases import Phases


@dataclass(frozen=True, slots=True)
class Effects:
    """Clocks, random seed, environment and progress display.

    Attributes:
        clock: seconds; never goes backwards.
        now: the time of day, UTC, ISO 8601 with a trailing Z.
        draw_seed: a fresh seed.
        environ: variables of this process.
        cwd: the folder where the command was called.
        progress: is told what is happening.
        phases: is told which phase begins.
        builds: where builds are kept for the next session; None if they are not.
    """

    clock: Callable[[], float]
    now: Callable[[], str]
    draw_seed: Callable[[], int]
    environ: Mapping[str, str]
    cwd: Path
    progress: Progress
    phases: Phases
    builds: BuildCache | None = None
