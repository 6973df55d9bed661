"""Turns a verdict into strings: every renderer takes them and computes nothing.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from benchgate.model.policy import Outcome
from benchgate.model.redact import redacted
from benchgate.model.result import by_reason
from benchgate.model.verdict import NO_BASELINE, Reason
from benchgate.report import words
from benchgate.report.benchmark_view import view_benchmark, view_failures
from benchgate.report.chart import view_chart
from benchgate.report.escape import plain_line
from benchgate.report.footnotes import shared_notes
from benchgate.report.headline import heading, last_line
from benchgate.report.links import Links
from benchgate.report.notes import notes_of, view_loosening
from benchgate.report.ordering import arrange
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.model.result import SkippedResult
    from benchgate.model.verdict import Decision, Row, Verdict
    from benchgate.report.benchmark_view import BenchmarkView, Failure, RowView
    from benchgate.report.chart import Chart
    from benchgate.report.footnotes import Footnote
    from benchgate.report.notes import LooseningView

NAME_LIMIT: Final = 60
NO_LINKS: Final = Links()
_SECONDS: Final = len("2026-01-31T09:30:00")
_NAMES_REPEATED: Final = 3
_REPEATED: Final = frozenset(
    {Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT, Outcome.INCONCLUSIVE}
)


@dataclass(frozen=True, slots=True)
class Group:
    """Benchmarks that nobody has to look at, under one title."""

    title: str
    benchmarks: tuple[BenchmarkView, ...]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The whole verdict as strings.

    Attributes:
        exit_code: of the command that decided.
        headline: begins with the decision's word; no longer than a heading may be.
        more: what else the verdict says in words.
        is_first_run: whether there was nothing to compare with yet.
        interval_title: "95 % interval".
        shown: what fails, then what improved, then what needs a person.
        footnotes: the notes that several benchmarks share.
        failures: the output of benchmarks that failed, equal ones once.
        chart: the changes of what is shown, as a picture; None if it has too few.
        repeat: the command that repeats the check on another machine.
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
    folded: tuple[Group, ...]
    footnotes: tuple[Footnote, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]
    repeat: str
    base_commit: str
    head_commit: str
    uncommitted: bool
    started: str
    duration_s: str
    last_line: str
    skipped: tuple[tuple[str, str], ...] = ()
    skipped_in_short: tuple[tuple[str, str], ...] = ()
    loosening: tuple[LooseningView, ...] = ()
    chart: Chart | None = None
    links: Links = NO_LINKS

    @property
    def sentence(self) -> str:
        """The verdict in words, whole."""
        return "; ".join(filter(None, (self.headline, self.more)))

    @property
    def rows(self) -> tuple[RowView, ...]:
        """Every row, those that are shown first."""
        folded = (one for group in self.folded for one in group.benchmarks)
        return tuple(row for one in (*self.shown, *folded) for row in one.rows)

    @property
    def skipped_title(self) -> str:
        """How many stored results were not used."""
        return f"{counted(len(self.skipped), 'stored result')} left out"


def view_verdict(verdict: Verdict, links: Links = NO_LINKS) -> VerdictView:
    """The verdict as strings."""
    arranged = arrange(verdict)
    groups = (*arranged.shown, *(rows for group in arranged.folded for rows in group))
    notes = {row: notes_of(row, verdict.settings) for rows in groups for row in rows}
    shared = shared_notes([text for row in rows for text in notes[row]] for rows in groups)
    view = partial(view_benchmark, settings=verdict.settings, notes=notes, shared=shared)
    first, more = heading(verdict)
    shown = tuple(map(view, arranged.shown))
    return VerdictView(
        decision=verdict.decision,
        exit_code=verdict.exit_code,
        headline=first,
        more=more,
        is_first_run=verdict.reason is Reason.FIRST_RUN,
        interval_title=f"{format_percent(verdict.settings.confidence)} interval",
        shown=shown,
        folded=tuple(Group(_title(group), tuple(map(view, group))) for group in arranged.folded),
        footnotes=tuple(shared.values()),
        failures=view_failures(shown),
        warnings=tuple(plain_line(warning, 1000) for warning in verdict.warnings),
        repeat=_repeat(verdict, arranged.shown),
        base_commit=plain_line(verdict.base.sha or ""),
        head_commit=plain_line(verdict.head.sha or ""),
        uncommitted=verdict.head.uncommitted,
        started=(verdict.started or "")[:_SECONDS],
        duration_s=f"{verdict.duration_s:.3f}",
        last_line=last_line(verdict),
        loosening=view_loosening(verdict.policy_changes),
        chart=view_chart(first for first, *_ in arranged.shown),
        skipped=_skipped(verdict.skipped),
        skipped_in_short=_skipped(by_reason(verdict.skipped)),
        links=links,
    )


def _repeat(verdict: Verdict, shown: Iterable[Sequence[Row]]) -> str:
    """The command that measures again what is wrong or open; "" if there is nothing to repeat."""
    ids = [words.name(first) for first, *_ in shown if first.outcome in _REPEATED]
    if not ids or not verdict.base.sha or verdict.base_source == NO_BASELINE:
        return ""
    filters = [f"--filter {shlex.quote(id_)}" for id_ in ids if len(ids) <= _NAMES_REPEATED]
    return " ".join((f"benchgate check --against {plain_line(verdict.base.sha[:12])}", *filters))


def _skipped(skipped: Iterable[SkippedResult]) -> tuple[tuple[str, str], ...]:
    return tuple((plain_line(one.what) or "(no name)", plain_line(one.reason)) for one in skipped)


def named(view: VerdictView, name: str) -> VerdictView:
    """Add a name to tell it from other verdicts: "py3.11: fail: ..."; unchanged without one."""
    if not name:
        return view
    return replace(view, headline=f"{plain_line(name, NAME_LIMIT)}: {view.headline}")


def without_secrets(view: VerdictView, redact: Callable[[str], str]) -> VerdictView:
    """The same verdict with every text redacted.

    This must happen before the text becomes markup. A secret could span two texts, and removing it
    would also remove the markup between them; and escaped characters hide a secret.
    """
    without: VerdictView = redacted(view, cache(redact))
    return without


def _title(group: Sequence[Sequence[Row]]) -> str:
    """A title for benchmarks of one outcome: "45 unchanged within 2 % (21 tails not settled)"."""
    leading = [first for first, *_ in group]
    outcome = leading[0].outcome
    margins = words.margins(leading) if outcome is Outcome.UNCHANGED else ""
    deciding = (row for _, *rest in group for row in rest if row.decides)
    # If the typical value is open, an open tail is no news.
    known = {outcome, *([Outcome.NOT_SETTLED] if outcome is Outcome.INCONCLUSIVE else [])}
    tails = Counter(row.outcome for row in deciding if row.is_tail and row.outcome not in known)
    other = [f"{counted(count, 'tail')} {name.value}" for name, count in tails.items()]
    about = f" ({', '.join(other)})" if other else ""
    return f"{len(leading)} {outcome.value}{margins}{about}"
