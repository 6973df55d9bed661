"""Turns the details of one row into strings: effect sizes, every test, and what could be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.escape import plain_line
from benchgate.report import estimates, row_notes, words
from benchgate.units import format_change, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.model.row import Comparison, Effect, Row

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


def view_comparison(row: Row, found: Comparison) -> ComparisonView:
    """Turn a comparison into strings."""
    return ComparisonView(
        title=f"{words.name(row)}, {words.statistic(row)}",
        ratios=tuple(
            (
                plain_line(one.name),
                format_change(one.ratio),
                estimates.change_span(one.interval.low, one.interval.high) if one.interval else "",
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
    parts = [f"{base} v {head} in all; the decision uses {row_notes.rounds(row) or 'none'}"]
    if min(base, head) > 1 and row.margin:
        needed = "more than 1000" if found.launches_needed is None else found.launches_needed
        parts.append(f"finding a change of {format_percent(row.margin)} takes {needed} of each")
    return "; ".join(parts)
