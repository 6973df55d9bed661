"""Turns a verdict into a badge."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.row_order import ORDER, by_benchmark
from benchgate.model.verdict import Decision
from benchgate.report import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict


LABEL: Final = "performance"
_TEXT_LIMIT: Final = 60
_OUTCOMES_SHOWN: Final = 2


class BadgeState(StrEnum):
    """What a badge says; its color follows from it."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NO_VERDICT = "no verdict"
    NOT_CHECKED = "not checked"


# White text on each of them has a contrast of 4.5 to 1 at least.
_COLORS: Final = {
    BadgeState.PASS: "#1a7f37",
    BadgeState.FAIL: "#c0392b",
    BadgeState.NO_VERDICT: "#8a6100",
    BadgeState.NOT_CHECKED: "#656d76",
}


@dataclass(frozen=True, slots=True)
class Badge:
    """A label and a message, both plain text.

    Attributes:
        message: such as "✅ pass", "❌ 2 slower" or "not checked".
    """

    message: str
    state: BadgeState
    label: str = LABEL


NOT_CHECKED: Final = Badge(BadgeState.NOT_CHECKED.value, BadgeState.NOT_CHECKED)
"""What a badge says if there is no verdict, not even an open one."""

_DECIDED: Final = {
    Decision.PASS: BadgeState.PASS,
    Decision.FAIL: BadgeState.FAIL,
    Decision.NO_VERDICT: BadgeState.NO_VERDICT,
}
_WORST_FIRST: Final = (Decision.FAIL, Decision.NO_VERDICT, Decision.PASS)


def badge_of(verdicts: Sequence[Verdict]) -> Badge:
    """The badge of the worst verdict; those that failed are counted together."""
    for decision in _WORST_FIRST:
        found = [one for one in verdicts if one.decision is decision]
        if found:
            blamed = [row for one in found for row in _blamed(one)]
            said = _counts(blamed) if decision is Decision.FAIL else ""
            message = f"{words.DECISION_ICONS[decision]} {said or decision.value}"
            return Badge(message, _DECIDED[decision])
    return NOT_CHECKED


def render_endpoint(badge: Badge) -> str:
    """The badge as JSON for an "endpoint" badge of shields.io, which draws it itself."""
    content = {
        "schemaVersion": 1,
        "label": _shown(badge.label),
        "message": _shown(badge.message),
        "color": _COLORS[badge.state],
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def _blamed(verdict: Verdict) -> Iterable[Row]:
    """The row of each benchmark that makes the suite fail, one for each."""
    failing = [row for row in verdict.rows if verdict.settings.fails(row)]
    return by_benchmark(failing).values()


def _counts(rows: Sequence[Row]) -> str:
    """The most frequent outcomes in words: "1 crashed, 2 slower"; "" without rows."""
    counts = Counter(map(words.outcome, sorted(rows, key=lambda row: ORDER.index(row.outcome))))
    parts = [f"{count} {word}" for word, count in counts.items()]
    more = sum(list(counts.values())[_OUTCOMES_SHOWN:])
    return ", ".join(parts[:_OUTCOMES_SHOWN] + ([f"{more} more"] if more else []))


def _shown(text: str) -> str:
    return plain_line(text, _TEXT_LIMIT) or "-"
