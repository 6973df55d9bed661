"""The statistics of a result, as plain numbers.

They are not stored in a result file: they are computed from its samples. A value that does not
exist is None, and `notes` beside it say why. Values are in base units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from benchgate.interval import Interval
from benchgate.json_object import Count, JsonObject, Name, NotNegative, Probability, Text
from benchgate.model.document import Format
from benchgate.model.environment import Environment
from benchgate.model.load import Loop
from benchgate.model.metrics import Better, Kind
from benchgate.model.result import PhaseTime
from benchgate.model.run import Source


@dataclass(frozen=True, slots=True)
class GridCell(JsonObject):
    """One cell of a parameter grid: a benchmark with one value of each parameter.

    Attributes:
        label: the parameters, such as "n=100".
        median: median of the launches' 25th percentiles.
    """

    label: Text
    launches: Count
    median: float


@dataclass(frozen=True, slots=True)
class GridPair(JsonObject):
    """Two cells of a parameter grid, compared.

    Attributes:
        ratio: second / first, of the medians.
        p, p_adjusted: two-sided Mann-Whitney; adjusted by Holm over the pairs of the grid.
    """

    first: Text
    second: Text
    ratio: float | None
    p: Probability
    p_adjusted: Probability


@dataclass(frozen=True, slots=True)
class Grid(JsonObject):
    """Whether the parameters of a benchmark matter, and which cells of its grid differ.

    Attributes:
        benchmark: the id without its parameters.
        h, df, p: the Kruskal-Wallis test over all cells; for two cells, the p of their pair
            decides.
    """

    benchmark: Text
    metric: Text
    unit: Text
    cells: tuple[GridCell, ...]
    h: float
    df: Count
    p: Probability
    pairs: tuple[GridPair, ...]
    notes: tuple[Text, ...] = ()
    display_unit: Text | None = None


@dataclass(frozen=True, slots=True)
class Mean(JsonObject):
    """A mean, with its standard error and interval if its values are independent.

    Attributes:
        n: how many values.
        mean: the arithmetic mean, unless `geometric`.
        sd, cv: standard deviation (ddof = 1); the same as a fraction of the mean.
        sem: standard error of the mean; for a trimmed sample, the Winsorized one.
    """

    n: Count
    mean: float
    sd: float | None = None
    cv: float | None = None
    sem: float | None = None
    interval: Interval | None = None
    geometric: bool = False


@dataclass(frozen=True, slots=True)
class LoadMetric(JsonObject):
    """One metric over the launches, each of which is one value.

    Attributes:
        least, greatest: the extreme values.
    """

    metric: Name
    unit: Text
    mean: Mean
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class ErrorCount(JsonObject):
    """How often an error was kept."""

    text: Text
    count: Count


@dataclass(frozen=True, slots=True)
class LoadPercentile(JsonObject):
    """A percentile of the latencies of all launches.

    Attributes:
        name: "min", "p99.9", "max".
        p: as a fraction.
    """

    name: Text
    p: Probability
    value_s: NotNegative


@dataclass(frozen=True, slots=True)
class LaunchCourse(JsonObject):
    """How one launch went.

    Attributes:
        p50_s, p95_s, p99_s, max_s: of its latencies; None if there are none.
        window_ops: operations that ended well in each window.
        generator_cpu_ratio: CPU time per second of the busiest process of the load generator.
        start_spread_s, late_p99_s, turn_s: as in the result.
    """

    round: Count
    ops: Count
    errors: Count
    p50_s: NotNegative | None
    p95_s: NotNegative | None
    p99_s: NotNegative | None
    max_s: NotNegative | None
    window_ops: tuple[Count, ...]
    generator_cpu_ratio: NotNegative
    start_spread_s: NotNegative
    late_p99_s: NotNegative | None
    turn_s: NotNegative | None = None


@dataclass(frozen=True, slots=True)
class LoadDetail(JsonObject):
    """What the histograms of all launches show, and each launch by itself.

    Attributes:
        percentiles: empty if no operation ended.
        mean_s, sd_s: of the latencies of all launches; None if there are none.
        courses: by ascending round.
    """

    percentiles: tuple[LoadPercentile, ...]
    mean_s: NotNegative | None
    sd_s: NotNegative | None
    courses: tuple[LaunchCourse, ...]


@dataclass(frozen=True, slots=True)
class LoadStatistics(JsonObject):
    """What a step of a scenario did.

    Attributes:
        loop, workers, rate, server: as in the result.
        launches: how many there are.
        duration_s: the measured time of a launch; the median.
        ops, errors, unfinished: in all launches.
        error_texts: the most frequent first.
        window_s: width of a window; None without any.
        windows: how many there are in all launches.
        empty_windows: in how many of these no operation ended, well or not.
        notes: what a reader of the numbers must know.
        detail: None unless details were requested.
    """

    benchmark: Name
    scenario: Name
    target: Name
    step: Name
    loop: Loop
    workers: Count
    rate: NotNegative
    launches: Count
    duration_s: NotNegative
    ops: Count
    errors: Count
    unfinished: Count
    metrics: tuple[LoadMetric, ...]
    error_texts: tuple[ErrorCount, ...] = ()
    window_s: NotNegative | None = None
    windows: Count = 0
    empty_windows: Count = 0
    server: dict[Text, Text] = field(default_factory=dict)
    notes: tuple[Text, ...] = ()
    detail: LoadDetail | None = None


@dataclass(frozen=True, slots=True)
class Quantile(JsonObject):
    """One quantile of all samples.

    Attributes:
        name: "min", "p25", "p99.9", "max".
        p: the quantile as a fraction.
        interval: by resampling launches, then samples within them.
        note: such as "equals the maximum", if there are too few samples to tell them apart.
    """

    name: Text
    p: Probability
    value: float
    interval: Interval | None = None
    note: Text = ""


@dataclass(frozen=True, slots=True)
class WithoutOutliers(JsonObject):
    """The mean without outliers. No test and no quantile leaves any sample out.

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
    """How the samples of a launch depend on their neighbors: medians over the launches.

    Attributes:
        lag_one: autocorrelation of neighboring samples.
        effective_n: the number of independent samples that carry as much information.
        samples: number of samples of a launch.
    """

    lag_one: float
    effective_n: float
    samples: Count


@dataclass(frozen=True, slots=True)
class BetweenLaunches(JsonObject):
    """How much the launches differ, and whether they drift.

    Attributes:
        between_ratio, within_ratio: standard deviation between and within launches, as
            fractions of the mean.
        intraclass_correlation: the share of the variance that lies between launches.
        understatement: standard error that counts launches / standard error that pools all samples.
        mean: of the launches' means, each launch being one value; geometric, with its interval,
            unless the mean of a launch is 0 or less.
        trend_p: p-value of a test for a trend in the launches' p25, in the order of measurement.
    """

    between_ratio: float | None
    within_ratio: float | None
    intraclass_correlation: float | None
    understatement: float | None
    mean: Mean
    trend_p: Probability | None = None


@dataclass(frozen=True, slots=True)
class LaunchesForChange(JsonObject):
    """How many launches on each side would find a change of a given size.

    Attributes:
        change_ratio: size of the change, such as 0.02.
        launches: None if more are needed than were tried.
    """

    change_ratio: float
    launches: Count | None


@dataclass(frozen=True, slots=True)
class Reach(JsonObject):
    """What a comparison of two such runs, measured at different times, could find in one row.

    Attributes:
        spread_ratio: robust spread of the launches' p25.
        alpha, power: the ones aimed at; if few launches tell the spread, the actual power is less.
        detectable_ratio: the smallest ratio found with so many launches on each side; None if so
            few cannot reach a p of alpha.
    """

    spread_ratio: float
    alpha: Probability
    power: Probability
    detectable_ratio: float | None
    needed: tuple[LaunchesForChange, ...]


@dataclass(frozen=True, slots=True)
class Warmup(JsonObject):
    """How the samples of a launch settle while it warms up.

    Attributes:
        curve: the first values that a launch measures; each the median over the launches.
        discarded: how many values of the curve are warm-up and not samples.
        launches: how many launches have enough values to judge.
        settled: how many of these settle at all.
        settled_at: the position in the curve from which most of these are steady.
    """

    curve: tuple[float, ...]
    discarded: Count
    launches: Count
    settled: Count
    settled_at: Count | None


@dataclass(frozen=True, slots=True)
class LaneStatistics(JsonObject):
    """The launches that were measured in one lane.

    Attributes:
        lane: its number; None for launches that were measured alone.
        p25: of a launch; the median over the launches.
        spread_ratio: robust spread of the launches' p25, as a fraction of their median; None for a
            single launch.
        pair_spread_ratio: robust spread of the log of head / base from round to round; None unless
            both sides were measured in turn in two rounds at least.
    """

    lane: Count | None
    launches: Count
    p25: float
    spread_ratio: float | None
    pair_spread_ratio: float | None


@dataclass(frozen=True, slots=True)
class SeriesDetail(JsonObject):
    """All statistics of one series.

    Attributes:
        samples: how many, in all launches together.
        timer_ratio: cost of reading the clock / time of one sample.
        lanes: the launches of each lane; empty if all have the same.
        notes: why a value is missing, or must not be trusted.
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
    lanes: tuple[LaneStatistics, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesStatistics(JsonObject):
    """The main statistics of one metric of one benchmark.

    Attributes:
        unit: base unit of all values.
        launches: number of launches.
        samples: number in one launch; the median over the launches.
        loops: operations in one sample.
        p25, median, p95, p99, p999, max: of a launch; medians over the launches. p999 is p99.9.
            p95 and above are None if a launch has too few samples for such a tail.
        spread_ratio: robust spread of the launches' p25, as a fraction of their median; None for a
            single launch.
        display_unit: the unit in which its author wants times shown.
        cpu_ratio: of the wall-clock time, CPU time / wall-clock time; far above 1 if several CPUs
            worked. None without CPU time.
        notes: what a reader of the numbers must know.
        detail: None unless details were requested.
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
    cpu_ratio: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None
    notes: tuple[Text, ...] = ()
    detail: SeriesDetail | None = None


@dataclass(frozen=True, slots=True)
class Failure(JsonObject):
    """A benchmark that failed, with its error."""

    benchmark: Name
    error: Text


@dataclass(frozen=True, slots=True)
class RunStatistics(JsonObject):
    """The statistics of one arm.

    Attributes:
        arm: "head" or "base".
        grids: benchmarks with parameters, if details were requested.
        loads: the steps of scenarios, which are among the series, too.
        same_code: the benchmarks that were not measured because they run the same code on both
            sides.
    """

    arm: Text
    source: Source
    started: Text
    complete: bool
    environment: Environment
    series: tuple[SeriesStatistics, ...]
    failures: tuple[Failure, ...] = ()
    grids: tuple[Grid, ...] = ()
    loads: tuple[LoadStatistics, ...] = ()
    same_code: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultStatistics(JsonObject):
    """The statistics of a benchgate result, the head's run first.

    Attributes:
        phases: those of the result, if details are wanted.
    """

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    runs: tuple[RunStatistics, ...]
    duration_s: float = 0.0
    warnings: tuple[Text, ...] = ()
    phases: tuple[PhaseTime, ...] = ()


STATISTICS: Final = Format("statistics", ResultStatistics, hallmark="runs", indent=2)
