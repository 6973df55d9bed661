"""Prints the statistics of one benchmark in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.escape import plain_line
from benchgate.report import words
from benchgate.report.drawing import sparkline
from benchgate.report.terminal import (
    Column,
    Line,
    print_columns,
    print_facts,
    print_text,
)
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from benchgate.interval import Interval
    from benchgate.model.statistics import (
        BetweenLaunches,
        LaneStatistics,
        Mean,
        Reach,
        SeriesDetail,
        SeriesStatistics,
        Warmup,
        WithinLaunch,
        WithoutOutliers,
    )


_MEAN_COLUMNS = (
    Column("mean of", name=True),
    Column("n", right=True, drop=1),
    Column("mean", right=True),
    Column("sd", right=True, drop=4),
    Column("CV", right=True, drop=5),
    Column("SEM", right=True, drop=3),
    Column("interval", right=True),
    Column("method", drop=2),
)
_MORE = "more than 1000"
# A smaller value would be shown as "1.0 times".
_UNDERSTATEMENT = 1.05
_TREND_P = 0.01
# With fewer launches, the smallest possible p, two of n! orders, is above that.
_LEAST_TREND = 6
_TIMER_RATIO = 0.01
_TIMER_SHOWN = 0.0001
# A longer curve would fill a terminal, and the start matters most.
_CURVE_SHOWN = 40


def print_detail(console: Console, series: SeriesStatistics, detail: SeriesDetail) -> None:
    title = f"{plain_line(series.benchmark)}, {plain_line(series.metric)}"
    print_text(console, Text(title, "bold"))
    print_text(console, _size(series, detail))
    console.print()
    _print_quantiles(console, series, detail)
    console.print()
    _print_means(console, series, detail)
    console.print()
    print_facts(console, list(_facts(series, detail)))


def _size(series: SeriesStatistics, detail: SeriesDetail) -> str:
    each = counted(series.samples, "sample")
    loops = f" of {series.loops} operations" if series.loops > 1 else ""
    in_all = f": {detail.samples} samples" if series.launches > 1 < series.samples else ""
    return f"{counted(series.launches, 'launch')} x {each}{loops}{in_all}"


def _print_quantiles(console: Console, series: SeriesStatistics, detail: SeriesDetail) -> None:
    columns = (
        Column("of all samples", name=True),
        Column("value", right=True),
        Column(_interval_title(detail), right=True),
    )
    lines = [
        Line((q.name, words.series_value(series, q.value), _ends(series, q.interval) or q.note))
        for q in detail.quantiles
    ]
    print_columns(console, columns, lines)


def _print_means(console: Console, series: SeriesStatistics, detail: SeriesDetail) -> None:
    trimmed = detail.trimmed
    # With one sample per launch, launches are the samples, and their row has the better interval.
    alike = detail.between and detail.samples == series.launches
    rows = [] if alike else [("all samples", detail.full)]
    if trimmed.dropped_low or trimmed.dropped_high:
        rows.append((f"without outliers ({trimmed.mode})", trimmed.mean))
    if detail.between:
        geometric = ", geometric" if detail.between.mean.geometric else ""
        rows.append((f"launches{geometric}", detail.between.mean))
    print_columns(console, _MEAN_COLUMNS, [_mean(series, name, mean) for name, mean in rows])


def _mean(series: SeriesStatistics, name: str, mean: Mean) -> Line:
    return Line(
        (
            name,
            str(mean.n),
            words.series_value(series, mean.mean),
            "" if mean.sd is None else words.series_value(series, mean.sd),
            "" if mean.cv is None else format_percent(mean.cv),
            "" if mean.sem is None else words.series_value(series, mean.sem),
            _ends(series, mean.interval),
            mean.interval.method if mean.interval else "",
        )
    )


def _facts(series: SeriesStatistics, detail: SeriesDetail) -> Iterator[tuple[str, str]]:
    if detail.trimmed.mode != "none":
        yield "outliers", _outliers(detail.trimmed)
    yield from _percent("spread", "{} between launches (p25, robust)", series.spread_ratio)
    yield from _percent("CPU", "CPU time is {} of the wall-clock time", series.cpu_ratio)
    if detail.between:
        yield from _noise(detail.between)
    if detail.within:
        yield "within", _within(detail.within)
    if detail.reach:
        yield "could see", _reach(detail.reach, series.launches)
    if detail.warmup:
        yield "warm-up", _warmup(detail.warmup)
    if detail.timer_ratio is not None:
        yield "timer", _timer(detail.timer_ratio)
    for lane in detail.lanes:
        yield "lanes", _lane(series, lane)
    for note in (*detail.notes, *series.notes):
        yield "note", plain_line(note)


def _percent(label: str, text: str, ratio: float | None) -> Iterator[tuple[str, str]]:
    if ratio is not None:
        yield label, text.format(format_percent(ratio))


def _outliers(trimmed: WithoutOutliers) -> str:
    parts = ((trimmed.dropped_low, "below"), (trimmed.dropped_high, "above"))
    dropped = " and ".join(f"{count} {where}" for count, where in parts if count)
    if not dropped:
        return f"none, by {plain_line(trimmed.mode)}"
    return f"{dropped}, by {plain_line(trimmed.mode)}; only the mean without outliers excludes them"


def _noise(found: BetweenLaunches) -> Iterator[tuple[str, str]]:
    ratios = ((found.between_ratio, "between launches"), (found.within_ratio, "within a launch"))
    parts = [f"{format_percent(ratio)} {where}" for ratio, where in ratios if ratio is not None]
    share, times = found.intraclass_correlation, found.understatement
    if share is not None:
        parts.append(f"{format_percent(share)} of the variance lies between launches")
    if times is not None and times >= _UNDERSTATEMENT:
        parts.append(f"pooling all samples understates the error by a factor of {times:.1f}")
    if parts:
        yield "variation", "; ".join(parts)
    if found.trend_p is not None and found.mean.n >= _LEAST_TREND:
        drift = (
            "the launches drift in the order of measurement"
            if found.trend_p <= _TREND_P
            else "no drift was found in the order of measurement"
        )
        yield "order", f"{drift} (p {words.probability(found.trend_p)})"


def _within(found: WithinLaunch) -> str:
    neighbors = f"neighboring samples of a launch correlate by {found.lag_one:.2f}"
    worth = round(found.effective_n)
    if worth >= found.samples:
        return neighbors
    return f"{neighbors}, so {found.samples} are worth at most {worth} independent ones"


def _reach(found: Reach, launches: int) -> str:
    alpha = f"alpha {format_percent(found.alpha)}"
    if found.detectable_ratio is None:
        seen = f"nothing: {launches} against {launches} launches are too few for {alpha}"
    else:
        # This is the power for a known spread; for one estimated from so few launches it is lower.
        change = words.least_change(found.detectable_ratio)
        seen = f"usually {change} from one such run to another, at {alpha}"
    needed = ", ".join(
        f"{_MORE if n.launches is None else n.launches} for {format_percent(n.change_ratio)}"
        for n in found.needed
    )
    return f"{seen}; launches needed in each: {needed}"


def _warmup(found: Warmup) -> str:
    curve = sparkline(found.curve[:_CURVE_SHOWN])
    if curve and len(found.curve) > _CURVE_SHOWN:
        curve += ".."
    return f"{curve} {_settling(found)}".lstrip()


def _settling(found: Warmup) -> str:
    one = found.launches == 1
    if found.settled_at is None:
        return "it does not settle" if one else f"none of {found.launches} launches settles"
    who = "it settles" if one else f"{found.settled} of {found.launches} launches settle, mostly"
    kept = found.settled_at - found.discarded
    place = "with the first sample" if kept <= 0 else f"at sample {kept + 1}"
    after = counted(found.discarded, "discarded one")
    return f"{who} {place}" + (f" after {after}" if found.discarded else "")


def _timer(ratio: float) -> str:
    shown = format_percent(max(ratio, _TIMER_SHOWN))
    share = f"less than {shown}" if ratio < _TIMER_SHOWN else shown
    raise_loops = ": raise `number`" if ratio > _TIMER_RATIO else ""
    return f"reading the clock takes {share} of a sample{raise_loops}"


def _lane(series: SeriesStatistics, lane: LaneStatistics) -> str:
    where = "alone" if lane.lane is None else f"lane {lane.lane}"
    parts = [f"{counted(lane.launches, 'launch')} of {words.series_value(series, lane.p25)} (p25)"]
    if lane.spread_ratio is not None:
        parts.append(f"{format_percent(lane.spread_ratio)} between them")
    if lane.pair_spread_ratio is not None:
        spread = format_percent(lane.pair_spread_ratio)
        parts.append(f"head / base varies by {spread} from round to round")
    return f"{where}: {', '.join(parts)}"


def _interval_title(detail: SeriesDetail) -> str:
    found = [q.interval for q in detail.quantiles if q.interval]
    return f"{format_percent(found[0].confidence)} interval" if found else "interval"


def _ends(series: SeriesStatistics, interval: Interval | None) -> str:
    if interval is None:
        return ""
    return words.ends(*(words.series_value(series, end) for end in (interval.low, interval.high)))
