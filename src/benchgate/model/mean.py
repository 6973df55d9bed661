"""A mean, as the statistics of a result have it."""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.interval import Interval
from benchgate.json_object import Count, JsonObject


@dataclass(frozen=True, slots=True)
class Mean(JsonObject):
    """A mean, with its standard error and interval if its values are independent.

    Attributes:
        n: how many values.
        mean: the arithmetic mean, unless `geometric`.
        sd, cv: standard deviation (ddof = 1); the same as a fraction of the mean.
        sem: standard error of the mean; for a trimmed sample, the Winsorized one.
    """

    n: Count
    mean: float
    sd: float | None = None
    cv: float | None = None
    sem: float | None = None
    interval: Interval | None = None
    geometric: bool = False
