"""Turns a verdict into strings: every renderer takes them and computes nothing.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from benchgate.model.outcome import Outcome
from benchgate.model.skipped import by_reason
from benchgate.model.verdict import NO_BASELINE
from benchgate.report import words
from benchgate.report.escape import plain_block, plain_line
from benchgate.report.headline import headline
from benchgate.report.notes import note, view_loosening
from benchgate.report.ordering import needs_attention, worst_first
from benchgate.report.row_detail import ComparisonView, view_comparison
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.model.row import Row
    from benchgate.model.skipped import SkippedResult
    from benchgate.model.verdict import Decision, Verdict
    from benchgate.report.notes import LooseningView

NAME_LIMIT: Final = 60


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the verdict as strings; "" if something does not apply.

    Attributes:
        statistic: in plain words, after the metric unless that is the time: "typical (p25)".
        change, interval: signed, head relative to base, as measured.
        p: adjusted for the number of rows, except under the classical rule.
        rounds: launches per arm, "10 v 5" if they differ.
        note: what a reader needs to know, in words.
        error: the tail of a failed benchmark's output, several lines.
        medians, test, p_raw, detectable, classical: for those who want to check the decision.
        detail: all other estimates and tests, if they were requested.
    """

    outcome: Outcome
    benchmark: str
    statistic: str
    base: str
    head: str
    change: str
    interval: str
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
    detail: ComparisonView | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that need no attention, under one title."""

    title: str
    rows: tuple[RowView, ...]
    tails: bool = False


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The whole verdict as strings.

    Attributes:
        headline: one sentence that begins with the decision's word.
        interval_title: "95 % interval".
        attention: worst first.
        skipped: stored results that were not used, each with the reason.
        skipped_in_short: the same, with one entry for many of one reason.
        loosening: how the change loosens its own gate, for the reader's attention.
        last_line: what was compared, on which machine, how long, and the false-alarm rate.
    """

    decision: Decision
    headline: str
    interval_title: str
    attention: tuple[RowView, ...]
    folded: tuple[Group, ...]
    warnings: tuple[str, ...]
    last_line: str
    skipped: tuple[tuple[str, str], ...] = ()
    skipped_in_short: tuple[tuple[str, str], ...] = ()
    loosening: tuple[LooseningView, ...] = ()

    @property
    def rows(self) -> tuple[RowView, ...]:
        """Every row, those that need attention first."""
        return (*self.attention, *(row for group in self.folded for row in group.rows))

    @property
    def skipped_title(self) -> str:
        """How many stored results were not used."""
        return f"{counted(len(self.skipped), 'stored result')} left out"


def view_verdict(verdict: Verdict) -> VerdictView:
    """The verdict as strings."""
    rows = worst_first(verdict.rows)
    attention = needs_attention(rows)
    return VerdictView(
        decision=verdict.decision,
        headline=headline(verdict),
        interval_title=f"{format_percent(verdict.settings.confidence)} interval",
        attention=tuple(_row(row) for row in rows if row in attention),
        folded=_folded([row for row in rows if row not in attention]),
        warnings=tuple(plain_line(warning, 1000) for warning in verdict.warnings),
        last_line=_last_line(verdict),
        loosening=view_loosening(verdict.policy_changes),
        skipped=_skipped(verdict.skipped),
        skipped_in_short=_skipped(by_reason(verdict.skipped)),
    )


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
    redacted: VerdictView = _redacted(view, cache(redact))
    return redacted


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - any part of a view
    if type(value) is str:  # not an outcome, which is also a string
        return redact(value)
    if isinstance(value, tuple):
        return tuple(_redacted(item, redact) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: _redacted(x, redact) for name, x in parts.items()})
    return value


def _row(row: Row) -> RowView:
    base, head = words.sides(row)
    return RowView(
        outcome=row.outcome,
        benchmark=words.name(row),
        statistic=words.statistic(row),
        base=base,
        head=head,
        change=words.change(row),
        interval=words.interval(row),
        p=words.deciding_p(row),
        rounds=words.rounds(row),
        tier=words.TIERS[row.tier] if row.tier else "",
        note=note(row),
        error=plain_block(row.error or ""),
        location=plain_line(row.location or ""),
        medians=words.medians(row),
        test=plain_line(row.test or ""),
        p_raw=words.probability(row.p),
        detectable=words.detectable(row),
        classical=words.classical(row),
        detail=view_comparison(row, row.detail) if row.detail else None,
    )


def _folded(rows: Sequence[Row]) -> tuple[Group, ...]:
    typical = [row for row in rows if not row.is_tail]
    tails = [row for row in rows if row.is_tail]
    groups = []
    for outcome in (Outcome.IMPROVED, Outcome.NEW, Outcome.UNCHANGED):
        some = [row for row in typical if row.outcome is outcome]
        if some:
            groups.append(Group(_title(some), tuple(map(_row, some))))
    if tails:
        outcomes = dict.fromkeys(row.outcome for row in tails)
        parts = [_title([row for row in tails if row.outcome is outcome]) for outcome in outcomes]
        groups.append(Group(f"tails: {', '.join(parts)}", tuple(map(_row, tails)), tails=True))
    return tuple(groups)


def _title(rows: Sequence[Row]) -> str:
    outcome = rows[0].outcome
    margins = words.margins(rows) if outcome is Outcome.UNCHANGED else ""
    return f"{len(rows)} {outcome.value}{margins}"


def _last_line(verdict: Verdict) -> str:
    why = f" ({plain_line(verdict.base.why)})" if verdict.base.why else ""
    head = f"head {words.source(verdict.head)}"
    measured = f"Measured {head}{why}"
    compared = f"Compared base {words.source(verdict.base)}{why} and {head}"
    parts = [
        compared if verdict.base.sha or verdict.base_source != NO_BASELINE else measured,
        words.machine(verdict.environment),
        _effort(verdict),
        _rule(verdict),
    ]
    return "; ".join(part for part in parts if part) + "."


def _effort(verdict: Verdict) -> str:
    if not verdict.rounds:
        return ""
    ended = "" if verdict.complete else ", interrupted"
    return f"{counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}{ended}"


def _rule(verdict: Verdict) -> str:
    settings = verdict.settings
    if settings.rule != "launch":
        return f"rule {plain_line(settings.rule)}: no bound on false alarms"
    rate = format_percent(settings.alpha)
    return f"set to fail at most {rate} of runs in which nothing changed"
