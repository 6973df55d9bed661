"""Explains a row in words, for readers who meet benchgate for the first time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.model.policy import AcceptanceMethod, Outcome
from benchgate.model.verdict import RUNS_NEEDED
from benchgate.report import words
from benchgate.report.escape import plain_line
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.model.policy import Acceptance, PolicyChange
    from benchgate.model.verdict import GateSettings, Row

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
    if words.detectable(row) and not _is_large(row):
        parts.append(f"the smallest detectable change is {words.detectable(row)}")
    if row.unconfirmed:
        parts.append(f"confirming it or ruling it out takes {words.confirming(row.unconfirmed)}")
    elif row.rounds_needed is not None:
        parts.append(_more_rounds(row.rounds_needed, max(row.launches), settings.max_rounds))
    return [*(parts or ["too noisy to tell"]), *_calibrated(row)]


def _is_large(row: Row) -> bool:
    """Whether the change is larger than what could be detected, so that this says nothing."""
    if row.ratio is None or row.detectable is None or row.ratio <= 0:
        return False
    return abs(math.log(row.ratio)) > abs(math.log(row.detectable))


def _more_rounds(needed: int, had: int, limit: int | None) -> str:
    if limit is not None and had + needed > limit:
        return f"settling it takes more than the limit of {counted(limit, 'round')}"
    return f"about {counted(needed, 'more round')} would settle it"


def _failed(row: Row) -> list[str]:
    lines = (row.error or "").strip().splitlines()
    return [plain_line(lines[0]) if lines else "it did not run"]


def _new(row: Row) -> list[str]:
    if row.base is None:
        return ["not in the base, so there is nothing to compare with"]
    return ["only the head has this benchmark; it ran on both sides, and its change fails no build"]


def _unless_noted(text: str) -> Callable[[Row], list[str]]:
    return lambda row: [] if row.notes else [text]


_NOTES: Mapping[Outcome, Callable[[Row], list[str]]] = {
    Outcome.REGRESSED: _changed,
    Outcome.IMPROVED: _changed,
    Outcome.WAIVED: _changed,
    Outcome.NOT_TESTED: _unless_noted("too little was measured to test it"),
    Outcome.FAILED: _failed,
    Outcome.BASE_FAILED: _failed,
    Outcome.INCOMPARABLE: _unless_noted("base and head did different work"),
    Outcome.MISSING: lambda _: ["in the base, but not in the head"],
    Outcome.NEW: _new,
}


JUDGED = (
    "this change loosens its own gate: it was judged by the base's configuration, and the "
    "following takes effect once it is merged"
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
    for change in changes:
        by_title[_title(change)].append(_line(change))
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
