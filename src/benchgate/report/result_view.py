"""What `benchgate show` and `benchgate list` print, as plain numbers; nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.model.environment import Environment
    from benchgate.model.result import Source


@dataclass(frozen=True, slots=True)
class SeriesView:
    """One metric of one benchmark.

    Attributes:
        unit: base unit of the four values, which are medians over the launches.
        samples: in one launch; the median over the launches.
        loops: operations in one sample.
        p95: None where a launch has too few samples for a tail.
        spread_ratio: between launches, as a fraction of the median; None for one launch.
        display_unit: the unit its author wants times shown in.
    """

    benchmark: str
    metric: str
    unit: str
    launches: int
    samples: int
    loops: int
    p25: float
    median: float
    p95: float | None
    spread_ratio: float | None
    display_unit: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunView:
    """One arm.

    Attributes:
        arm: "head" or "base".
        failures: benchmark and error of those that failed.
    """

    arm: str
    source: Source
    started: str
    complete: bool
    environment: Environment
    series: tuple[SeriesView, ...]
    failures: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultView:
    """One result file, the head's run first."""

    runs: tuple[RunView, ...]
    duration_s: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedBenchmark:
    """A benchmark that would be measured.

    Attributes:
        kind: "python", "command".
        location: `path:line` of its definition; None when unknown.
    """

    id: str
    kind: str
    location: str | None = None
    tags: tuple[str, ...] = ()
