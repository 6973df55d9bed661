"""What a reader of a row must know: waivers, acceptances, calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.escape import plain_line
from benchgate.model.notes import (
    DOUBTED,
)
from benchgate.model.policy import AcceptanceMethod, Outcome
from benchgate.model.verdict import RUNS_NEEDED
from benchgate.units import (
    counted,
    format_change,
    format_duration,
    format_percent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.model.policy import Acceptance
    from benchgate.model.row import ConfirmationCost, Row
    from benchgate.model.verdict import GateSettings


def rounds(row: Row) -> str:
    """Launches that the decision rests on: "12", or "10 v 5" if the arms differ."""
    base, head = row.launches
    if not base and not head:
        return ""
    return str(base) if base == head else f"{base} v {head}"


def detectable(row: Row) -> str:
    """The smallest detectable change: "1.6 %"; "" if unknown."""
    is_same = row.outcome is Outcome.UNCHANGED  # its margin says more
    if is_same or row.detectable is None or not math.isfinite(row.detectable):
        return ""
    return unsigned(row.detectable)


def confirming(unconfirmed: ConfirmationCost) -> str:
    """What confirming a suspect takes: "11 more rounds, about 7m"."""
    rounds = counted(unconfirmed.rounds, "more round")
    if unconfirmed.seconds is None:
        return rounds
    return f"{rounds}, about {format_duration(unconfirmed.seconds)}"


def unsigned(ratio: float) -> str:
    """The size of the change that a ratio stands for, without direction: "1.6 %"."""
    return format_change(ratio).lstrip("+-")


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
    Outcome.SAME_CODE: lambda _: ["it runs no code that changed"],
}
