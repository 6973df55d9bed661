"""What the workers of a group record, in memory that does not grow with the operations."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchgate.load.windows import Window
from benchgate.model.load import MOST_ERRORS_KEPT, KeptError
from benchgate.stats.histogram import Histogram, Reservoir, from_bytes, to_bytes

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from benchgate.arrays import IntArray
    from benchgate.load.turns import Timetable
    from benchgate.load.windows import Windowing

LATE = -1
"""In place of a step: the values are how late free workers began what was due."""


@dataclass(slots=True)
class StepRecord:
    """What the workers of a group recorded of one step; it can be pickled and merged.

    Attributes:
        ops: operations that ended well.
        errors: operations that failed, or did not end.
        unfinished: operations that were due and that no worker had begun at the end.
        kept_errors: the first errors, at most MOST_ERRORS_KEPT.
        histogram: of the latencies of `ops` and `unfinished`, in ns.
        reservoir: a random sample of the same latencies.
        windows: those with something in them, by their index.
    """

    ops: int
    errors: int
    unfinished: int
    kept_errors: list[KeptError]
    histogram: Histogram
    reservoir: Reservoir
    windows: dict[int, Window]


@dataclass(slots=True)
class _Step:
    """What is recorded of one step so far.

    Attributes:
        open: the histograms of windows that are not over.
        closed: what is kept of those that are.
        failed: how many operations failed, by window.
    """

    reservoir: Reservoir
    histogram: Histogram = field(default_factory=Histogram)
    open: dict[int, Histogram] = field(default_factory=dict)
    closed: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    failed: Counter[int] = field(default_factory=Counter)
    kept_errors: list[KeptError] = field(default_factory=list)
    ops: int = 0
    unfinished: int = 0


class Recorder:
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
            _Step(Reservoir(Random(f"{seed} {name}")))  # noqa: S311 - repeatable on purpose
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
            found.failed[self.window_at(at_ns)] += 1
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
                    _record(self._steps[step], window, values)
        current = self.window_at(now_ns)
        for found in self._steps:
            for window in [one for one in found.open if one < current]:
                _close(found, window)

    def records(self) -> dict[str, StepRecord]:
        """Close everything, and return it by step."""
        self.collect(self._times.begin_ns)
        with self._lock:
            return {
                name: _ended(found) for name, found in zip(self._names, self._steps, strict=True)
            }


def _record(step: _Step, window: int, latencies: IntArray) -> None:
    step.ops += len(latencies)
    step.reservoir.record_many(latencies)
    if window in step.open:
        step.open[window].record_many(latencies)
        return
    histogram = Histogram()
    if window in step.closed:
        # A worker that was in a long operation hands over late what it measured before.
        histogram.record_many(latencies)
        step.histogram.merge(histogram)
        ops, kept = step.closed[window]
        histogram.merge(from_bytes(kept))
        step.closed[window] = ops + len(latencies), to_bytes(histogram)
    else:
        histogram.record_many(latencies)
        step.open[window] = histogram


def _close(step: _Step, window: int) -> None:
    histogram = step.open.pop(window)
    step.histogram.merge(histogram)
    step.closed[window] = histogram.count, to_bytes(histogram)


def _ended(step: _Step) -> StepRecord:
    for window in list(step.open):
        _close(step, window)
    windows = {
        window: Window(ops, step.failed[window], histogram)
        for window in sorted({*step.closed, *step.failed})
        for ops, histogram in [step.closed.get(window, (0, b""))]
    }
    return StepRecord(
        ops=step.ops,
        errors=step.failed.total(),
        unfinished=step.unfinished,
        kept_errors=list(step.kept_errors),
        histogram=step.histogram,
        reservoir=step.reservoir,
        windows=windows,
    )
