"""Tells how the time of a call grows with its input, whatever the speed of the machine."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

TIMES: Final = 8
"""How much longer the longer input is: the shorter one, doubled three times."""

MOST_RATIO: Final = 24
"""Most times of the time: linear growth gives 8, n log n about 10, quadratic growth 64."""

_TRIES = 3
_REPEATS = 3


def grows_too_fast(make: Callable[[int], T], read: Callable[[T], object], size: int) -> str:
    """Compare the time for an input of `size` with that for an input an eighth of the size.

    It is measured anew if the ratio is high, because other programs use the machine, too.

    Returns:
        The ratio, in words; "" if it is low in one of the tries.
    """
    short, long = make(size // TIMES), make(size)
    read(short)  # imports what is imported late
    said = ""
    for _ in range(_TRIES):
        before_s, after_s = _best_s(read, short, _REPEATS), _best_s(read, long, 1)
        if after_s <= MOST_RATIO * before_s:
            return ""
        ratio = after_s / before_s
        said = f"{TIMES} times the input took {ratio:.0f} times the time ({after_s:.3f} s)"
    return said


def _best_s(read: Callable[[T], object], text: T, repeats: int) -> float:
    """The shortest CPU time of several calls."""
    times_s = []
    gc.collect()
    for _ in range(repeats):
        start_s = time.process_time()
        read(text)
        times_s.append(time.process_time() - start_s)
    return min(times_s)
