"""The outcomes of a row."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The decision about one row."""

    REGRESSED = "regressed"
    OVER_LIMIT = "over limit"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    WITHIN_LIMIT = "within limit"
    INCONCLUSIVE = "inconclusive"
    NOT_SETTLED = "not settled"
    NOT_TESTED = "not tested"
    NEW = "new"
    MISSING = "missing"
    FAILED = "failed"
    BASE_FAILED = "base failed"
    INCOMPARABLE = "incomparable"
    WAIVED = "waived"


DECIDED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.WAIVED})
"""Outcomes that say whether something changed."""

COMPARED = DECIDED | {Outcome.INCONCLUSIVE, Outcome.NOT_SETTLED}
"""Outcomes of rows in which the two arms were compared."""
