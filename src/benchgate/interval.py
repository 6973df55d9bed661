"""An interval around an estimate, and the name of the method that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from benchgate.json_object import JsonObject, Probability, Text

CONFIDENCE: Final = 0.95
"""The confidence of intervals unless the user names another."""
LEAST_CONFIDENCE: Final = 0.5
"""The least that a user may name."""


@dataclass(frozen=True, slots=True)
class Interval(JsonObject):
    """The range in which the true value probably lies, by one method.

    Attributes:
        low, high: in the unit of the data; finite, low <= high.
        confidence: e.g. 0.95.
        method: in words, e.g. "t", "Winsorized t", "t on logs", "BCa bootstrap".
    """

    low: float
    high: float
    confidence: Probability
    method: Text
