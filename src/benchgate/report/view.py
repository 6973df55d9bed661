"""Turns a verdict into strings: every renderer takes them and computes nothing.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.errors import without_it
from benchgate.escape import plain_block, plain_line
from benchgate.model.notes import change, sides
from benchgate.model.policy import Outcome
from benchgate.model.redact import redacted
from benchgate.model.result import by_reason
from benchgate.model.run import INSTRUCTIONS, MOST_CHANGED
from benchgate.model.verdict import NO_BASELINE, WRONG, Decision, Reason
from benchgate.report import words
from benchgate.report.arrangement import Together, arrange, first_row
from benchgate.report.causes import (
    function_titles,
    sentences,
    view_cause,
    view_causes,
    view_functions,
)
from benchgate.report.columns import EVIDENCE
from benchgate.report.drawing import course_title, draw_course
from benchgate.report.headline import bare, heading, is_exactly_worse, last_line
from benchgate.report.next_steps import choose, waivers
from benchgate.report.row_detail import view_comparison
from benchgate.report.words import notes_of, view_loosening
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from benchgate.model.result import SkippedResult
    from benchgate.model.verdict import GateSettings, Row, Verdict
    from benchgate.report.arrangement import Line
    from benchgate.report.causes import CauseView, FunctionView
    from benchgate.report.row_detail import ComparisonView
    from benchgate.report.words import LooseningView


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
        interval=words.interval(row),
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


# A shorter note is read faster than a number that stands for it.
_SHORT: Final = 40


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


def shared_notes(notes: Iterable[Iterable[str]], noun: str = "benchmark") -> Mapping[str, Footnote]:
    """Number the long notes that more than one benchmark has, in the order of their appearance.

    Args:
        notes: of each benchmark.
        noun: what has them, if it is not a benchmark.
    """
    counts = Counter(text for each in notes for text in dict.fromkeys(each))
    several = [text for text, count in counts.items() if count > 1 and len(text) > _SHORT]
    return {
        text: Footnote(f"[{number}]", text, counted(counts[text], noun))
        for number, text in enumerate(several, start=1)
    }


_DOCS: Final = "https://github.com/benchgate/benchgate/blob/main/docs"
_LOCATION: Final = re.compile(r"(?P<file>[^:]+):(?P<line>[1-9]\d{0,6})")


@dataclass(frozen=True, slots=True)
class Links:
    """Where to read more; all from GitHub itself, none from a result.

    Attributes:
        run: the run that measured.
        compare: the difference between base and head.
        tree: the files of the head, without a slash at the end.
        page: where the report is found as a page of HTML, with figures.
    """

    run: str = ""
    compare: str = ""
    tree: str = ""
    page: str = ""

    @property
    def guide(self) -> str:
        """The page that explains a report."""
        return f"{_DOCS}/reading-a-verdict.md" if self.run else ""

    @property
    def columns(self) -> str:
        """The part of it that explains the table of all benchmarks."""
        return f"{self.guide}#how-each-row-was-decided" if self.run else ""

    @property
    def waivers(self) -> str:
        """How somebody accepts a change for the worse."""
        return f"{_DOCS}/configuration.md#waive" if self.run else ""

    def changes(self, file: str) -> str:
        """What the change edits in a file."""
        anchor = hashlib.sha256(file.encode()).hexdigest()
        return f"{self.compare}#diff-{anchor}" if self.compare else ""

    def source(self, location: str) -> str:
        """The line at which a benchmark is defined.

        Args:
            location: `path:line`, relative to the tree; "" if it is not known.
        """
        match = _LOCATION.fullmatch(location)
        if match is None or not self.tree:
            return ""
        path = PurePosixPath(match["file"])
        if path.is_absolute() or ".." in path.parts:
            return ""
        return f"{self.tree}/{quote(str(path))}#L{match['line']}"


NAME_LIMIT: Final = 60
NO_LINKS: Final = Links()
_SECONDS: Final = len("2026-01-31T09:30:00")
_NAMES_REPEATED: Final = 3
_FILES_NAMED: Final = 3
_WELCOME: Final = "\N{WAVING HAND SIGN}"
_REPEATED: Final = frozenset(
    {Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT, Outcome.INCONCLUSIVE}
)


@dataclass(frozen=True, slots=True)
class Group:
    """Benchmarks that nobody has to look at, under one title."""

    title: str
    benchmarks: tuple[BenchmarkView, ...]


def _is_open(group: Group) -> bool:
    return group.benchmarks[0].first.outcome is not Outcome.UNCHANGED


@dataclass(frozen=True, slots=True)
class Alert:
    """What a reader must not miss.

    Attributes:
        kind: as GitHub calls it: "CAUTION", "IMPORTANT", "WARNING".
        lines: a sentence each, in which `...` is code.
    """

    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The whole verdict as strings.

    Attributes:
        exit_code: of the command that decided.
        headline: in words, no longer than a heading may be; in it and in `more`, `...` is code.
        more: what else the verdict says.
        is_first_run: whether there was nothing to compare with yet.
        interval_title: "95 % interval".
        shown: what fails, then what is missing, what got faster, and what needs a person.
        lines: the same; benchmarks that changed together are one line.
        footnotes: the notes that several benchmarks share.
        failures: the output of benchmarks that failed, equal ones once.
        repeat: the command that repeats the check on another machine; may have several lines.
        accept: the tables of a configuration that accept what fails; "" if that cannot be.
        causes: where to look for what made something worse, or else faster.
        changed_files: those that the change edits, if it made something worse.
        skipped: stored results that were not used, each with the reason.
        skipped_in_short: the same, with one entry for many of one reason.
        loosening: how the change loosens its own gate, for the reader's attention.
        base_commit, head_commit: what was compared; "" if unknown.
        uncommitted: whether the head had changes or new files that are in no commit.
        started: when measuring the head began, in UTC and without its zone; "" if unknown.
        duration_s: how many seconds building and measuring took, as a plain number.
        last_line: what was compared, on which machine, how long, and the false-alarm rate.
    """

    decision: Decision
    exit_code: int
    headline: str
    more: str
    is_first_run: bool
    interval_title: str
    shown: tuple[BenchmarkView, ...]
    lines: tuple[BenchmarkView | TogetherView, ...]
    folded: tuple[Group, ...]
    footnotes: tuple[Footnote, ...]
    failures: tuple[FailureView, ...]
    warnings: tuple[str, ...]
    repeat: str
    accept: str
    causes: tuple[CauseView, ...]
    changed_files: tuple[str, ...]
    base_commit: str
    head_commit: str
    uncommitted: bool
    started: str
    duration_s: str
    last_line: str
    skipped: tuple[tuple[str, str], ...] = ()
    skipped_in_short: tuple[tuple[str, str], ...] = ()
    loosening: tuple[LooseningView, ...] = ()
    links: Links = NO_LINKS

    @property
    def icon(self) -> str:
        """That of the decision; a first run is welcome."""
        return _WELCOME if self.is_first_run else words.DECISION_ICONS[self.decision]

    @property
    def consequence(self) -> str:
        """What it means that there is no verdict; "" if there is one."""
        if self.decision is not Decision.NO_VERDICT or self.is_first_run:
            return ""
        return "The check fails." if self.exit_code else "The check does not fail because of this."

    @property
    def sentence(self) -> str:
        """The verdict in words, whole, as plain text."""
        return bare("; ".join(filter(None, (self.headline, self.more))))

    @property
    def others(self) -> str:
        """How many benchmarks are not shown, by outcome: "3 unchanged within 2 %, 1 new"."""
        return ", ".join(group.title for group in sorted(self.folded, key=_is_open))

    @property
    def named_files(self) -> tuple[tuple[tuple[str, str], ...], str]:
        """The first of the changed files with the address of each; and what to say of the rest."""
        named = self.changed_files[:_FILES_NAMED]
        rest = len(self.changed_files) - len(named)
        least = "at least " if len(self.changed_files) == MOST_CHANGED else ""
        more = f" and {least}{counted(rest, 'more changed file')}" if rest else ""
        return tuple((file, self.links.changes(file)) for file in named), more

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """What must not be missed: a loosened gate, edited benchmarks, and all warnings."""
        loosened = (Alert("CAUTION", (f"{one.title}:", *one.changes)) for one in self.loosening)
        edited = [f"`{one.first.benchmark}`" for one in self.shown if one.first.is_edited]
        names = ", ".join(edited[:_NAMES_REPEATED])
        more = f" and {len(edited) - _NAMES_REPEATED} more" if len(edited) > _NAMES_REPEATED else ""
        measure = "measures" if len(edited) == 1 else "measure"
        told = (f"This change edits what {names}{more} {measure}: each side ran its own version.",)
        found = [*loosened, *([Alert("IMPORTANT", told)] if edited else [])]
        return (*found, *([Alert("WARNING", self.warnings)] if self.warnings else []))

    @property
    def benchmarks(self) -> tuple[BenchmarkView, ...]:
        """Every benchmark, those that are shown first."""
        return (*self.shown, *(one for group in self.folded for one in group.benchmarks))

    @property
    def rows(self) -> tuple[RowView, ...]:
        """Every row, those that are shown first."""
        return tuple(row for one in self.benchmarks for row in one.rows)

    @property
    def skipped_title(self) -> str:
        """How many stored results were not used."""
        return f"{counted(len(self.skipped), 'stored result')} left out"


def view_verdict(verdict: Verdict, links: Links = NO_LINKS) -> VerdictView:
    arranged = arrange(verdict)
    groups = (*arranged.shown, *(rows for group in arranged.folded for rows in group))
    notes = {row: notes_of(row, verdict.settings) for rows in groups for row in rows}
    shared = shared_notes([text for row in rows for text in notes[row]] for rows in groups)
    lost: list[str] = []
    view = partial(
        view_benchmark, settings=verdict.settings, notes=notes, shared=shared, warn=lost.append
    )
    first, more = heading(verdict)
    views = {rows[0].benchmark: view(rows) for rows in arranged.shown}
    shown = tuple(views.values())
    started = (verdict.started or "")[:_SECONDS]
    folded = tuple(Group(_title(group), tuple(map(view, group))) for group in arranged.folded)
    causes = without_it("cause", partial(view_causes, verdict.rows), (), lost.append)
    failing = [one for one in arranged.lines if verdict.settings.names(first_row(one))]
    return VerdictView(
        decision=verdict.decision,
        exit_code=verdict.exit_code,
        headline=first,
        more=more,
        is_first_run=verdict.reason is Reason.FIRST_RUN,
        interval_title=f"{format_percent(verdict.settings.confidence)} interval",
        shown=shown,
        lines=tuple(_line(one, views) for one in arranged.lines),
        folded=folded,
        footnotes=tuple(shared.values()),
        failures=view_failures(shown),
        warnings=tuple(
            plain_line(text, 1000) for text in dict.fromkeys((*verdict.warnings, *lost))
        ),
        repeat=_repeat(verdict, arranged.lines),
        accept=waivers(failing, started or str(datetime.now(UTC).date())),
        causes=causes,
        changed_files=_changed_files(verdict),
        base_commit=plain_line(verdict.base.sha or ""),
        head_commit=plain_line(verdict.head.sha or ""),
        uncommitted=verdict.head.uncommitted,
        started=started,
        duration_s=f"{verdict.duration_s:.3f}",
        last_line=last_line(verdict),
        loosening=view_loosening(verdict.policy_changes),
        skipped=_skipped(verdict.skipped),
        skipped_in_short=_skipped(by_reason(verdict.skipped)),
        links=links,
    )


def _line(line: Line, views: Mapping[str, BenchmarkView]) -> BenchmarkView | TogetherView:
    if not isinstance(line, Together):
        return views[line[0].benchmark]
    members = tuple(views[rows[0].benchmark] for rows in line.members)
    notes = {one.note for one in members}
    return TogetherView(
        line.title,
        members[0].first,
        words.change_span(*line.ratios),
        notes.pop() if len(notes) == 1 else "",
        members,
    )


def _repeat(verdict: Verdict, lines: Iterable[Line]) -> str:
    """The command that measures again what is wrong or open; "" if there is nothing to repeat."""
    ids = [
        line.name if isinstance(line, Together) else words.name(line[0])
        for line in lines
        if first_row(line).outcome in _REPEATED
    ]
    if not ids or not verdict.base.sha or verdict.base_source == NO_BASELINE:
        return ""
    # As wide as a phone.
    command = f"benchgate check --against {plain_line(verdict.base.sha[:12])}"
    return " \\\n  ".join((command, *choose(ids)))


def _changed_files(verdict: Verdict) -> tuple[str, ...]:
    """Where the cause of what is worse may be."""
    is_worse = any(row.outcome in WRONG for row in verdict.rows)
    return tuple(map(plain_line, verdict.head.changed_files)) if is_worse else ()


def _skipped(skipped: Iterable[SkippedResult]) -> tuple[tuple[str, str], ...]:
    return tuple((plain_line(one.what) or "(no name)", plain_line(one.reason)) for one in skipped)


def named(view: VerdictView, name: str) -> VerdictView:
    """Add a name to tell it from other verdicts: "py3.11 · Slower: ..."; unchanged without one."""
    if not name:
        return view
    return replace(view, headline=f"{plain_line(name, NAME_LIMIT)} \N{MIDDLE DOT} {view.headline}")


def without_secrets(view: VerdictView, redact: Callable[[str], str]) -> VerdictView:
    """The same verdict with every text redacted.

    This must happen before the text becomes markup. A secret could span two texts, and removing it
    would also remove the markup between them; and escaped characters hide a secret.
    """
    without: VerdictView = redacted(view, cache(redact))
    return without


def _title(group: Sequence[Sequence[Row]]) -> str:
    """A title for benchmarks of one outcome: "45 unchanged within 2 %"."""
    leading = [first for first, *_ in group]
    is_same = leading[0].outcome is Outcome.UNCHANGED
    return f"{len(leading)} {words.outcome(leading[0])}{words.margins(leading) if is_same else ''}"
