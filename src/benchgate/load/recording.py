"""What the workers of a group record of each step, and how groups are merged."""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.load import MOST_ERRORS_KEPT, MOST_WINDOWS, KeptError, Windows
from benchgate.stats.histogram import Histogram, from_bytes, to_bytes
from benchgate.stats.reservoir import Reservoir

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from benchgate.arrays import IntArray
    from benchgate.load.schedule import Timetable


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


@dataclass(slots=True)
class Window:
    """What is kept of one window of a step once it is over.

    Attributes:
        ops: operations that ended well in it.
        errors: operations that failed in it.
        histogram: of the latencies in ns, as `stats.histogram.to_bytes` writes it; empty without
            any.
    """

    ops: int = 0
    errors: int = 0
    histogram: bytes = b""

    def add(self, histogram: Histogram) -> None:
        """Add operations that ended well; what is given is used up."""
        self.ops += histogram.count
        if self.histogram:
            histogram.merge(from_bytes(self.histogram))
        self.histogram = to_bytes(histogram)


@dataclass(slots=True)
class StepRecord:
    """What the workers of a group recorded of one step; it can be pickled and merged.

    Attributes:
        reservoir: a random sample of the latencies in ns.
        histogram: of all latencies of `ops` and `unfinished`, except those of open windows.
        windows: those with something in them, by their index.
        open: the histograms of windows that are not over.
        kept_errors: the first errors, at most MOST_ERRORS_KEPT.
        unfinished: operations that were due and that no worker had begun at the end.
    """

    reservoir: Reservoir
    histogram: Histogram = field(default_factory=Histogram)
    windows: dict[int, Window] = field(default_factory=dict)
    open: dict[int, Histogram] = field(default_factory=dict)
    kept_errors: list[KeptError] = field(default_factory=list)
    unfinished: int = 0

    @property
    def ops(self) -> int:
        """Operations that ended well."""
        return sum(window.ops for window in self.windows.values())

    @property
    def errors(self) -> int:
        """Operations that failed, or did not end."""
        return sum(window.errors for window in self.windows.values())

    def window(self, index: int) -> Window:
        return self.windows.setdefault(index, Window())

    def record(self, window: int, latencies: IntArray) -> None:
        """Record operations that ended well; a window that is over opens again for them."""
        self.reservoir.record_many(latencies)
        if window not in self.open:  # a histogram is too large to be made in vain
            self.open[window] = Histogram()
        self.open[window].record_many(latencies)

    def close(self, before: float = math.inf) -> None:
        """Close the windows that are over."""
        for index in [one for one in self.open if one < before]:
            histogram = self.open.pop(index)
            self.histogram.merge(histogram)
            self.window(index).add(histogram)

    def merge(self, other: StepRecord) -> None:
        """Add what another group recorded."""
        self.reservoir.merge(other.reservoir)
        self.histogram.merge(other.histogram)
        for index, window in other.windows.items():
            mine = self.window(index)
            mine.errors += window.errors
            if window.histogram:
                mine.add(from_bytes(window.histogram))
        errors = sorted([*self.kept_errors, *other.kept_errors], key=lambda one: one.at_s)
        self.kept_errors = errors[:MOST_ERRORS_KEPT]
        self.unfinished += other.unfinished

    def course(self, windowing: Windowing) -> Windows:
        """List all windows, also those with nothing in them."""
        empty = Window()
        course = [self.windows.get(index, empty) for index in range(windowing.count)]
        # One after the other: each histogram takes a quarter of a megabyte.
        p50_ns, p95_ns, p99_ns = zip(*map(_percentiles, course), strict=True)
        return Windows(
            width_s=float(windowing.width_s),
            last_s=windowing.last_s,
            ops=tuple(window.ops for window in course),
            errors=tuple(window.errors for window in course),
            p50_ns=p50_ns,
            p95_ns=p95_ns,
            p99_ns=p99_ns,
        )


def _percentiles(window: Window) -> tuple[int | None, int | None, int | None]:
    if not window.histogram:
        return None, None, None
    histogram = from_bytes(window.histogram)
    return histogram.percentile(0.5), histogram.percentile(0.95), histogram.percentile(0.99)


LATE = -1
"""In place of a step: the values are how late free workers began what was due."""


class OperationRecorder:
    """Takes what the workers of a group measure.

    Workers only hand over full buffers, which takes a fraction of a microsecond. One thread, which
    is no worker, calls `collect` a few times a second.

    Args:
        times: when the measured load takes place.
        seed: where the random samples come from.
    """

    def __init__(
        self, steps: Sequence[str], windowing: Windowing, *, times: Timetable, seed: str
    ) -> None:
        self._names = tuple(steps)
        self._windowing = windowing
        self._times = times
        self._steps = [
            StepRecord(Reservoir(Random(f"{seed} {name}")))  # noqa: S311 - repeatable on purpose
            for name in steps
        ]
        self._handed: deque[tuple[int, int, array[int]]] = deque()
        self._lock = threading.Lock()
        self.late = Histogram()

    def window_at(self, now_ns: int) -> int:
        """Return the window in which an operation that ends now counts."""
        return self._windowing.index_at(self._times.passed_ns(now_ns))

    def window_end_ns(self, window: int) -> int:
        """Return when a window is over."""
        return self._times.at_ns((window + 1) * self._windowing.width_s * 1_000_000_000)

    def hand_over(self, step: int, window: int, latencies: array[int]) -> None:
        """Record the latencies of operations that ended well in that window, in ns."""
        self._handed.append((step, window, latencies))

    def keeps_more(self, step: int) -> bool:
        """Whether the text of another error of that step would be kept."""
        return len(self._steps[step].kept_errors) < MOST_ERRORS_KEPT

    def fail(self, step: int, at_ns: int, text: str) -> None:
        """Record that an operation failed.

        Args:
            text: why, in one line without secrets; it is not used if `keeps_more` says no.
        """
        found = self._steps[step]
        with self._lock:
            found.window(self.window_at(at_ns)).errors += 1
            if self.keeps_more(step):
                passed_s = max(self._times.passed_ns(at_ns), 0) / 1e9
                found.kept_errors.append(KeptError(passed_s, text))

    def leave_unfinished(self, step: int, waited_ns: int) -> None:
        """Record that an operation that was due had not begun at the end.

        It counts with the time that it had waited, which is less than it would have taken. Without
        it, a target that stalls at the end would look faster than one that does not.
        """
        found = self._steps[step]
        with self._lock:
            found.unfinished += 1
            found.histogram.record(waited_ns)
            found.reservoir.record(waited_ns)

    def collect(self, now_ns: int) -> None:
        """Take in what was handed over, and close the windows that are over."""
        batches: dict[tuple[int, int], list[array[int]]] = {}
        while self._handed:
            step, window, latencies = self._handed.popleft()
            batches.setdefault((step, window), []).append(latencies)
        for (step, window), several in batches.items():
            values = np.concatenate([np.frombuffer(one, dtype=np.int64) for one in several])
            if step == LATE:
                self.late.record_many(values)
            else:
                with self._lock:
                    self._steps[step].record(window, values)
        for found in self._steps:
            with self._lock:
                found.close(self.window_at(now_ns))

    def records(self) -> dict[str, StepRecord]:
        """Close everything, and return it by step."""
        self.collect(self._times.begin_ns)
        with self._lock:
            for found in self._steps:
                found.close()
        return dict(zip(self._names, self._steps, strict=True))
