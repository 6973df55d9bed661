"""The verdict in two or three words, as a small picture for a README."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report import words
from benchgate.report.escape import plain_line
from benchgate.report.ordering import ORDER, by_benchmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.model.verdict import Row, Verdict

LABEL: Final = "performance"
_TEXT_LIMIT: Final = 60
_OUTCOMES_SHOWN: Final = 2


class State(StrEnum):
    """What a badge says; its color follows from it."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NO_VERDICT = "no verdict"
    NOT_CHECKED = "not checked"


# White text on each of them has a contrast of 4.5 to 1 at least.
_COLORS: Final = {
    State.PASS: "#1a7f37",
    State.FAIL: "#c0392b",
    State.NO_VERDICT: "#8a6100",
    State.NOT_CHECKED: "#656d76",
}
_LABEL_COLOR: Final = "#3d444d"

_HEIGHT: Final = 20
_PADDING: Final = 6.0
_BASELINE: Final = 14
# How wide the characters of Verdana are at 11 pixels. A browser with another font stretches or
# squeezes the text to this width.
_FONT: Final = "Verdana,DejaVu Sans,Geneva,system-ui,sans-serif"
_FONT_SIZE: Final = 11
_WIDTHS_PX: Final = {
    character: width
    for characters, width in {
        "ijl'": 3.1,
        "ft., I!": 4.1,
        "r-()/:;|[]": 5.0,
        "cszJ": 5.8,
        "aekovxyLTF": 6.6,
        "bdghnpqu0123456789_?*<>": 7.0,
        "ABCDEGHKNOPQRSUVXYZ": 7.9,
        "w+=~#": 9.2,
        "mMWQ@": 10.8,
        "%": 11.9,
    }.items()
    for character in characters
}
_OTHER_PX: Final = 7.9
_WIDE_PX: Final = 11.0


@dataclass(frozen=True, slots=True)
class Badge:
    """A label and a message, both plain text.

    Attributes:
        message: such as "pass", "2 slower" or "no verdict".
    """

    message: str
    state: State
    label: str = LABEL


NOT_CHECKED: Final = Badge(State.NOT_CHECKED.value, State.NOT_CHECKED)
"""What a badge says if there is no verdict, not even an open one."""

_DECIDED: Final = {
    Decision.PASS: State.PASS,
    Decision.FAIL: State.FAIL,
    Decision.NO_VERDICT: State.NO_VERDICT,
}
_WORST_FIRST: Final = (Decision.FAIL, Decision.NO_VERDICT, Decision.PASS)


def badge_of(verdicts: Sequence[Verdict]) -> Badge:
    """The badge of the worst verdict; those that failed are counted together."""
    for decision in _WORST_FIRST:
        found = [one for one in verdicts if one.decision is decision]
        if found:
            blamed = [row for one in found for row in _blamed(one)]
            message = _counts(blamed) if decision is Decision.FAIL else ""
            return Badge(message or decision.value, _DECIDED[decision])
    return NOT_CHECKED


def render_badge(badge: Badge) -> str:
    """The badge as a picture in SVG, which needs no other file."""
    label, message = _shown(badge.label), _shown(badge.message)
    left, right = (_width(text) + 2 * _PADDING for text in (label, message))
    whole = f"{left + right:.1f}"
    said = f"{label}: {message}"
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": whole,
            "height": str(_HEIGHT),
            "viewBox": f"0 0 {whole} {_HEIGHT}",
            "role": "img",
            "aria-label": said,
        },
    )
    ET.SubElement(root, "title").text = said
    ends = {"height": str(_HEIGHT), "rx": "3"}
    ET.SubElement(root, "rect", {"width": whole, **ends, "fill": _LABEL_COLOR})
    # The right part has round corners on its right only.
    straight = right - 3
    path = (
        f"M{left:.1f} 0h{straight:.1f}a3 3 0 0 1 3 3v{_HEIGHT - 6}a3 3 0 0 1 -3 3h-{straight:.1f}z"
    )
    ET.SubElement(root, "path", {"d": path, "fill": _COLORS[badge.state]})
    font = {"fill": "#fff", "font-family": _FONT, "font-size": str(_FONT_SIZE)}
    group = ET.SubElement(root, "g", font)
    for text, start in ((label, 0.0), (message, left)):
        place = {
            "x": f"{start + _PADDING:.1f}",
            "y": str(_BASELINE),
            "textLength": f"{_width(text):.1f}",
        }
        ET.SubElement(group, "text", place).text = text
    return ET.tostring(root, encoding="unicode") + "\n"


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
    """The most frequent outcomes in words: "2 slower, 1 failed"; "" without rows."""
    counts = Counter(row.outcome for row in rows)
    kinds = [outcome for outcome in ORDER if counts[outcome]]
    shown, rest = kinds[:_OUTCOMES_SHOWN], kinds[_OUTCOMES_SHOWN:]
    parts = [f"{counts[one]} {_word(one, rows)}" for one in shown]
    more = [f"{sum(counts[one] for one in rest)} more"] if rest else []
    return ", ".join(chain(parts, more))


def _word(outcome: Outcome, rows: Sequence[Row]) -> str:
    if outcome is Outcome.REGRESSED:
        return words.worse_word(row for row in rows if row.outcome is outcome)
    return outcome.value


def _shown(text: str) -> str:
    return plain_line(text, _TEXT_LIMIT) or "-"


def _width(text: str) -> float:
    return sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    is_wide = unicodedata.east_asian_width(character) in {"W", "F"}
    return _WIDTHS_PX.get(character, _WIDE_PX if is_wide else _OTHER_PX)
