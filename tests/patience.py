"""Waiting in tests: as long as a busy machine needs, and no longer."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 120.0
"""Longer than a test waits for anything, so one that hangs fails."""

LIMITS_S = (0.5, 5.0, 60.0)

T = TypeVar("T")


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait until something is true, but not for ever."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return holds()


def limited(act: Callable[[float], T], has_begun: Callable[[], bool]) -> T:
    """Do something that exceeds a time limit, given in seconds.

    The limit is raised until what it ends has begun within it, which a busy machine may delay.
    """
    for limit_s in LIMITS_S[:-1]:
        done = act(limit_s)
        if has_begun():
            return done
    return act(LIMITS_S[-1])


def in_time(act: Callable[[float], T], late: str) -> T:
    """Do something within a time limit, given in seconds.

    The limit is raised if it was too short, which is so if the message of the error is like `late`.
    """
    for limit_s in LIMITS_S[:-1]:
        try:
            return act(limit_s)
        except Exception as error:
            if isinstance(error, AssertionError) or not re.search(late, str(error)):
                raise
    return act(LIMITS_S[-1])
