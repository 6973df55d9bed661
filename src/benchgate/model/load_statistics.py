"""The statistics of a step of a scenario that `benchgate show` prints, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchgate.json_object import Count, JsonObject, Name, NotNegative, Probability, Text
from benchgate.model.load import Loop
from benchgate.model.mean import Mean


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
class Course(JsonObject):
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
    courses: tuple[Course, ...]


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
