"""Turns a verdict into strings: every renderer takes them and computes nothing.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from benchgate.errors import without_it
from benchgate.escape import plain_line
from benchgate.model.policy import Outcome
from benchgate.model.redact import redacted
from benchgate.model.result import by_reason
from benchgate.model.row_order import WRONG
from benchgate.model.run import MOST_CHANGED
from benchgate.model.verdict import NO_BASELINE, Decision, Reason
from benchgate.report import estimates, words
from benchgate.report.arrangement import Together, arrange, first_row
from benchgate.report.causes import (
    view_causes,
)
from benchgate.report.headline import bare, heading, last_line, not_measured
from benchgate.report.links import NAME_LIMIT, NO_LINKS, Links
from benchgate.report.loosenings import view_loosening
from benchgate.report.next_steps import choose, waivers
from benchgate.report.row_notes import notes_of
from benchgate.report.row_view import (
    BenchmarkView,
    FailureView,
    Footnote,
    RowView,
    TogetherView,
    view_benchmark,
    view_failures,
)
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.result import SkippedResult
    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.report.arrangement import Line
    from benchgate.report.causes import CauseView
    from benchgate.report.loosenings import LooseningView


# A shorter note is read faster than a number that stands for it.
_SHORT: Final = 40


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
        same_code: the benchmarks that were not measured because they run the same code on both
            sides; they are nowhere else.
        not_measured: how many these are, in a sentence; "" if there are none.
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
    same_code: tuple[BenchmarkView, ...] = ()
    not_measured: str = ""
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
        """Every benchmark but those of the same code, those that are shown first."""
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
    every = (*groups, *arranged.same_code)
    notes = {row: notes_of(row, verdict.settings) for rows in every for row in rows}
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
        same_code=tuple(map(view, arranged.same_code)),
        not_measured=not_measured(verdict),
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
        estimates.change_span(*line.ratios),
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
