"""Turns a verdict into strings: every renderer takes them and computes nothing.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from benchgate.model.outcome import Outcome
from benchgate.model.redact import redacted
from benchgate.model.result import by_reason
from benchgate.report import words
from benchgate.report.escape import plain_block, plain_line
from benchgate.report.headline import headline, last_line
from benchgate.report.notes import note, view_loosening
from benchgate.report.ordering import needs_attention, worst_first
from benchgate.units import counted, format_change, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchgate.model.result import SkippedResult
    from benchgate.model.row import Comparison, Effect, Row
    from benchgate.model.verdict import Decision, Verdict
    from benchgate.report.notes import LooseningView

NAME_LIMIT: Final = 60
RATIO_TITLES = ("change by", "estimate", "interval", "method")
TEST_TITLES = ("test", "p", "p head more", "p head less")


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The details of one row; "" stands for what does not apply.

    Attributes:
        title: benchmark and statistic.
        ratios: name, change, interval and the method of the interval.
        tests: name, two-sided p, p of a greater head, p of a smaller head.
        facts: labels, each with a sentence.
    """

    title: str
    ratios: tuple[tuple[str, str, str, str], ...]
    tests: tuple[tuple[str, str, str, str], ...]
    facts: tuple[tuple[str, str], ...]


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
        last_line=last_line(verdict),
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
    without: VerdictView = redacted(view, cache(redact))
    return without


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


def view_comparison(row: Row, found: Comparison) -> ComparisonView:
    """Turn a comparison into strings."""
    return ComparisonView(
        title=f"{words.name(row)}, {words.statistic(row)}",
        ratios=tuple(
            (
                plain_line(one.name),
                format_change(one.ratio),
                words.change_span(one.interval.low, one.interval.high) if one.interval else "",
                plain_line(one.interval.method) if one.interval else "",
            )
            for one in found.ratios
        ),
        tests=tuple(
            (
                plain_line(one.name),
                words.probability(one.p),
                words.probability(one.p_greater),
                words.probability(one.p_less),
            )
            for one in found.tests
        ),
        facts=tuple(_facts(row, found)),
    )


def _facts(row: Row, found: Comparison) -> Iterator[tuple[str, str]]:
    yield "effect", _effect(found.effect)
    if found.q is not None:
        q = words.probability(found.q)
        yield "q-value", f"{q}: the first p, adjusted for the false discovery rate over all rows"
    if found.detectable_ratio is not None:
        seen = words.least_change(found.detectable_ratio)
        yield "could see", f"usually {seen}, with alpha shared by all rows"
    yield "launches", _launches(row, found)
    if medians := words.medians(row):
        yield "medians", f"{medians}: base and head as measured, not paired by rounds"
    yield from (("note", plain_line(text)) for text in found.notes)


def _effect(effect: Effect) -> str:
    above = format_percent(effect.vargha_delaney_a)
    parts = [
        f"{plain_line(effect.magnitude)} (Cliff's delta {effect.cliffs_delta:+.2f})",
        f"a launch of the head measures more than one of the base in {above} of pairs (A)",
    ]
    if effect.cohens_d is not None:
        parts.append(f"Cohen's d {_signed(effect.cohens_d)}")
    if effect.hedges_g is not None:
        parts.append(f"Hedges' g {_signed(effect.hedges_g)}")
    return "; ".join(parts)


def _signed(size: float) -> str:
    """Format with two decimals; with almost no spread, effect sizes get too large for that."""
    return f"{size:+.2f}" if abs(size) < 1000 else f"{size:+.2g}"


def _launches(row: Row, found: Comparison) -> str:
    base, head = found.launches
    parts = [f"{base} v {head} in all; the decision uses {words.rounds(row) or 'none'}"]
    if min(base, head) > 1 and row.margin:
        needed = "more than 1000" if found.launches_needed is None else found.launches_needed
        parts.append(f"finding a change of {format_percent(row.margin)} takes {needed} of each")
    return "; ".join(parts)
