"""Prints the statistics of steps under load."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.escape import BLOCKS, plain_line
from benchgate.model.load import Loop
from benchgate.model.metrics import ERROR_RATIO
from benchgate.report import words
from benchgate.report.terminal import (
    Column,
    Line,
    print_columns,
    print_facts,
    print_text,
)
from benchgate.units import counted, format_duration, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from benchgate.interval import Interval
    from benchgate.model.statistics import (
        LaunchCourse,
        LoadDetail,
        LoadMetric,
        LoadStatistics,
    )


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
