"""Where the objects lie that a benchmark makes and frees: at other places now and then.

An allocator gives out first what was freed last. So without this, a loop uses the blocks that the
import of the code happened to free, and they are others as soon as an edit adds an import, a table
or a regular expression: nothing that is measured changes, but its time does, by up to 4 percent.
See benchgate's memory_layout.py for what lies at the places that a round draws.
"""

from __future__ import annotations

import sys
from itertools import repeat, starmap

from .clocks import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # What makes an object, its arguments, and how many objects are free at a time.
    Kind = tuple[Callable[..., Any], tuple[Any, ...], int]

# So often, drawing takes a few percent of the time, and a launch sees several places.
BETWEEN_NS = 3_000_000
# Odd, so that the free blocks of a pool spread over all sets of a cache.
PARTS = 17
# CPython's allocator serves objects of 16, 32, ... 512 bytes from pools of 16 KiB.
POOL_BYTES = 16 * 1024
LARGEST_BLOCK_BYTES = 512
# CPython keeps so many freed objects of a type for the next ones of that type.
KEPT_LISTS = KEPT_DICTS = 80
KEPT_FLOATS = 100
KEPT_TUPLES = 20
LONGEST_TUPLE = 6


def kinds() -> list[Kind]:
    """All kinds of objects that the allocator tells apart, and those that CPython itself keeps."""
    header_bytes = sys.getsizeof(b"")
    free = {
        size: 1 + POOL_BYTES // size // PARTS for size in range(16, LARGEST_BLOCK_BYTES + 1, 16)
    }
    found: list[Kind] = [
        (bytes, (size - header_bytes,), count)
        for size, count in free.items()
        if size > header_bytes
    ]
    # Each is made in the way that takes what was kept: calls of most types do not.
    found += [
        (object, (), free[16]),
        (float, (0,), KEPT_FLOATS + free[32]),
        (dict.fromkeys, (("key",),), KEPT_DICTS),  # the keys; the objects are made by `copy`
        ({}.copy, (), KEPT_DICTS),
        ([].copy, (), KEPT_LISTS),
    ]
    return found + [(tuple, ([None] * size,), KEPT_TUPLES) for size in range(1, LONGEST_TUPLE + 1)]


class FreeBlocks:
    """Holds objects of every kind, but for one part of them, whose places are free."""

    def __init__(self) -> None:
        self.kinds = kinds()
        self.parts: list[list[Any]] = [[] for _ in range(PARTS)]
        for make, arguments, count in self.kinds:
            objects = list(starmap(make, repeat(arguments, count * PARTS)))
            for index in range(PARTS):
                self.parts[index] += objects[index::PARTS]
            del objects
        self.free = 0
        self.drawn_ns = perf_counter_ns()
        self.parts[self.free].clear()

    def draw(self) -> None:
        """Take the places that are free now, and free those of the next part, if it is time."""
        now_ns = perf_counter_ns()
        if now_ns - self.drawn_ns < BETWEEN_NS:
            return
        self.drawn_ns = now_ns
        part = self.parts[self.free]
        self.free = (self.free + 1) % PARTS
        for make, arguments, count in self.kinds:
            part.extend(starmap(make, repeat(arguments, count)))
        # Nothing else is freed after these.
        self.parts[self.free].clear()
