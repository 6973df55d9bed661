"""Turns the figures of benchmarks and of scenarios' steps into charts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.notes import change
from benchgate.model.run import ERROR_RATIO, Kind
from benchgate.page.charts import (
    Axis,
    Chart,
    Draw,
    Look,
    Mark,
    Plotted,
    Scale,
    scale_of,
    without_secrets,
)
from benchgate.page.frame import unbroken
from benchgate.report import words
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchgate.model.figures import (
        ArmFigures,
        BenchmarkFigures,
        LoadArm,
        LoadFigures,
        SeriesFigures,
    )
    from benchgate.model.verdict import Row


_LOOKS: Final = {"base": Look.BASE, "head": Look.HEAD}
# Beyond this the small bars cannot be seen beside the great ones.
_MOST_LINEAR_LATENCY_RATIO: Final = 20


def load_plots(figures: BenchmarkFigures) -> tuple[Chart, ...]:
    """The course of the load and its latencies; nothing for what is no step of a scenario."""
    load = figures.load
    if load is None:
        return ()
    arms = [(name, arm) for name, arm in (("base", load.base), ("head", load.head)) if arm]
    return (*_course(load, arms), *_latencies(arms))


def _course(load: LoadFigures, arms: Sequence[tuple[str, LoadArm]]) -> Iterator[Chart]:
    slow = [value for _, arm in arms for value in arm.p95_s if value is not None]
    if not any(len(arm.at_s) > 1 for _, arm in arms):
        return
    scale = scale_of(max(slow, default=1.0), "s")
    series = [
        Plotted(
            f"throughput, {name}",
            Draw.LINE,
            _LOOKS[name],
            tuple(round(x, 3) for x in arm.at_s),
            tuple(float(f"{x:.5g}") for x in arm.ops_per_s),
        )
        for name, arm in arms
    ] + [
        Plotted(
            f"p95, {name}",
            Draw.LINE,
            _LOOKS[name],
            tuple(round(x, 3) for x in arm.at_s),
            tuple(None if x is None else scale.value(x) for x in arm.p95_s),
            right=True,
            dashed=True,
        )
        for name, arm in arms
    ]
    if load.in_line:
        axis = "seconds of measured time, one launch after the other"
        value = "Each value is one launch."
    else:
        axis = "seconds since the load began"
        value = (
            "A value is the mean of the throughput, and the median of the p95, over "
            f"{_counted_launches(arms)}, in {format_duration(load.window_s)}."
        )
    yield Chart(
        "Throughput and p95 over time",
        Axis(axis, from_zero=True),
        Axis("operations per second", from_zero=True),
        tuple(series),
        right=Axis(f"p95 ({scale.name})", from_zero=True),
        zooms=True,
        caption=(
            "Solid lines are throughput, on the left axis; dashed lines are the p95 of the "
            f"latencies, on the right axis. {value}"
        ),
    )


def _counted_launches(arms: Sequence[tuple[str, LoadArm]]) -> str:
    return " and ".join(f"{counted(arm.launches, 'launch')} of the {name}" for name, arm in arms)


def _latencies(arms: Sequence[tuple[str, LoadArm]]) -> Iterator[Chart]:
    names = list(dict.fromkeys(bar.name for _, arm in arms for bar in arm.latencies))
    every = [bar.value_s for _, arm in arms for bar in arm.latencies]
    if not every:
        return
    scale = scale_of(max(every), "s")
    is_wide = min(every) > 0 and max(every) / min(every) > _MOST_LINEAR_LATENCY_RATIO
    series = []
    for name, arm in arms:
        has_ends = any(bar.low_s is not None for bar in arm.latencies)
        lows = tuple(None if b.low_s is None else scale.value(b.low_s) for b in arm.latencies)
        highs = tuple(None if b.high_s is None else scale.value(b.high_s) for b in arm.latencies)
        series.append(
            Plotted(
                name,
                Draw.BARS,
                _LOOKS[name],
                tuple(float(names.index(bar.name)) for bar in arm.latencies),
                tuple(scale.value(bar.value_s) for bar in arm.latencies),
                lows if has_ends else (),
                highs if has_ends else (),
            )
        )
    more = (
        " The axis is logarithmic: bars show the order, and not the proportion." if is_wide else ""
    )
    yield Chart(
        "Latencies",
        Axis("percentile of the latencies", categories=tuple(names)),
        Axis(f"latency ({scale.name})", from_zero=not is_wide, log=is_wide),
        tuple(series),
        caption=(
            "Each bar is the mean of the launches' percentiles, and the line on it the 95 % "
            f"interval of that mean.{more}"
        ),
    )


_BASE, _HEAD = "base", "head"
_MAIN = "time"
_MOST_LINEAR_RATIO = 3
_MOST_COMPLETE = 100
MOST_DRAWN = 1000
"""Benchmarks of a page that have figures: a browser would take long to read those of more."""

# A curve of samples shows this share at first: outliers would leave the others no room.
_SHOWN_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of a benchmark.

    Attributes:
        minor: whether it is about a metric that does not decide.
    """

    chart: Chart
    minor: bool = False


def plots(
    figures: BenchmarkFigures | None,
    redact: Callable[[str], str],
    rows: Sequence[Row] = (),
    *,
    all_metrics: bool = True,
) -> tuple[Plot, ...]:
    """All charts of a benchmark, those of its deciding metrics first.

    Args:
        rows: of a verdict; if there are none, the time decides.
        all_metrics: whether metrics that do not decide have charts.
    """
    found = _plots(figures, rows)
    return tuple(
        replace(one, chart=_told(without_secrets(one.chart, redact)))
        for one in found
        if all_metrics or not one.minor
    )


def _told(chart: Chart) -> Chart:
    return replace(chart, caption=unbroken(chart.caption))


def leaves_out(benchmarks: int) -> str:
    """Why the page of so many has no charts of some metrics; "" if it has all of them."""
    if benchmarks <= _MOST_COMPLETE:
        return ""
    if benchmarks > MOST_DRAWN:
        return (
            f"Only the first {MOST_DRAWN} benchmarks of this page have figures, and only of the "
            "metrics that decide. The result file has everything: `benchgate show --filter` shows "
            "what you choose."
        )
    return (
        f"With more than {_MOST_COMPLETE} benchmarks, the page has figures only of the metrics "
        "that decide, and its curves are thinned. The result file has everything."
    )


def _plots(figures: BenchmarkFigures | None, rows: Sequence[Row]) -> tuple[Plot, ...]:
    found = list(change_plot(rows))
    if figures is None:
        return tuple(found)
    loaded = load_plots(figures)
    found += map(Plot, loaded)
    # A launch under load is one value of each metric: only its course over the launches says more.
    deciding = {row.metric for row in rows if row.decides} or {_MAIN}
    for series in sorted(figures.series, key=lambda one: one.metric not in deciding):
        if series.kind is not Kind.EXACT:
            own = _series_plots(series, figures.display_unit, under_load=bool(loaded))
            found += (Plot(chart, minor=series.metric not in deciding) for chart in own)
    return tuple(found)


def change_plot(rows: Iterable[Row]) -> Iterator[Plot]:
    """The changes of a benchmark's rows with their intervals, against the margins."""
    known = [
        row
        for row in rows
        if row.ratio is not None
        and row.interval is not None
        and all(map(math.isfinite, (row.ratio, *row.interval)))
    ]
    if not known:
        return
    said = [f"{words.statistic(row)}: {change(row)} ({words.interval(row)})" for row in known]
    ratios = [row.ratio for row in known if row.ratio is not None]
    every = [*ratios, *(each for row in known for each in row.interval or ())]
    # Percentages of a factor of 20 leave a change of 20 % no room.
    is_wide = min(every) > 0 and (
        max(every) > _MOST_LINEAR_RATIO or min(every) < 1 / _MOST_LINEAR_RATIO
    )
    shown = _factor if is_wide else _percent
    margins = sorted({row.margin for row in known if row.margin})
    marks = [Mark(shown(1.0), "no change", strong=True)]
    # Margins lie close to each other: the last one names them all, for labels would overlap.
    named = f"margin {', '.join(map(format_percent, margins))}"
    for margin in margins:
        marks.append(Mark(shown(1 + margin), named if margin == margins[-1] else ""))
        marks.append(Mark(shown(1 - margin), ""))
    plotted = Plotted(
        "change with its interval",
        Draw.POINTS,
        Look.HEAD,
        tuple(map(float, range(len(known)))),
        tuple(map(shown, ratios)),
        tuple(shown(row.interval[0]) for row in known if row.interval),
        tuple(shown(row.interval[1]) for row in known if row.interval),
    )
    chart = Chart(
        "Change against the margin",
        Axis("", categories=tuple(words.statistic(row) or "typical" for row in known)),
        Axis("head / base, logarithmic", log=True) if is_wide else Axis("change (%)"),
        (plotted,),
        horizontal=tuple(marks if margins and margins[-1] < 1 else marks[:1]),
        caption=f"{'; '.join(said)}.",
    )
    yield Plot(chart)


def _factor(ratio: float) -> float:
    return float(f"{ratio:.4g}")


def _percent(ratio: float) -> float:
    return float(f"{(ratio - 1) * 100:.4g}")


def _series_plots(
    series: SeriesFigures, display_unit: str | None, *, under_load: bool
) -> Iterator[Chart]:
    arms = [(name, arm) for name, arm in ((_BASE, series.base), (_HEAD, series.head)) if arm]
    unit = "%" if series.metric == ERROR_RATIO.name else series.unit
    scale = scale_of(_typical(arms), unit, display_unit)
    metric = plain_line(series.metric)
    label = f"{metric} ({scale.name})" if scale.name else metric
    if all(arm.values[0] == arm.values[-1] == arms[0][1].values[0] for _, arm in arms):
        return
    if any(len(arm.launches.rounds) > 1 for _, arm in arms):
        yield _launches(metric, label, arms, scale)
    if under_load or max(arm.samples for _, arm in arms) < 2 or series.kind is not Kind.SAMPLED:
        return
    yield _ecdf(metric, label, arms, scale)
    if series.edges:
        yield _histogram(series, label, arms, scale)
    if any(arm.warmup for _, arm in arms):
        yield _warmup(metric, label, arms, scale)


def _typical(arms: Iterable[tuple[str, ArmFigures]]) -> float:
    """What the unit of an axis is chosen by: an outlier would make all others 0.00-something."""
    return max(abs(arm.values[len(arm.values) // 2]) for _, arm in arms)


def _ecdf(metric: str, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale) -> Chart:
    thinned = [arm for _, arm in arms if arm.thinned]
    less = (
        f" Thinned for this page: {len(thinned[0].values)} values stand for all." if thinned else ""
    )
    samples = " and ".join(f"{arm.samples:,} of the {name}" for name, arm in arms)
    return Chart(
        f"Distribution of {metric}",
        Axis(label),
        Axis("share of samples (%)", from_zero=True),
        tuple(
            Plotted(
                name,
                Draw.STEP,
                _look(name),
                scale.values(arm.values),
                tuple(round(100 * share, 1) for share in arm.shares),
                dashed=name == _HEAD,
            )
            for name, arm in arms
        ),
        zooms=True,
        view=_without_outliers(arms, scale),
        caption=(
            f"The share of samples that are at most as great: samples are {samples}. "
            f"A curve further to the right has greater values.{less}"
        ),
    )


def _without_outliers(arms: Sequence[tuple[str, ArmFigures]], scale: Scale) -> tuple[float, ...]:
    """From the least to nearly the greatest value; () if that is nearly all."""
    low = min(arm.values[0] for _, arm in arms)
    high = max(arm.values[int(_SHOWN_SHARE * (len(arm.values) - 1))] for _, arm in arms)
    greatest = max(arm.values[-1] for _, arm in arms)
    if greatest - low < 2 * (high - low) or high <= low:
        return ()
    return scale.values((low, high))


def _histogram(
    series: SeriesFigures, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    width = series.edges[1] - series.edges[0]
    middles = [(low + high) / 2 for low, high in zip(series.edges, series.edges[1:], strict=False)]
    rest = (
        f" {format_percent(series.beyond)} of the samples are greater, up to "
        f"{words.metric_value(series.metric, series.unit, series.greatest)}; they are not drawn."
        if series.beyond
        else ""
    )
    return Chart(
        f"Histogram of {plain_line(series.metric)}",
        Axis(label),
        Axis("share of samples (%)", from_zero=True),
        tuple(
            Plotted(
                name,
                Draw.BARS,
                _look(name),
                scale.values(middles),
                tuple(round(100 * share, 2) for share in arm.bars),
                width=scale.values([width])[0],
            )
            for name, arm in arms
            if arm.bars
        ),
        caption=(f"How many samples lie in each of {len(middles)} equal ranges.{rest}"),
    )


def _launches(
    metric: str, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    is_spread = any(arm.launches.typical != arm.launches.upper for _, arm in arms)
    counts = " and ".join(
        f"{counted(len(a.launches.rounds), 'launch')} of the {n}" for n, a in arms
    )
    what = (
        "Each point is the typical value (p25) of one process, and the line above it reaches to "
        "the p75."
        if is_spread
        else "Each point is the value of one launch."
    )
    return Chart(
        f"Launches of {metric}, in order",
        Axis("round", whole=True),
        Axis(label),
        tuple(
            Plotted(
                name,
                Draw.POINTS,
                _look(name),
                tuple(float(one + 1) for one in arm.launches.rounds),
                scale.values(arm.launches.typical),
                scale.values(arm.launches.typical) if is_spread else (),
                scale.values(arm.launches.upper) if is_spread else (),
            )
            for name, arm in arms
        ),
        zooms=True,
        caption=(
            f"{counts}. {what} A slope or a step in both is a disturbance of the machine, and "
            "not a change of the code."
        ),
    )


def _warmup(metric: str, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale) -> Chart:
    discarded = max(arm.discarded for _, arm in arms)
    marks = (Mark(discarded + 0.5, "warm-up ends"),) if discarded else ()
    cut = f" The first {discarded} are warm-up and do not count." if discarded else ""
    return Chart(
        f"Warm-up of {metric}",
        Axis("sample of a launch", whole=True),
        Axis(label),
        tuple(
            Plotted(
                name,
                Draw.LINE,
                _look(name),
                tuple(float(index + 1) for index in range(len(arm.warmup))),
                scale.values(arm.warmup),
                dashed=name == _HEAD,
            )
            for name, arm in arms
            if arm.warmup
        ),
        vertical=marks,
        zooms=True,
        caption=(f"The first samples of a launch, each the median over the launches.{cut}"),
    )


def _look(name: str) -> Look:
    return Look.BASE if name == _BASE else Look.HEAD
