"""Signs beside the words of a page, so that the eye finds them without their color.

No sign points up or down: more is worse for a time, and better for a throughput.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.model.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

_FAILED, _WORSE, _BETTER, _OPEN = "\u2715", "!", "\u2605", "?"

OUTCOMES: Final[Mapping[Outcome, str]] = {
    Outcome.FAILED: _FAILED,
    Outcome.REGRESSED: _WORSE,
    Outcome.OVER_LIMIT: _WORSE,
    Outcome.MISSING: "\u2205",
    Outcome.INCOMPARABLE: "\u2260",
    Outcome.BASE_FAILED: _FAILED,
    Outcome.WAIVED: "~",
    Outcome.INCONCLUSIVE: _OPEN,
    Outcome.NOT_TESTED: _OPEN,
    Outcome.NOT_SETTLED: _OPEN,
    Outcome.IMPROVED: _BETTER,
    Outcome.NEW: "+",
    Outcome.UNCHANGED: "=",
    Outcome.WITHIN_LIMIT: "=",
}
