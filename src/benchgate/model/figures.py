"""What the figures of a report show, as plain numbers: computed from a result, and never stored.

Values are in base units. Long courses are thinned: what is kept are measured values, or means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.model.calls import CallTree
    from benchgate.model.metrics import Kind


@dataclass(frozen=True, slots=True)
class LaunchFigure:
    """The launches of an arm, in the order of measurement.

    Attributes:
        values: of each launch, by the name of the statistic: those of rows, and "p75".
    """

    rounds: tuple[int, ...]
    values: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One metric of one benchmark in one arm.

    Attributes:
        samples: how many there are in all launches.
        values: of the samples, ascending; all of them, or so many that stand for them.
        shares: for each of `values` the share of samples that are at most as great.
        thinned: whether `values` leaves samples out.
        bars: shares of the samples between neighbors of `SeriesFigures.edges`; may be empty.
        warmup: the first values of a launch, medians over the launches; may be empty.
        discarded: how many of these are warm-up and not samples.
    """

    samples: int
    values: tuple[float, ...]
    shares: tuple[float, ...]
    thinned: bool
    launches: LaunchFigure
    bars: tuple[float, ...] = ()
    warmup: tuple[float, ...] = ()
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class SeriesFigures:
    """One metric of one benchmark.

    Attributes:
        edges: of the histogram of both arms, one more than bars; () if samples are too few.
        beyond: the share of all samples above the last edge.
        greatest: the greatest sample.
        of_pairs: head / base of each round that both arms have, from its pairs of samples; empty if
            the samples were not taken in turn.
    """

    metric: str
    unit: str
    kind: Kind
    base: ArmFigures | None
    head: ArmFigures | None
    edges: tuple[float, ...] = ()
    beyond: float = 0.0
    greatest: float = 0.0
    of_pairs: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LatencyBar:
    """A percentile of the latencies: the mean over the launches.

    Attributes:
        low, high: ends of its 95 % interval; None if there are too few launches.
    """

    name: str
    value_s: float
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, slots=True)
class LoadArm:
    """A step of a scenario in one arm, over the time of a launch.

    Attributes:
        at_s: middles of the windows since the measured time of a launch began; if the launches are
            `in_line`, since that of the first.
        ops_per_s: mean over the launches.
        p95_s: median over the launches; None where no operation ended.
        latencies: by ascending percentile.
    """

    launches: int
    at_s: tuple[float, ...]
    ops_per_s: tuple[float, ...]
    p95_s: tuple[float | None, ...]
    latencies: tuple[LatencyBar, ...]


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """A step of a scenario.

    Attributes:
        window_s: width of what one value of a course stands for.
        in_line: whether the launches are shown one after the other, because each has one window.
    """

    window_s: float
    base: LoadArm | None
    head: LoadArm | None
    in_line: bool = False


@dataclass(frozen=True, slots=True)
class BenchmarkFigures:
    """All figures of one benchmark, by the head's id; the base's id if the head has none.

    Attributes:
        calls: of base and head by metric, as far as they were observed.
    """

    benchmark: str
    display_unit: str | None
    series: tuple[SeriesFigures, ...]
    load: LoadFigures | None = None
    calls: Mapping[str, tuple[CallTree, CallTree]] = field(default_factory=dict)
