"""Formats the values of a row in plain words, and explains a row to readers who are new."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.notes import (
    DOUBTED,
    TOO_FEW,
    UNREADABLE,
    change,
    display_unit,
    side_by_side,
    sides,
)
from benchgate.model.policy import MOVED, AcceptanceMethod, Outcome
from benchgate.model.run import ERROR_RATIO, Better, Tier
from benchgate.model.verdict import RUNS_NEEDED, VALUE, Decision
from benchgate.units import (
    RATE_UNIT,
    change_digits,
    counted,
    format_change,
    format_duration,
    format_percent,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.history import Trend
    from benchgate.model.policy import Acceptance, PolicyChange
    from benchgate.model.run import Source
    from benchgate.model.statistics import Grid, SeriesStatistics
    from benchgate.model.verdict import ConfirmationCost, GateSettings, Row


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


def interval(row: Row) -> str:
    """The interval of the change, signed: "+12.1 to +17.0 %"; open ends are named."""
    if row.interval is None or any(math.isnan(end) for end in row.interval):
        return ""
    low, high = row.interval
    if low <= 0 and math.isinf(high):
        return ""
    if math.isinf(high):
        return f"{format_change(low)} or more"
    if low <= 0:
        return f"{format_change(high)} or less"
    return change_span(low, high)


def change_span(low: float, high: float) -> str:
    """Two ratios as changes: "+12.1 to +17.0 %"."""
    digits = change_digits(low, high)
    return _span(format_change(low, digits), format_change(high, digits))


def rounded(row: Row) -> str:
    """The change as people say it: "+15 %", "from 0 to 12"; "" if there is none."""
    if change(row) == "from 0":
        return f"from 0 to {sides(row)[1]}"
    ratio = row.deciding_ratio
    return "" if ratio is None or not math.isfinite(ratio) else _rounded(ratio)


def rounded_span(low: float, high: float) -> str:
    """Two changes as people say them: "+13 to +15 %"."""
    return _span(_rounded(low), _rounded(high))


def _rounded(ratio: float) -> str:
    """A change in whole percents, unless it is smaller."""
    return format_change(ratio, 0 if abs(ratio - 1) >= 0.01 else 1)


def deciding_p(row: Row) -> str:
    """The p that was compared with alpha: the adjusted one, except under the classical rule."""
    return probability(row.p if row.test == "classical" else row.p_adjusted)


def probability(p: float | None) -> str:
    """Format p with two digits, never with an exponent: "0.0024", "< 0.0001"; "" for None."""
    if p is None or math.isnan(p):
        return ""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def rounds(row: Row) -> str:
    """Launches that the decision rests on: "12", or "10 v 5" if the arms differ."""
    base, head = row.launches
    if not base and not head:
        return ""
    return str(base) if base == head else f"{base} v {head}"


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


def worse_word(rows: Iterable[Row | Trend]) -> str:
    """The word for a change for the worse: "slower" if all rows are about speed."""
    return "slower" if all(is_speed(row) for row in rows) else "worse"


def margins(rows: Sequence[Row]) -> str:
    """Within what they are unchanged: " within 2 %"; "" if that is not known."""
    known = sorted({row.margin for row in rows if row.margin is not None})
    if not known:
        return ""
    return f" within {_span(format_percent(known[0]), format_percent(known[-1]))}"


def detectable(row: Row) -> str:
    """The smallest detectable change: "1.6 %"; "" if unknown."""
    is_same = row.outcome is Outcome.UNCHANGED  # its margin says more
    if is_same or row.detectable is None or not math.isfinite(row.detectable):
        return ""
    return unsigned(row.detectable)


def least_change(ratio: float) -> str:
    """The smallest change that would be found: "a change of 1.6 %"; "any change" for 1."""
    size = unsigned(ratio)
    if size == "0.00 %":
        return "any change"
    return size.replace("x ", "a factor of ") if size[0] == "x" else f"a change of {size}"


def confirming(unconfirmed: ConfirmationCost) -> str:
    """What confirming a suspect takes: "11 more rounds, about 7m"."""
    rounds = counted(unconfirmed.rounds, "more round")
    if unconfirmed.seconds is None:
        return rounds
    return f"{rounds}, about {format_duration(unconfirmed.seconds)}"


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


def unsigned(ratio: float) -> str:
    """The size of the change that a ratio stands for, without direction: "1.6 %"."""
    return format_change(ratio).lstrip("+-")


def _span(low: str, high: str) -> str:
    """Format a range, with the unit once if both ends have it: "12.1 to 17.0 %"."""
    if low == high:
        return low
    if high.endswith(" %"):
        return f"{low.removesuffix(' %')} to {high}"
    return f"{low} to {high.removeprefix(low[:2])}" if low.startswith("x ") else f"{low} to {high}"


_LOGIN_LIMIT = 60


def notes_of(row: Row, settings: GateSettings) -> tuple[str, ...]:
    """Explain the outcome, then give the notes that the row carries."""
    if row.outcome is Outcome.INCONCLUSIVE:
        own = _inconclusive(row, settings)
    else:
        own = _NOTES[row.outcome](row) if row.outcome in _NOTES else []
    renamed = f"renamed from {plain_line(row.renamed_from)}" if row.renamed_from else ""
    parts = (*_waived(row), *own, renamed, *map(plain_line, row.notes))
    return tuple(dict.fromkeys(part for part in parts if part))


def _waived(row: Row) -> list[str]:
    """What waives a regression, or the waiver that it exceeds."""
    if row.waiver is None:
        return []
    waiver = row.waiver
    until, why = plain_line(waiver.until), plain_line(waiver.reason)
    accepted = [_accepted(waiver.accepted)] if waiver.accepted else []
    if waiver.ceiling is None:
        what = "its removal" if waiver.outcome is Outcome.MISSING else "its different work"
        return [f"{what} is waived until {until}: {why}", *accepted]
    ceiling = format_percent(waiver.ceiling)
    if row.outcome is Outcome.WAIVED:
        return [f"waived up to {ceiling} until {until}: {why}", *accepted]
    return [f"beyond the waiver of {ceiling} until {until} ({why})", *accepted]


def _accepted(acceptance: Acceptance) -> str:
    """Who accepted a waiver in the change; a login without `@` notifies nobody."""
    how = {
        AcceptanceMethod.REVIEW: "who approved this commit",
        AcceptanceMethod.LABEL: "who set the label",
        AcceptanceMethod.PUSH: "who pushed it to the default branch",
    }
    return f"accepted by {plain_line(acceptance.by, _LOGIN_LIMIT)}, {how[acceptance.how]}"


def _changed(row: Row) -> list[str]:
    if row.excused:
        return _NOTES[row.excused](row)
    if not row.advisory:
        return _calibrated(row)
    parts = ["compared with stored launches only"]
    if row.calibration and row.calibration.runs > 1:
        parts.append(f"advisory: {row.calibration.runs} of the {RUNS_NEEDED} earlier runs needed")
    return parts


def _calibrated(row: Row) -> list[str]:
    known = row.calibration
    if known is None or known.floor is None or known.spread is None:
        return []
    least = max(known.floor, row.margin or 0.0)
    spread = f"run-to-run spread {format_percent(known.spread)}"
    counts = f"smallest change that counts {format_percent(least)}"
    return [f"calibrated on {known.runs} runs: {spread}, {counts}"]


def _inconclusive(row: Row, settings: GateSettings) -> list[str]:
    parts: list[str] = []
    if detectable(row) and not _is_large(row):
        parts.append(f"the smallest detectable change is {detectable(row)}")
    if row.unconfirmed:
        parts.append(f"confirming it or ruling it out takes {confirming(row.unconfirmed)}")
    elif row.rounds_needed is not None:
        parts.append(_more_rounds(row.rounds_needed, max(row.launches), settings.max_rounds))
    is_doubted = any(note.startswith("was ") and DOUBTED in note for note in row.notes)
    return [*(parts or ([] if is_doubted else ["too noisy to tell"])), *_calibrated(row)]


def _is_large(row: Row) -> bool:
    """Whether the change is larger than what could be detected, so that this says nothing."""
    if row.ratio is None or row.detectable is None or row.ratio <= 0:
        return False
    return abs(math.log(row.ratio)) > abs(math.log(row.detectable))


def _more_rounds(needed: int, had: int, limit: int | None) -> str:
    if limit is not None and had + needed > limit:
        return f"settling it takes more than the limit of {counted(max(limit, had), 'round')}"
    return f"about {counted(needed, 'more round')} would settle it"


def _failed(row: Row) -> list[str]:
    lines = (row.error or "").strip().splitlines()
    return [plain_line(lines[0]) if lines else "it did not run"]


def _new(row: Row) -> list[str]:
    if row.base is None:
        return []
    return ["only the head has this benchmark; it ran on both sides, and its change fails no build"]


def _unless_noted(text: str) -> Callable[[Row], list[str]]:
    return lambda row: [] if row.notes or not row.decides else [text]


_NOTES: Mapping[Outcome, Callable[[Row], list[str]]] = {
    Outcome.REGRESSED: _changed,
    Outcome.IMPROVED: _changed,
    Outcome.WAIVED: _changed,
    Outcome.NOT_TESTED: _unless_noted("too little was measured to test it"),
    Outcome.FAILED: _failed,
    Outcome.BASE_FAILED: _failed,
    Outcome.INCOMPARABLE: _unless_noted("base and head did different work"),
    Outcome.MISSING: lambda _: ["the head does not have it"],
    Outcome.NEW: _new,
}


JUDGED = (
    "this change makes its own check less strict: the configuration of the base has judged it, and "
    "the following takes effect once it is merged"
)
RENAMED = "this change compares benchmarks under new names, and this verdict already does so"
ACCEPTED = (
    "this change brings waivers, somebody accepted them, and this verdict already applies them"
)
# The JSON verdict has all of them.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LooseningView:
    """What is loosened, under a title: "gate.margin: 2 % -> 10 % (benchgate.toml:3)"."""

    title: str
    changes: tuple[str, ...]


def view_loosening(changes: Iterable[PolicyChange]) -> tuple[LooseningView, ...]:
    """First the loosenings that did not affect the verdict, then those that did."""
    by_title: dict[str, list[str]] = {JUDGED: [], ACCEPTED: [], RENAMED: []}
    for one in changes:
        by_title[_title(one)].append(_line(one))
    return tuple(LooseningView(title, _first(lines)) for title, lines in by_title.items() if lines)


def _title(change: PolicyChange) -> str:
    if not change.in_force:
        return JUDGED
    return ACCEPTED if change.key.startswith("waive[") else RENAMED


def _line(change: PolicyChange) -> str:
    about = f", {plain_line(change.about)}" if change.about else ""
    place = f" ({plain_line(change.place)})" if change.place else ""
    before, after = plain_line(change.before), plain_line(change.after)
    return f"{plain_line(change.key)}{about}: {before} -> {after}{place}"


def _first(lines: list[str]) -> tuple[str, ...]:
    rest = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *((f"and {rest} more",) if rest > 0 else ()))
