"""Turns the rows of a benchmark, and failures, into strings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.errors import without_it
from benchgate.escape import plain_block, plain_line
from benchgate.model.metrics import INSTRUCTIONS
from benchgate.model.notes import change, sides
from benchgate.model.policy import Outcome
from benchgate.model.row_order import WRONG
from benchgate.report import estimates, words
from benchgate.report.causes import (
    function_titles,
    sentences,
    view_cause,
    view_functions,
)
from benchgate.report.columns import EVIDENCE
from benchgate.report.drawing import course_title, draw_course
from benchgate.report.headline import is_exactly_worse
from benchgate.report.row_detail import view_comparison
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from benchgate.model.row import Row
    from benchgate.model.verdict import GateSettings
    from benchgate.report.causes import CauseView, FunctionView
    from benchgate.report.row_detail import ComparisonView


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the verdict as strings; "" if something does not apply.

    Attributes:
        word: what the outcome is called: "slower".
        statistic: in plain words, after the metric unless that is the time: "typical (p25)".
        about: the same, but "" for the typical time, which people expect.
        change, interval: signed, head relative to base, as measured.
        course: the values of earlier runs, then of this run.
        course_title: what it shows: "9 earlier runs, base, head".
        decides: whether the metric decides; else the row only shows it.
        fails: whether the outcome keeps the suite from passing.
        note: what a reader needs to know, in words.
        error: the tail of a failed benchmark's output, several lines.
        evidence: for those who want to check the decision: a cell for each of `EVIDENCE`.
        is_limit: whether the head was compared with a limit, which is the base then.
        is_edited: whether the benchmark changed together with the code.
        cause: where to look first for what changed it; `causes` are the sentences of all, and
            `functions` those whose calls or amounts differ most.
        detail: all other estimates and tests, if they were requested.
    """

    outcome: Outcome
    icon: str
    word: str
    benchmark: str
    decides: bool
    fails: bool
    statistic: str
    about: str
    base: str
    head: str
    change: str
    interval: str
    course: str
    course_title: str
    note: str
    error: str
    location: str
    evidence: tuple[str, ...]
    is_limit: bool = False
    is_edited: bool = False
    detail: ComparisonView | None = None
    cause: CauseView | None = None
    causes: tuple[str, ...] = ()
    functions: tuple[FunctionView, ...] = ()
    function_titles: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """Base and head: "12.30 → 14.10 ms"; once if they are equal or one is known, or "".

        Of a limit, the head and the limit: "23.00 ms (limit 20.00 ms)".
        """
        if self.is_limit and self.base and self.head:
            return f"{self.head} (limit {self.base})"
        return words.from_to(self.base, self.head)

    @property
    def measured(self) -> str:
        """What was measured: "tail (p95): 12.30 → 14.10 ms"; "" if nothing was."""
        return ": ".join(filter(None, (self.about, self.values))) if self.values else ""

    def compared(self, interval_title: str) -> str:
        """Both sides: "+14.6 % (95 % interval +12.3 to +16.9 %), 12.30 → 14.10 ms"; or ""."""
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
        told: those of them that a reader must know of: what they found is not what `first` says.
    """

    first: RowView
    note: str
    others: tuple[tuple[RowView, str], ...] = ()
    told: tuple[tuple[RowView, str], ...] = ()

    @property
    def about_others(self) -> tuple[str, ...]:
        """A line for each row that is told: "tail (p95): slower, +8.2 % (+5.1 to +11.5 %)"."""
        return tuple(_about(row, note, self.first.outcome) for row, note in self.told)

    @property
    def rows(self) -> tuple[RowView, ...]:
        return (self.first, *(row for row, _ in self.others))


def _about(row: RowView, note: str, outcome: Outcome) -> str:
    """A row in one line; its outcome only if it is not this one."""
    change = f"{row.change} ({row.interval})" if row.change and row.interval else row.change
    own = row.word if row.decides and row.outcome is not outcome else ""
    said = ", ".join(filter(None, (own, change, row.values)))
    titled = ": ".join(filter(None, (row.statistic, said)))
    return (" " if note.startswith("[") else "; ").join(filter(None, (titled, note)))


@dataclass(frozen=True, slots=True)
class TogetherView:
    """Benchmarks that changed together, as one line.

    Attributes:
        title: which ones, as a sentence in which `...` is code: "all 10 `parser/*`".
        first: the row that stands for them.
        change: from the least to the greatest: "+13.4 to +14.9 %".
        note: what all of them have in common; "" if nothing.
    """

    title: str
    first: RowView
    change: str
    note: str
    members: tuple[BenchmarkView, ...]


@dataclass(frozen=True, slots=True)
class FailureView:
    """The end of the output of benchmarks that failed alike.

    Attributes:
        title: which ones crashed: "db/insert (benchmarks/bench_db.py:10) crashed".
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
    warn: Callable[[str], None],
) -> BenchmarkView:
    """A benchmark as strings.

    Args:
        rows: the one that stands for the benchmark first.
        notes: of each row.
        shared: the notes that other benchmarks have, too.
        warn: is told of what cannot be shown.
    """
    first, *others = rows
    known = notes[first]

    def own(row: Row, said: Collection[str] = ()) -> str:
        new = [text for text in notes[row] if text not in said]
        text = "; ".join(text for text in new if text not in shared)
        return " ".join(filter(None, (text, *(shared[x].mark for x in new if x in shared))))

    view = partial(_row, settings=settings, warn=warn)
    seen = [(row, (view(row, notes[row]), own(row, known))) for row in others]
    return BenchmarkView(
        view(first, notes[first]),
        own(first),
        tuple(both for _, both in seen),
        tuple(both for row, both in seen if _is_told(row, first)),
    )


_CHANGED: Final = WRONG | {Outcome.IMPROVED, Outcome.WAIVED}


def _is_told(row: Row, first: Row) -> bool:
    """Whether a row says what the one that stands for its benchmark does not say."""
    if not row.decides:
        return is_exactly_worse(row) or row.metric == INSTRUCTIONS.name
    is_other = row.outcome is not first.outcome or row.metric != first.metric
    return bool(row.unconfirmed) or (is_other and (row.is_typical or row.outcome in _CHANGED))


def _row(
    row: Row, notes: Iterable[str], settings: GateSettings, warn: Callable[[str], None]
) -> RowView:
    base, head = sides(row)
    course = without_it("sparkline", partial(draw_course, row), "", warn)
    cause, causes, functions = without_it(
        "cause",
        lambda: (view_cause(row), sentences(row), view_functions(row)),
        (None, (), ()),
        warn,
    )
    statistic = words.statistic(row)
    return RowView(
        outcome=row.outcome,
        icon=words.icon(row),
        word=words.outcome(row),
        benchmark=words.name(row),
        decides=row.decides,
        fails=settings.fails(row),
        statistic=statistic,
        about="" if statistic in words.TYPICAL else statistic,
        base=base,
        head=head,
        change=change(row),
        interval=estimates.interval(row),
        course=course,
        course_title=course_title(row) if course else "",
        note="; ".join(notes),
        error=plain_block(row.error or ""),
        location=plain_line(row.location or ""),
        evidence=tuple(column.text(row) for column in EVIDENCE),
        is_limit=row.is_limit,
        is_edited=row.changed_together,
        detail=view_comparison(row, row.detail) if row.detail else None,
        cause=cause,
        causes=causes,
        functions=functions,
        function_titles=function_titles(row) if row.explanation else (),
    )


def view_failures(benchmarks: Iterable[BenchmarkView]) -> tuple[FailureView, ...]:
    """The outputs of these benchmarks, equal ones once."""
    alike: dict[tuple[str, str], list[RowView]] = {}
    for row in (row for one in benchmarks for row in one.rows if row.error):
        alike.setdefault((row.error, row.word), []).append(row)
    return tuple(
        FailureView(_which_failed(some), tuple(row.benchmark for row in some), output)
        for (output, _), some in alike.items()
    )


def _which_failed(rows: Sequence[RowView]) -> str:
    first, *others = rows
    what = "crashed" if first.outcome is Outcome.NEW else first.word
    if others:
        more = f"{first.benchmark} and {counted(len(others), 'other benchmark')}"
        return f"{more} {what} with the same output"
    place = f" ({first.location})" if first.location else ""
    return f"{first.benchmark}{place} {what}"


@dataclass(frozen=True, slots=True)
class Footnote:
    """A note of several benchmarks, or rows.

    Attributes:
        mark: stands beside the benchmarks: "[1]".
        about: how many benchmarks have it: "10 benchmarks".
    """

    mark: str
    text: str
    about: str
