"""Time windows of a launch: which there are, and what is kept of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.model.load import MOST_WINDOWS, Windows
from benchgate.stats.histogram import Histogram, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Window:
    """What is kept of one window of a step once it is over.

    Attributes:
        ops: operations that ended well in it.
        errors: operations that failed in it.
        histogram: of the latencies in ns, as `stats.hdr.to_bytes` writes it; empty without any.
    """

    ops: int
    errors: int
    histogram: bytes


@dataclass(frozen=True, slots=True)
class Windowing:
    """How the measured time is divided.

    Attributes:
        width_s: of each window but the last.
        count: how many there are.
        last_s: width of the last one.
    """

    width_s: int
    count: int
    last_s: float

    @classmethod
    def of(cls, duration_s: float) -> Windowing:
        """Windows of 1 s; of the fewest whole seconds more if there would be too many."""
        width_s = max(1, math.ceil(duration_s / MOST_WINDOWS))
        count = max(1, math.ceil(duration_s / width_s))
        return cls(width_s, count, duration_s - (count - 1) * width_s)

    def index_at(self, passed_ns: int) -> int:
        """Return the window of an operation that ends then; after the end it is the last one."""
        return min(max(passed_ns, 0) // (self.width_s * 1_000_000_000), self.count - 1)


def merged(windows: Sequence[Window]) -> Window:
    """Merge what several groups kept of one window."""
    if len(windows) == 1:
        return windows[0]
    held = [from_bytes(window.histogram) for window in windows if window.histogram]
    total = Histogram()
    for histogram in held:
        total.merge(histogram)
    return Window(
        sum(window.ops for window in windows),
        sum(window.errors for window in windows),
        to_bytes(total) if held else b"",
    )


def rows(windowing: Windowing, windows: Mapping[int, Window]) -> Windows:
    """List all windows, also those with nothing in them."""
    empty = Window(0, 0, b"")
    course = [windows.get(index, empty) for index in range(windowing.count)]
    # One after the other: each histogram takes a quarter of a megabyte.
    percentiles = [_percentiles(window) for window in course]
    return Windows(
        width_s=float(windowing.width_s),
        last_s=windowing.last_s,
        ops=tuple(window.ops for window in course),
        errors=tuple(window.errors for window in course),
        p50_ns=tuple(p50 for p50, _, _ in percentiles),
        p95_ns=tuple(p95 for _, p95, _ in percentiles),
        p99_ns=tuple(p99 for _, _, p99 in percentiles),
    )


def _percentiles(window: Window) -> tuple[int | None, int | None, int | None]:
    if not window.histogram:
        return None, None, None
    histogram = from_bytes(window.histogram)
    return histogram.percentile(0.5), histogram.percentile(0.95), histogram.percentile(0.99)
