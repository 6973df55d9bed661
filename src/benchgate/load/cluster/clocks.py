"""How far the clock of another machine is ahead: what an exchange of messages tells about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer.

    Attributes:
        asked_ns: when the question left, by the clock here.
        there_ns: what the clock there showed in between.
        answered_ns: when the answer came, by the clock here.
    """

    asked_ns: int
    there_ns: int
    answered_ns: int


@dataclass(frozen=True, slots=True)
class Offset:
    """How far a clock is ahead of the one here.

    Attributes:
        error_ns: how far the offset may be off, at most.
    """

    offset_ns: int
    error_ns: int


def offset_of(exchanges: Iterable[Exchange]) -> Offset:
    """Estimate the offset from one or more exchanges, which follow each other at once.

    The clock there was read between question and answer, so each exchange says between which bounds
    the offset is. It is in the middle of the tightest ones; a short round trip makes them tight.
    """
    bounds = [(one.there_ns - one.answered_ns, one.there_ns - one.asked_ns) for one in exchanges]
    low_ns, high_ns = max(low for low, _ in bounds), min(high for _, high in bounds)
    # Rounded up, so that the bound holds. Clocks that drift fast may even swap the bounds.
    return Offset((low_ns + high_ns) // 2, (abs(high_ns - low_ns) + 1) // 2)


def over_launch(before: Offset, after: Offset) -> Offset:
    """The offset from before a launch, with the error that it may have had by the end.

    Clocks drift apart, so the second estimate may move the bound, but never below the first one.
    """
    moved_ns = abs(after.offset_ns - before.offset_ns)
    return Offset(before.offset_ns, max(before.error_ns, moved_ns + after.error_ns))
