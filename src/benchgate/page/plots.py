"""Turns the figures of benchmarks into charts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.metrics import ERROR_RATIO, Kind
from benchgate.model.notes import change
from benchgate.model.policy import Outcome
from benchgate.model.run import Tier
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
from benchgate.page.load_plots import load_plots
from benchgate.report import estimates, words
from benchgate.units import counted, format_change, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.model.figures import (
        ArmFigures,
        BenchmarkFigures,
        SeriesFigures,
    )
    from benchgate.model.row import Row


_BASE, _HEAD = "base", "head"
_MAIN = "time"
_LEAST_ROUNDS = 2
_MOST_COMPLETE = 100
MOST_DRAWN = 1000
"""Benchmarks of a page that have figures: a browser would take long to read those of more."""

# Axes end at about this share of the data if the rest would leave it less than half of the room.
_SHOWN_SHARE: Final = 0.95
_MUCH: Final = 2
_PERCENT: Final = "change (%)"
# Most tails are open, and most other metrics are as they were.
_OPEN: Final = frozenset({Outcome.NOT_SETTLED, Outcome.NOT_TESTED})
_USUAL: Final = frozenset({Outcome.UNCHANGED, Outcome.WITHIN_LIMIT})


def is_news(row: Row, first: Row) -> bool:
    """Whether a row says something that the one that stands for its benchmark does not."""
    is_usual = row.outcome in _OPEN or (row.outcome in _USUAL and not row.is_tail)
    return row.decides and row.outcome is not first.outcome and not is_usual


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of a benchmark.

    Attributes:
        main: whether it is the evidence itself, and comes first.
        minor: whether it is folded.
    """

    chart: Chart
    main: bool = False
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
        "that decide, and none of tails. The result file has everything."
    )


def _plots(figures: BenchmarkFigures | None, rows: Sequence[Row]) -> Iterator[Plot]:
    if figures is None:
        return
    by_metric = {one.metric: one for one in figures.series}
    for row in rows:
        if row.metric in by_metric and (chart := round_chart(row, by_metric[row.metric])):
            main = row is rows[0] or is_news(row, rows[0])
            yield Plot(chart, main=main, minor=not main)
    loaded = load_plots(figures)
    yield from map(Plot, loaded)
    # A launch under load is one value of each metric: only its launches in order say more.
    deciding = {row.metric for row in rows if row.decides} or {_MAIN}
    for series in sorted(figures.series, key=lambda one: one.metric not in deciding):
        if series.kind is not Kind.EXACT:
            for chart in _series_plots(series, figures.display_unit, under_load=bool(loaded)):
                yield Plot(chart, minor=series.metric not in deciding)


def round_chart(row: Row, series: SeriesFigures) -> Chart | None:
    """How the head differs from the base in each round; None for what has no rounds."""
    base, head = series.base, series.head
    is_alone = row.is_limit or row.tier in {None, Tier.STORED}
    if is_alone or row.ratio is None or base is None or head is None:
        return None
    before, after = (
        dict(zip(arm.launches.rounds, arm.launches.values.get(row.statistic, ()), strict=False))
        for arm in (base, head)
    )
    common = [one for one in before if one in after and before[one] > 0]
    of_pairs = series.of_pairs if row.statistic == "p25" else {}
    changes = [_percent(of_pairs.get(one, after[one] / before[one])) for one in common]
    if len(common) < _LEAST_ROUNDS or series.kind is Kind.EXACT:
        return None
    return _chart_of(row, _percent(row.ratio), dict(zip(common, changes, strict=True)))


def _chart_of(row: Row, estimate: float, changes: Mapping[int, float]) -> Chart:
    """Draw the changes of some rounds and the estimate that rests on them, all in percent."""
    ends = tuple(map(_percent, row.interval)) if row.interval else ()
    ends = ends if all(map(math.isfinite, ends)) else ()
    margin = 100 * (row.margin or 0.0)
    view, beyond = _clipped([*changes.values()], (*ends, estimate, margin, -margin))
    farthest = format_change(1 + max(beyond, key=abs, default=0.0) / 100)
    used = min(row.launches)
    first, last = next(iter(changes)), next(reversed(changes))
    some = f" It rests on {used} of these rounds." if used < len(changes) else ""
    within = f"{format_percent(row.confidence)} interval"
    said = f"{change(row)} ({within} {estimates.interval(row)})" if ends else change(row)
    within_margin = f" Changes within the margin, {format_percent(margin / 100)}, do not count."
    return Chart(
        f"Change in each round, {words.statistic(row)}",
        Axis("round", whole=True),
        Axis(_PERCENT),
        (
            Plotted(
                "head compared with base",
                Draw.POINTS,
                Look.HEAD,
                tuple(float(one + 1) for one in changes),
                tuple(changes.values()),
            ),
            Plotted(
                f"estimate, with its {within}" if ends else "estimate",
                Draw.LINE,
                Look.HEAD,
                (float(first + 1), float(last + 1)),
                (estimate, estimate),
                ends[:1] * 2,
                ends[1:] * 2,
                band=bool(ends),
                dashed=True,
            ),
        ),
        horizontal=(
            *((Mark(-margin, "margin", to=margin),) if margin else ()),
            Mark(0.0, "no change", strong=True),
        ),
        zooms=True,
        view_y=view,
        caption=(
            f"A point is one round: how much the head, measured next to the base, differs from "
            f"it. The estimate is {said}.{some}"
            f"{within_margin if margin else ''}{_beyond(len(beyond), 'round', farthest)}"
        ),
    )


def _clipped(
    values: Sequence[float], always: Sequence[float] = ()
) -> tuple[tuple[float, ...], list[float]]:
    """The range that outliers leave, and the outliers; () and [] if they take little room.

    Args:
        always: what the range must include.
    """
    ordered = sorted(values)
    last = len(ordered) - 1
    cut = min(last - int(_SHOWN_SHARE * last), last // 2)
    kept = (*ordered[cut : last - cut + 1], *always)
    low, high = min(kept), max(kept)
    if not high > low or ordered[-1] - ordered[0] < _MUCH * (high - low):
        return (), []
    return (low, high), [one for one in values if not low <= one <= high]


def _beyond(count: int, noun: str, farthest: str) -> str:
    """What the caption says of outliers; "" if there are none."""
    if not count:
        return ""
    lie = "lies" if count == 1 else "lie"
    return f" {counted(count, noun)} {lie} beyond the axis, at up to {farthest}: choose Show all."


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
        yield _launches(series, label, arms, scale)
    if under_load or max(arm.samples for _, arm in arms) < 2 or series.kind is not Kind.SAMPLED:
        return
    yield _ecdf(series, label, arms, scale)
    if series.edges:
        yield _histogram(series, label, arms, scale)
    if any(arm.warmup for _, arm in arms):
        yield _warmup(series, label, arms, scale)


def _typical(arms: Iterable[tuple[str, ArmFigures]]) -> float:
    """What the unit of an axis is chosen by: an outlier would make all others 0.00-something."""
    return max(abs(arm.values[len(arm.values) // 2]) for _, arm in arms)


def _ecdf(
    series: SeriesFigures, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    thinned = [arm for _, arm in arms if arm.thinned]
    less = f" The curve has {len(thinned[0].values)} of them." if thinned else ""
    samples = " and ".join(f"{arm.samples:,} of the {name}" for name, arm in arms)
    view, _ = _clipped([value for _, arm in arms for value in arm.values])
    low = min(arm.values[0] for _, arm in arms)
    right = " The side whose curve is further right has larger values."
    rest = f" Outliers reach {_shown(series, series.greatest)}: choose Show all." if view else ""
    return Chart(
        f"Distribution of {plain_line(series.metric)}",
        Axis(label),
        Axis("samples up to this value (%)", from_zero=True),
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
        view=scale.values((low, view[1])) if view else (),
        caption=f"All samples: {samples}.{less}{right if len(arms) > 1 else ''}{rest}",
    )


def _shown(series: SeriesFigures, value: float) -> str:
    return words.metric_value(series.metric, series.unit, value)


def _histogram(
    series: SeriesFigures, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    width = series.edges[1] - series.edges[0]
    middles = [(low + high) / 2 for low, high in zip(series.edges, series.edges[1:], strict=False)]
    rest = (
        f" {format_percent(series.beyond)} of the samples are greater, up to "
        f"{_shown(series, series.greatest)}: see the distribution."
        if series.beyond
        else ""
    )
    return Chart(
        f"Histogram of {plain_line(series.metric)}",
        Axis(label),
        Axis("samples (%)", from_zero=True),
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
        caption=f"Samples in each of {len(middles)} equal ranges.{rest}",
    )


def _launches(
    series: SeriesFigures, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    low, high = ([arm.launches.values[name] for _, arm in arms] for name in ("p25", "p75"))
    is_spread = low != high
    view, beyond = _clipped([value for values in (low + high) for value in values])
    what = (
        "A point is the typical value (p25) of one process; the line reaches up to its p75."
        if is_spread
        else "A point is the value of one process."
    )
    together = " If both sides drift or jump together, the machine did, not the code."
    farthest = _shown(series, max(map(max, high)))
    return Chart(
        f"Each launch, in order: {plain_line(series.metric)}",
        Axis("round", whole=True),
        Axis(label),
        tuple(
            Plotted(
                name,
                Draw.POINTS,
                _look(name),
                tuple(float(one + 1) for one in arm.launches.rounds),
                scale.values(arm.launches.values["p25"]),
                scale.values(arm.launches.values["p25"]) if is_spread else (),
                scale.values(arm.launches.values["p75"]) if is_spread else (),
            )
            for name, arm in arms
        ),
        zooms=True,
        view_y=scale.values(view),
        caption=(
            f"{what}{together if len(arms) > 1 else ''}{_beyond(len(beyond), 'value', farthest)}"
        ),
    )


def _warmup(
    series: SeriesFigures, label: str, arms: Sequence[tuple[str, ArmFigures]], scale: Scale
) -> Chart:
    discarded = max(arm.discarded for _, arm in arms)
    marks = (Mark(discarded + 0.5, "warm-up ends"),) if discarded else ()
    cut = f" The first {discarded} are warm-up and do not count." if discarded else ""
    every = [value for _, arm in arms for value in arm.warmup]
    view, beyond = _clipped(every)
    return Chart(
        f"Warm-up of {plain_line(series.metric)}",
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
        view_y=scale.values(view),
        caption=(
            f"The first samples of a launch, as the median over the launches.{cut}"
            f"{_beyond(len(beyond), 'value', _shown(series, max(every)))}"
        ),
    )


def _look(name: str) -> Look:
    return Look.BASE if name == _BASE else Look.HEAD
