"""Formats the values of a row in plain words, and explains a row to readers who are new."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.metrics import ERROR_RATIO, Better
from benchgate.model.notes import (
    TOO_FEW,
    UNREADABLE,
    display_unit,
    side_by_side,
)
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.row import VALUE
from benchgate.model.run import Tier
from benchgate.model.verdict import Decision
from benchgate.report.estimates import span
from benchgate.report.row_notes import unsigned
from benchgate.units import (
    RATE_UNIT,
    counted,
    format_change,
    format_percent,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.model.history_document import Trend
    from benchgate.model.row import Row
    from benchgate.model.run import Source
    from benchgate.model.statistics import Grid, SeriesStatistics


_STATISTICS = {
    "p25": "typical (p25)",
    "p50": "typical (median)",
    "median": "typical (median)",
    "mean": "mean",
    "min": "best (min)",
}
TYPICAL: Final = frozenset({"typical (p25)", "typical (median)"})
"""What people expect of a row, so that it need not be said."""
TIERS = {
    Tier.LOCKSTEP: "side by side",
    Tier.INTERLEAVED: "in turn",
    Tier.SUITE: "in turn",
    Tier.STORED: "stored runs",
}
_MAIN_METRIC = "time"
ARROW: Final = "\N{RIGHTWARDS ARROW}"


def name(row: Row, limit: int = 300) -> str:
    """The benchmark's id, which can be missing in a damaged file."""
    return plain_line(row.benchmark, limit) or "(no name)"


def has_too_few(row: Row) -> bool:
    """Whether a row has fewer rounds than any test needs."""
    return any(note.startswith(TOO_FEW) for note in row.notes)


def statistic(row: Row) -> str:
    """What was compared: "typical (p25)", "tail (p95)", "peak_rss, typical (median)".

    The only value of a launch goes by the name of its metric.
    """
    own = plain_line(row.statistic)
    if row.statistic == VALUE:
        return metric(row)
    known = f"tail ({own})" if row.is_tail else _STATISTICS.get(row.statistic, own)
    return ", ".join(part for part in (metric(row), known) if part)


def metric(row: Row) -> str:
    """The metric's name; "" for time, which people expect."""
    return "" if row.metric == _MAIN_METRIC else plain_line(row.metric)


def medians(row: Row) -> str:
    """The medians of base and head as measured: "12.30 ms, 14.10 ms"; "" unless both exist."""
    base, head = side_by_side(row, row.base_median, row.head_median)
    return f"{base}, {head}" if base and head else ""


def series_value(of: SeriesStatistics | Grid, number: float) -> str:
    """Format a finite value in the unit of its quantity."""
    return metric_value(of.metric, of.unit, number, display_unit(of))


def metric_value(name: str, unit: str, number: float, display_unit: str | None = None) -> str:
    """Format a finite value of a metric; an error rate as a percentage."""
    if name == ERROR_RATIO.name:
        return format_percent(number)
    return format_value(number, plain_line(unit), display_unit)


def ends(low: str, high: str) -> str:
    """Two formatted values, with their unit once if they share it: "1.01 to 1.05 ms"."""
    number, _, unit = low.partition(" ")
    return f"{number if unit and high.endswith(f' {unit}') else low} to {high}"


def from_to(before: str, after: str) -> str:
    """Two formatted values, with their unit once if they share it: "12.30 → 14.10 ms".

    If they are equal, or one is not known, there is only one.
    """
    if not before or not after or before == after:
        return after or before
    number, _, unit = before.rpartition(" ")
    is_shared = number and after.endswith(f" {unit}")
    return f"{number if is_shared else before} {ARROW} {after}"


def deciding_p(row: Row) -> str:
    """The p that was compared with alpha: the adjusted one, except under the classical rule."""
    return probability(row.p if row.test == "classical" else row.p_adjusted)


def probability(p: float | None) -> str:
    """Format p with two digits, never with an exponent: "0.0024", "< 0.0001"; "" for None."""
    if p is None or math.isnan(p):
        return ""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


ICONS: Final[Mapping[Outcome, str]] = {
    Outcome.FAILED: "\N{COLLISION SYMBOL}",
    Outcome.REGRESSED: "\N{UP-POINTING RED TRIANGLE}",
    Outcome.OVER_LIMIT: "\N{NO ENTRY SIGN}",
    Outcome.IMPROVED: "\N{ROCKET}",
    Outcome.MISSING: "\N{HEAVY MINUS SIGN}",
    Outcome.INCOMPARABLE: "\N{TWISTED RIGHTWARDS ARROWS}",
    Outcome.BASE_FAILED: "\N{TWISTED RIGHTWARDS ARROWS}",
    Outcome.WAIVED: "\N{HANDSHAKE}",
    Outcome.INCONCLUSIVE: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NOT_TESTED: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NOT_SETTLED: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NEW: "\N{SQUARED NEW}",
    Outcome.UNCHANGED: "\N{WHITE HEAVY CHECK MARK}",
    Outcome.WITHIN_LIMIT: "\N{WHITE HEAVY CHECK MARK}",
    Outcome.SAME_CODE: "\N{WHITE HEAVY CHECK MARK}",
}
"""They differ in shape, too, and each takes two cells of a terminal."""
DECISION_ICONS: Final = {
    Decision.PASS: "\N{WHITE HEAVY CHECK MARK}",
    Decision.FAIL: "\N{CROSS MARK}",
    Decision.NO_VERDICT: "\N{BLACK QUESTION MARK ORNAMENT}",
}
_WORDS: Final = {
    Outcome.OVER_LIMIT: "over its limit",
    Outcome.WITHIN_LIMIT: "within its limit",
    Outcome.MISSING: "removed",
    Outcome.INCOMPARABLE: "not comparable",
    Outcome.NOT_SETTLED: "inconclusive",
}


def icon(row: Row) -> str:
    """That of the outcome; the triangle of a change for the worse points where the value went."""
    if row.outcome is Outcome.REGRESSED and row.better is Better.HIGHER:
        return "\N{DOWN-POINTING RED TRIANGLE}"
    return ICONS[row.outcome]


def outcome(row: Row) -> str:
    """What people call an outcome: "slower", "larger", "crashed"."""
    if row.outcome in MOVED:
        return moved(row, is_worse=row.outcome is Outcome.REGRESSED)
    if row.outcome is Outcome.NEW and row.error:
        return f"new, {crashed(row, present=True)}"
    if row.outcome is Outcome.FAILED:
        return crashed(row)
    if row.outcome is Outcome.BASE_FAILED:
        return f"{crashed(row)} on the base"
    if row.outcome is Outcome.INCOMPARABLE and row.changed_together:
        return "changed together with the code"
    return _WORDS.get(row.outcome, row.outcome.value)


def crashed(row: Row, *, present: bool = False, one: bool = True) -> str:
    """What a benchmark without figures did: "crashed", "crashes", "cannot be read"."""
    if row.notes and row.notes[0].startswith(UNREADABLE):
        return UNREADABLE
    return ("crashes" if one else "crash") if present else "crashed"


def moved(row: Row, *, is_worse: bool = True) -> str:
    """The word for a change: "slower" of a time or a rate, "larger" of a size."""
    if is_speed(row):
        return "slower" if is_worse else "faster"
    return "larger" if is_worse == (row.better is Better.LOWER) else "smaller"


def false_alarms(alpha: float) -> str:
    """How often a change of nothing fails: "Of 100 pull requests that change nothing, ..."."""
    of = 100
    while abs(of * alpha - round(of * alpha)) > 1e-9 and of < 10**6:
        of *= 10
    most = round(of * alpha)
    fail = "fails" if most == 1 else "fail"
    return f"Of {of:,} pull requests that change nothing, at most {most} {fail}"


def is_speed(row: Row | Trend) -> bool:
    """Whether the metric is a duration or a throughput, so that worse means slower."""
    return (row.unit, row.better) in {("s", Better.LOWER), (RATE_UNIT, Better.HIGHER)}


def not_measured(same: int, every: int) -> str:
    """How many benchmarks run the same code on both sides, in a sentence; "" for none."""
    if not same:
        return ""
    verb, were = ("runs", "was") if same == 1 else ("run", "were")
    of = f"{same} of {counted(every, 'benchmark')}"
    return f"{of} {verb} no code that changed, and {were} not measured."


def worse_word(rows: Iterable[Row | Trend]) -> str:
    """The word for a change for the worse: "slower" if all rows are about speed."""
    return "slower" if all(is_speed(row) for row in rows) else "worse"


def margins(rows: Sequence[Row]) -> str:
    """Within what they are unchanged: " within 2 %"; "" if that is not known."""
    known = sorted({row.margin for row in rows if row.margin is not None})
    if not known:
        return ""
    return f" within {span(format_percent(known[0]), format_percent(known[-1]))}"


def least_change(ratio: float) -> str:
    """The smallest change that would be found: "a change of 1.6 %"; "any change" for 1."""
    size = unsigned(ratio)
    if size == "0.00 %":
        return "any change"
    return size.replace("x ", "a factor of ") if size[0] == "x" else f"a change of {size}"


def classical(row: Row) -> str:
    """The textbook comparison: "slower: p 0.0031, p95 +15.1 %"; "" if there is none."""
    if row.classical is None:
        return ""
    parts = []
    if row.classical.p is not None:
        parts.append(f"p {probability(row.classical.p)}")
    if row.classical.p95_ratio is not None:
        parts.append(f"p95 {format_change(row.classical.p95_ratio)}")
    result = plain_line(row.classical.result)
    return f"{result}: {', '.join(parts)}" if parts else result


def source(code: Source) -> str:
    """The code that was measured: "a1b2c3d", "a1b2c3d plus uncommitted changes"."""
    commit = plain_line(code.sha[:7] if code.sha else code.ref or "at an unknown commit")
    new = counted(code.untracked, "new file") if code.untracked else ""
    more = " and ".join(filter(None, ("uncommitted changes" if code.dirty else "", new)))
    return f"{commit} plus {more}" if more else commit
