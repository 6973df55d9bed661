"""Turns the rows of a benchmark into strings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.report import words
from benchgate.report.comparison import view_comparison
from benchgate.report.drawing import Span, draw_interval, span
from benchgate.report.escape import plain_block, plain_line
from benchgate.report.sparkline import course_title, draw_course
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.model.verdict import GateSettings, Row
    from benchgate.report.comparison import ComparisonView
    from benchgate.report.footnotes import Footnote


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the verdict as strings; "" if something does not apply.

    Attributes:
        statistic: in plain words, after the metric unless that is the time: "typical (p25)".
        change, interval: signed, head relative to base, as measured.
        direction: whether a change that was shown is good: "slower".
        drawing: the interval and the change against the margin.
        span: the same for those who can draw lines; None if there is no drawing.
        course: the values of earlier runs, then of this run.
        course_title: what it shows: "9 earlier runs, base, head".
        p: adjusted for the number of rows, except under the classical rule.
        rounds: launches per arm, "10 v 5" if they differ.
        decides: whether the metric decides; else the row only shows it.
        fails: whether the outcome keeps the suite from passing.
        note: what a reader needs to know, in words.
        error: the tail of a failed benchmark's output, several lines.
        medians, test, p_raw, detectable, classical: for those who want to check the decision.
        detail: all other estimates and tests, if they were requested.
    """

    outcome: Outcome
    benchmark: str
    decides: bool
    fails: bool
    statistic: str
    base: str
    head: str
    change: str
    direction: str
    interval: str
    drawing: str
    course: str
    course_title: str
    p: str
    rounds: str
    tier: str
    note: str
    error: str
    location: str
    medians: str
    test: str
    p_raw: str
    detectable: str
    classical: str
    span: Span | None = None
    detail: ComparisonView | None = None

    @property
    def values(self) -> str:
        """Base and head: "12.30 ms to 14.10 ms"; once if they are equal or one is known, or "".

        Of a limit, the head and the limit: "23.00 ms (limit 20.00 ms)".
        """
        if self.test == "limit" and self.base and self.head:
            return f"{self.head} (limit {self.base})"
        return " to ".join(dict.fromkeys(filter(None, (self.base, self.head))))

    @property
    def measured(self) -> str:
        """What was measured: "typical (p25): 12.30 ms to 14.10 ms"; "" if nothing was."""
        return ": ".join(filter(None, (self.statistic, self.values))) if self.values else ""

    def compared(self, interval_title: str) -> str:
        """Both sides: "+14.6 % (95 % interval +12.3 to +16.9 %), 12.30 ms to 14.10 ms"; or ""."""
        interval = f" ({interval_title} {self.interval})" if self.interval else ""
        change = f"{self.change}{interval}" if self.change else ""
        return ", ".join(filter(None, (change, self.values)))


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """A benchmark and its rows.

    Attributes:
        first: the row that stands for the benchmark.
        note: what a reader needs to know of it; marks stand for what footnotes say.
        others: its other rows, each with its own note and marks.
        footnotes: marks of the notes that it shares with other benchmarks.
    """

    first: RowView
    note: str
    others: tuple[tuple[RowView, str], ...] = ()
    footnotes: tuple[str, ...] = ()

    @property
    def about_others(self) -> tuple[str, ...]:
        """A line for each other row: "tail (p95): not settled, +1.2 % (-1.1 to +3.5 %)"."""
        return tuple(_about(row, note, self.first.outcome) for row, note in self.others)

    @property
    def rows(self) -> tuple[RowView, ...]:
        """All its rows."""
        return (self.first, *(row for row, _ in self.others))


def _about(row: RowView, note: str, outcome: Outcome) -> str:
    """A row in one line; its outcome only if it is not this one."""
    change = f"{row.change} ({row.interval})" if row.change and row.interval else row.change
    own = row.outcome.value if row.decides and row.outcome is not outcome else ""
    said = ", ".join(filter(None, (own, change, row.values)))
    titled = ": ".join(filter(None, (row.statistic, said)))
    return (" " if note.startswith("[") else "; ").join(filter(None, (titled, note)))


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of the output of benchmarks that failed alike.

    Attributes:
        title: which ones failed: "db/insert (benchmarks/bench_db.py:10) failed".
        benchmarks: their ids.
    """

    title: str
    benchmarks: tuple[str, ...]
    output: str


def view_benchmark(
    rows: Sequence[Row],
    settings: GateSettings,
    notes: Mapping[Row, Sequence[str]],
    shared: Mapping[str, Footnote],
) -> BenchmarkView:
    """A benchmark as strings.

    Args:
        rows: the one that stands for the benchmark first.
        notes: of each row.
        shared: the notes that other benchmarks have, too.
    """
    first, *others = rows
    known = notes[first]
    marks = dict.fromkeys(shared[x].mark for row in rows for x in notes[row] if x in shared)

    def own(row: Row, said: Collection[str] = ()) -> str:
        new = [text for text in notes[row] if text not in said]
        text = "; ".join(text for text in new if text not in shared)
        return " ".join(filter(None, (text, *(shared[x].mark for x in new if x in shared))))

    view = partial(_row, settings=settings)
    return BenchmarkView(
        view(first, notes[first]),
        own(first),
        tuple((view(row, notes[row]), own(row, known)) for row in others),
        tuple(marks),
    )


def _row(row: Row, notes: Iterable[str], settings: GateSettings) -> RowView:
    base, head = words.sides(row)
    course = draw_course(row)
    return RowView(
        outcome=row.outcome,
        benchmark=words.name(row),
        decides=row.decides,
        fails=settings.fails(row),
        statistic=words.statistic(row),
        base=base,
        head=head,
        change=words.change(row),
        direction=words.direction(row),
        interval=words.interval(row),
        drawing=draw_interval(row),
        course=course,
        course_title=course_title(row) if course else "",
        p=words.deciding_p(row),
        rounds=words.rounds(row),
        tier=words.TIERS[row.tier] if row.tier else "",
        note="; ".join(notes),
        error=plain_block(row.error or ""),
        location=plain_line(row.location or ""),
        medians=words.medians(row),
        test=plain_line(row.test or ""),
        p_raw=words.probability(row.p),
        detectable=words.detectable(row),
        classical=words.classical(row),
        span=span(row),
        detail=view_comparison(row, row.detail) if row.detail else None,
    )


def view_failures(benchmarks: Iterable[BenchmarkView]) -> tuple[Failure, ...]:
    """The outputs of these benchmarks, equal ones once."""
    alike: dict[tuple[str, bool], list[RowView]] = {}
    for row in (row for one in benchmarks for row in one.rows if row.error):
        alike.setdefault((row.error, row.outcome is Outcome.BASE_FAILED), []).append(row)
    return tuple(
        Failure(_which_failed(some, on_base=on_base), tuple(row.benchmark for row in some), output)
        for (output, on_base), some in alike.items()
    )


def _which_failed(rows: Sequence[RowView], *, on_base: bool) -> str:
    where = " on the base" if on_base else ""
    first, *others = rows
    if others:
        more = f"{first.benchmark} and {counted(len(others), 'other benchmark')}"
        return f"{more} failed{where} with the same output"
    place = f" ({first.location})" if first.location else ""
    return f"{first.benchmark}{place} failed{where}"
