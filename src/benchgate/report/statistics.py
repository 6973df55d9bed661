"""Prints the statistics of a result, on a terminal or as plain lines in a pipe."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.escape import BLOCKS, plain_block, plain_line
from benchgate.model.load import Loop
from benchgate.model.notes import machine, values
from benchgate.model.run import ERROR_RATIO, Kind
from benchgate.report import words
from benchgate.report.drawing import sparkline
from benchgate.report.terminal import (
    Column,
    Line,
    print_columns,
    print_facts,
    print_text,
    render_timing,
)
from benchgate.report.view import shared_notes
from benchgate.units import counted, format_change, format_duration, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from benchgate.interval import Interval
    from benchgate.model.statistics import (
        BetweenLaunches,
        Grid,
        GridPair,
        LaneStatistics,
        LaunchCourse,
        LoadDetail,
        LoadMetric,
        LoadStatistics,
        Mean,
        Reach,
        ResultStatistics,
        RunStatistics,
        SeriesDetail,
        SeriesStatistics,
        Warmup,
        WithinLaunch,
        WithoutOutliers,
    )
    from benchgate.report.view import Footnote


_NOTHING = "."
_COURSE_SHOWN = 40
_METRICS = (
    Column("over the launches", name=True),
    Column("n", right=True, drop=2),
    Column("mean", right=True),
    Column("sd", right=True, drop=5),
    Column("CV", right=True),
    Column("95 % interval", right=True),
    Column("method", drop=1),
    Column("min", right=True, drop=3),
    Column("max", right=True, drop=3),
)
_PERCENTILES = (Column("of all operations", name=True), Column("latency", right=True))
_COURSES = (
    Column("round", right=True),
    Column("ops", right=True),
    Column("errors", right=True),
    Column("p50", right=True),
    Column("p95", right=True, drop=2),
    Column("p99", right=True),
    Column("max", right=True, drop=1),
    Column("over time", name=True),
)
_LOOPS = {
    Loop.CLOSED: "closed loop: latencies are service times",
    Loop.OPEN: "open loop: latencies begin when an operation is due",
}


def print_load(console: Console, load: LoadStatistics) -> None:
    print_text(console, Text(f"{plain_line(load.benchmark)}, under load", "bold"))
    print_text(console, _what(load))
    print_text(console, _load_size(load))
    if load.metrics:
        console.print()
        print_columns(console, _METRICS, [_metric(metric) for metric in load.metrics])
    if load.detail:
        _print_detail(console, load.detail)
    facts = list(_load_facts(load))
    if facts:
        console.print()
        print_facts(console, facts)


def _what(load: LoadStatistics) -> str:
    rate = f", {format_value(load.rate, '1/s')} due" if load.loop is Loop.OPEN else ""
    target = f"target {plain_line(load.target)}"
    return f"{target}, {counted(load.workers, 'worker')}{rate}; {_LOOPS[load.loop]}"


def _load_size(load: LoadStatistics) -> str:
    size = f"{counted(load.launches, 'launch')} x {format_duration(load.duration_s)}"
    return f"{size}: {load.ops:,} operations, {counted(load.errors, 'error')}"


def _metric(of: LoadMetric) -> Line:
    mean = of.mean
    return Line(
        (
            plain_line(of.metric),
            str(mean.n),
            _value(of, mean.mean),
            "" if mean.sd is None else _value(of, mean.sd),
            "" if mean.cv is None else format_percent(mean.cv),
            _load_ends(of, mean.interval),
            mean.interval.method if mean.interval else "",
            _value(of, of.least),
            _value(of, of.greatest),
        )
    )


def _value(of: LoadMetric, number: float) -> str:
    if not of.unit and of.metric != ERROR_RATIO.name:
        return f"{number:,.0f}"
    return words.metric_value(of.metric, of.unit, number)


def _load_ends(of: LoadMetric, interval: Interval | None) -> str:
    if interval is None:
        return ""
    return words.ends(_value(of, interval.low), _value(of, interval.high))


def _load_facts(load: LoadStatistics) -> Iterator[tuple[str, str]]:
    if load.empty_windows and load.window_s:
        many = f"{load.empty_windows} of {load.windows}"
        yield "stalls", f"no operation ended in {many} windows of {load.window_s:g} s"
    if load.error_texts:
        said = (f"{plain_line(one.text)} ({one.count})" for one in load.error_texts)
        yield "errors", "; ".join(said)
    if load.server:
        said = (f"{plain_line(name)} {plain_line(text)}" for name, text in load.server.items())
        yield "server", ", ".join(said)
    if load.detail and load.detail.courses:
        yield "generator", _generator(load.detail.courses)
    for note in load.notes:
        yield "note", plain_line(note)


def _generator(courses: Sequence[LaunchCourse]) -> str:
    busy = max(course.generator_cpu_ratio for course in courses)
    spread_s = max(course.start_spread_s for course in courses)
    late = [course.late_p99_s for course in courses if course.late_p99_s is not None]
    parts = [
        f"its busiest process used {format_percent(busy)} of a CPU",
        f"all workers started within {format_value(spread_s, 's')}",
    ]
    if late:
        parts.append(f"99 % of operations began at most {format_value(max(late), 's')} late")
    turns = [course.turn_s for course in courses if course.turn_s is not None]
    if turns:
        took = format_value(median(turns), "s")
        parts.append(
            f"base and head took turns of {took} in {len(turns)} of {len(courses)} launches"
        )
    return "; ".join(parts)


def _print_detail(console: Console, detail: LoadDetail) -> None:
    lines = [Line((one.name, format_value(one.value_s, "s"))) for one in detail.percentiles]
    for name, value in (("mean", detail.mean_s), ("sd", detail.sd_s)):
        if value is not None:
            lines.append(Line((name, format_value(value, "s"))))
    if lines:
        console.print()
        print_columns(console, _PERCENTILES, lines)
    if detail.courses:
        console.print()
        print_columns(console, _COURSES, [_course(course) for course in detail.courses])


def _course(course: LaunchCourse) -> Line:
    latencies = (course.p50_s, course.p95_s, course.p99_s, course.max_s)
    return Line(
        (
            str(course.round),
            f"{course.ops:,}",
            str(course.errors),
            *("" if value is None else format_value(value, "s") for value in latencies),
            drawn(course.window_ops) if len(course.window_ops) > 1 else "",
        )
    )


def drawn(counts: Sequence[int]) -> str:
    """Counts over time as blocks from 0 to the greatest; a dot where there is nothing."""
    width = -(-len(counts) // _COURSE_SHOWN) or 1
    bins = [sum(counts[i : i + width]) / width for i in range(0, len(counts) - width + 1, width)]
    most = max(bins, default=0)
    last = len(BLOCKS) - 1
    return "".join(BLOCKS[round(one / most * last)] if one else _NOTHING for one in bins)


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


_COLUMNS = (
    Column("benchmark", name=True),
    Column("metric"),
    Column("launches", right=True, drop=3),
    Column("loops", right=True, drop=1),
    Column("typical (p25)", right=True),
    Column("median", right=True),
    Column("tail (p95)", right=True, drop=6),
    Column("p99", right=True, drop=5),
    Column("p99.9", right=True, drop=4),
    Column("spread", right=True, drop=2),
)
LEGEND = (
    "launches: processes x samples in each; loops: operations in one sample; "
    "spread: between launches, as a share of the median"
)

_DETAIL_LEGEND = (
    "a launch is a process; sd: standard deviation; CV: sd / mean; SEM: standard error of a mean; "
    "the interval of the mean of all samples assumes that they are independent: trust the row of "
    "the launches; docs/statistics.md explains every number"
)

_LOAD_LEGEND = (
    "a launch is a run of the load generator, and one value; sd: standard deviation; CV: sd / "
    "mean; the mean is geometric where all values are above 0"
)

_NOTE_LIMIT = 1000
_ALPHA = 0.05
# The number of pairs grows with the square of the cells; a pipe gets all of them, for grep.
_PAIRS_SHOWN = 20
_CELLS = (
    Column("parameters", name=True),
    Column("launches", right=True, drop=1),
    Column("typical (p25)", right=True),
    Column("vs. the first", right=True),
)
_PAIRS = (
    Column("no difference found", name=True),
    Column("change", right=True),
    Column("p adjusted", right=True),
)


def render_result(result: ResultStatistics, console: Console) -> None:
    """Print every benchmark and metric of a result file."""
    for warning in result.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), plain_line(warning, 1000)))
    of_loads = (one.notes for run in result.runs for one in run.loads)
    of_series = (one.notes for run in result.runs for one in run.series)
    shared = shared_notes([*of_loads, *of_series], "row")
    for run in result.runs:
        _print_run(console, _marked(run, shared))
        console.print()
    for note in shared.values():
        text = f"{note.mark} {note.about}: {plain_line(note.text, _NOTE_LIMIT)}"
        print_text(console, Text(text, "dim"))
    if shared:
        console.print()
    if result.phases:
        render_timing(result.phases, console)
        console.print()
    took = f"measured in {format_duration(result.duration_s)}"
    print_text(console, Text(f"{_legend(result)}; {took}.", "dim"))


def _marked(run: RunStatistics, shared: Mapping[str, Footnote]) -> RunStatistics:
    """The same with marks in place of the notes that several rows share."""

    def marked(notes: Iterable[str]) -> tuple[str, ...]:
        return tuple(shared[text].mark if text in shared else text for text in notes)

    return replace(
        run,
        loads=tuple(replace(one, notes=marked(one.notes)) for one in run.loads),
        series=tuple(replace(one, notes=marked(one.notes)) for one in run.series),
    )


def _legend(result: ResultStatistics) -> str:
    """Explain the columns that were printed."""
    under_load = {(run.arm, load.benchmark) for run in result.runs for load in run.loads}
    others = [
        series
        for run in result.runs
        for series in run.series
        if (run.arm, series.benchmark) not in under_load
    ]
    if not others:
        return _LOAD_LEGEND
    return _DETAIL_LEGEND if any(series.detail for series in others) else LEGEND


def _print_run(console: Console, run: RunStatistics) -> None:
    title = f"{plain_line(run.arm)} {words.source(run.source)}, started {plain_line(run.started)}"
    print_text(console, Text(title, "bold"))
    if where := machine(run.environment):
        print_text(console, where)
    if not run.complete:
        print_text(
            console, Text("interrupted: only a part of what was planned was measured", "yellow")
        )
    under_load = {load.benchmark for load in run.loads}
    others = [series for series in run.series if series.benchmark not in under_load]
    for load in run.loads:
        console.print()
        print_load(console, load)
    for series in others:
        if series.detail and series.kind is Kind.SAMPLED:
            console.print()
            print_detail(console, series, series.detail)
    short = [s for s in others if s.detail is None or s.kind is not Kind.SAMPLED]
    if short:
        console.print()
        print_columns(console, _COLUMNS, [_line(series) for series in short])
    for grid in run.grids:
        console.print()
        print_grid(console, grid)
    for failure in run.failures:
        console.print()
        print_text(console, Text(f"{plain_line(failure.benchmark)} crashed:", "bold red"))
        for line in plain_block(failure.error).splitlines():
            print_text(console, line, indent=4)


def series_cells(series: SeriesStatistics) -> tuple[str, ...]:
    """Benchmark, metric, launches, loops, typical, median, tail and spread; "" if unknown."""
    return (
        plain_line(series.benchmark),
        plain_line(series.metric),
        f"{series.launches} x {series.samples}",
        str(series.loops),
        words.series_value(series, series.p25),
        words.series_value(series, series.median),
        _tail(series, series.p95),
        "" if series.spread_ratio is None else format_percent(series.spread_ratio),
    )


def _line(series: SeriesStatistics) -> Line:
    *cells, spread = series_cells(series)
    tails = (_tail(series, series.p99), _tail(series, series.p999))
    return Line((*cells, *tails, spread), note="; ".join(map(plain_line, series.notes)))


def _tail(series: SeriesStatistics, value: float | None) -> str:
    return "" if value is None else words.series_value(series, value)


def print_grid(console: Console, grid: Grid) -> None:
    """Print one metric of a benchmark with parameters."""
    title = f"{plain_line(grid.benchmark)}, {plain_line(grid.metric)}, by its parameters"
    print_text(console, Text(title, "bold"))
    first = grid.cells[0].median
    medians = values(grid, [cell.median for cell in grid.cells])
    cells = [
        Line(
            (
                plain_line(cell.label),
                str(cell.launches),
                shown,
                format_change(cell.median / first) if index and first else "",
            )
        )
        for index, (cell, shown) in enumerate(zip(grid.cells, medians, strict=True))
    ]
    print_columns(console, _CELLS, cells)
    console.print()
    print_facts(console, [("test", _test(grid)), *(("note", plain_line(n)) for n in grid.notes)])
    alike = [pair for pair in grid.pairs if pair.p_adjusted > _ALPHA]
    if _p(grid) <= _ALPHA and 0 < len(alike) < len(grid.pairs):
        _print_alike(console, alike)


def _print_alike(console: Console, pairs: Sequence[GridPair]) -> None:
    """Print the pairs for which no difference is found, although the parameters matter."""
    shown = pairs[:_PAIRS_SHOWN] if console.is_terminal else pairs
    lines = [
        Line(
            (
                f"{plain_line(pair.first)} and {plain_line(pair.second)}",
                format_change(pair.ratio) if pair.ratio else "",
                words.probability(pair.p_adjusted),
            )
        )
        for pair in shown
    ]
    console.print()
    print_columns(console, _PAIRS, lines)
    if len(shown) < len(pairs):
        more = counted(len(pairs) - len(shown), "more pair")
        print_text(console, f"and {more}")


def _test(grid: Grid) -> str:
    found = f"Kruskal-Wallis H {grid.h:.1f}, df {grid.df}, p {words.probability(grid.p)}"
    if _is_pair(grid):
        found = f"Mann-Whitney p {words.probability(_p(grid))}; {found}"
    if _p(grid) > _ALPHA:
        return f"no effect of the parameters was found ({found})"
    if len(grid.pairs) < 2:
        return f"the parameters matter ({found})"
    differ = sum(pair.p_adjusted <= _ALPHA for pair in grid.pairs)
    pairs = f"{differ} of {len(grid.pairs)} pairs differ (Mann-Whitney, adjusted by Holm)"
    return f"the parameters matter ({found}); {pairs}"


def _p(grid: Grid) -> float:
    """The p that decides: a single pair's own test, which is exact for few launches."""
    return grid.pairs[0].p if _is_pair(grid) else grid.p


def _is_pair(grid: Grid) -> bool:
    return len(grid.pairs) == 1
