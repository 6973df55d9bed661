"""The statistics of a result: what `benchgate show` tells, as plain numbers.

Nothing of it is stored in a result file, which holds the samples that all of it is computed from.
None stands for what does not exist, and `notes` beside it say why. Values are in base units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from benchgate.interval import Interval
from benchgate.json_object import Count, JsonObject, Name, Probability, Text
from benchgate.model.environment import Environment
from benchgate.model.grid import Grid
from benchgate.model.run import Better, Kind, Source


@dataclass(frozen=True, slots=True)
class Quantile(JsonObject):
    """One quantile of all samples.

    Attributes:
        name: "min", "p25", "p99.9", "max".
        p: as a fraction.
        interval: by resampling launches, then samples within them.
        note: e.g. "equals the maximum": there are too few samples to tell them apart.
    """

    name: Text
    p: Probability
    value: float
    interval: Interval | None = None
    note: Text = ""


@dataclass(frozen=True, slots=True)
class Mean(JsonObject):
    """A mean and what it is worth if its values are independent of each other.

    Attributes:
        n: how many values.
        mean: the arithmetic one, unless `geometric`.
        sd, cv: standard deviation (ddof = 1), and as a fraction of the mean.
        sem: standard error of the mean; the Winsorized one of a trimmed sample.
    """

    n: Count
    mean: float
    sd: float | None = None
    cv: float | None = None
    sem: float | None = None
    interval: Interval | None = None
    geometric: bool = False


@dataclass(frozen=True, slots=True)
class WithoutOutliers(JsonObject):
    """The same without outliers. No test and no quantile leaves any sample out.

    Attributes:
        mode: "none", "top5", "both5", "iqr" or "mad".
        dropped_low, dropped_high: how many values below and above were left out.
    """

    mode: Text
    dropped_low: Count
    dropped_high: Count
    mean: Mean


@dataclass(frozen=True, slots=True)
class WithinLaunch(JsonObject):
    """How the samples of a launch depend on their neighbours: medians over the launches.

    Attributes:
        lag_one: autocorrelation of neighbouring samples.
        effective_n: how many independent samples a launch's samples are worth.
        samples: how many it has.
    """

    lag_one: float
    effective_n: float
    samples: Count


@dataclass(frozen=True, slots=True)
class BetweenLaunches(JsonObject):
    """How the launches differ.

    Attributes:
        between_ratio, within_ratio: standard deviation between and within launches, as
            fractions of the mean.
        intraclass_correlation: the share of the variance that lies between launches.
        understatement: standard error that counts launches / one that pools all samples.
        mean: of the launches' means, each launch one value; the geometric one, with its
            interval, unless a launch has a mean of 0 or less.
        trend_p: of the test of a trend in the launches' p25, in the order of measurement.
    """

    between_ratio: float | None
    within_ratio: float | None
    intraclass_correlation: float | None
    understatement: float | None
    mean: Mean
    trend_p: Probability | None = None


@dataclass(frozen=True, slots=True)
class LaunchesForChange(JsonObject):
    """Launches on each side that would find a change.

    Attributes:
        change_ratio: e.g. 0.02.
        launches: None when it is more than were counted to.
    """

    change_ratio: float
    launches: Count | None


@dataclass(frozen=True, slots=True)
class Reach(JsonObject):
    """What a comparison of two such runs, measured apart, could find in one row.

    Attributes:
        spread_ratio: robust spread of the launches' p25.
        alpha, power: what is aimed at; of a spread estimated from few launches the power is less.
        detectable_ratio: the smallest ratio found with so many launches on each side; None
            where so few reach no p of alpha.
    """

    spread_ratio: float
    alpha: Probability
    power: Probability
    detectable_ratio: float | None
    needed: tuple[LaunchesForChange, ...]


@dataclass(frozen=True, slots=True)
class Warmup(JsonObject):
    """How the samples of a launch settle.

    Attributes:
        curve: what a launch measures first, median over the launches at each place.
        discarded: how many values of it are warm-up and no samples.
        launches: that have enough values to tell.
        settled: of these, how many settle at all.
        settled_at: the place in the curve from which most of them are steady.
    """

    curve: tuple[float, ...]
    discarded: Count
    launches: Count
    settled: Count
    settled_at: Count | None


@dataclass(frozen=True, slots=True)
class SeriesDetail(JsonObject):
    """Everything that can be said of one series.

    Attributes:
        samples: in all launches.
        timer_ratio: cost of reading the clock / time of one sample.
        notes: why something is missing, and what not to trust.
    """

    samples: Count
    quantiles: tuple[Quantile, ...]
    full: Mean
    trimmed: WithoutOutliers
    within: WithinLaunch | None = None
    between: BetweenLaunches | None = None
    reach: Reach | None = None
    warmup: Warmup | None = None
    timer_ratio: float | None = None
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesStatistics(JsonObject):
    """One metric of one benchmark.

    Attributes:
        unit: base unit of all values.
        launches: how many.
        samples: in one launch; the median over the launches.
        loops: operations in one sample.
        p25, median, p95: of a launch; medians over the launches. p95 is None where a launch has
            too few samples for a tail.
        spread_ratio: robust spread of the launches' p25, as a fraction of their median; None
            for one launch.
        display_unit: the unit its author wants times shown in.
        notes: what a reader of the numbers must know.
        detail: where it was asked for.
    """

    benchmark: Name
    metric: Name
    unit: Text
    launches: Count
    samples: Count
    loops: Count
    p25: float
    median: float
    p95: float | None
    spread_ratio: float | None
    better: Better = Better.LOWER
    kind: Kind = Kind.SAMPLED
    display_unit: Text | None = None
    notes: tuple[Text, ...] = ()
    detail: SeriesDetail | None = None


@dataclass(frozen=True, slots=True)
class Failure(JsonObject):
    """A benchmark that failed, and how."""

    benchmark: Name
    error: Text


@dataclass(frozen=True, slots=True)
class RunStatistics(JsonObject):
    """One arm.

    Attributes:
        arm: "head" or "base".
        grids: benchmarks with parameters, where details were asked for.
    """

    arm: Text
    source: Source
    started: Text
    complete: bool
    environment: Environment
    series: tuple[SeriesStatistics, ...]
    failures: tuple[Failure, ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultStatistics(JsonObject):
    """The statistics of a benchgate result, the head's run first."""

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    runs: tuple[RunStatistics, ...]
    duration_s: float = 0.0
    warnings: tuple[Text, ...] = ()
