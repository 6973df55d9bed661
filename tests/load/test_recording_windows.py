from __future__ import annotations

from random import Random

import pytest

from benchgate.load.recording import StepRecord, Window, Windowing
from benchgate.stats.histogram import Histogram, from_bytes, to_bytes
from benchgate.stats.reservoir import Reservoir

S = 1_000_000_000


def histogram_of(*values: int) -> bytes:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return to_bytes(histogram)


def record_of(windows: dict[int, Window]) -> StepRecord:
    return StepRecord(Reservoir(Random(1)), windows=windows)  # noqa: S311 - repeatable on purpose


@pytest.mark.parametrize(
    ("duration_s", "expected"),
    [
        (10, Windowing(1, 10, 1)),
        (2.5, Windowing(1, 3, 0.5)),
        (0.3, Windowing(1, 1, 0.3)),
        (3600, Windowing(1, 3600, 1)),
        (3600.5, Windowing(2, 1801, 0.5)),
        (86_400, Windowing(24, 3600, 24)),
    ],
)
def test_there_are_at_most_as_many_as_are_stored(duration_s: float, expected: Windowing) -> None:
    assert Windowing.of(duration_s) == expected


@pytest.mark.parametrize(
    ("passed_ns", "index"), [(-5, 0), (0, 0), (S - 1, 0), (S, 1), (2 * S, 2), (99 * S, 2)]
)
def test_what_ends_after_the_end_counts_in_the_last_one(passed_ns: int, index: int) -> None:
    assert Windowing.of(2.5).index_at(passed_ns) == index


def test_windows_with_nothing_in_them_are_rows() -> None:
    windows = {0: Window(3, 1, histogram_of(10, 20, 30)), 2: Window(0, 5, b"")}
    found = record_of(windows).course(Windowing.of(3.5))
    assert (found.width_s, found.last_s) == (1, 0.5)
    assert found.ops == (3, 0, 0, 0)
    assert found.errors == (1, 0, 5, 0)
    assert found.p50_ns == (20, None, None, None)
    assert found.p95_ns == found.p99_ns == (30, None, None, None)


def test_groups_are_merged() -> None:
    record = record_of({0: Window(2, 0, histogram_of(10, 20))})
    record.merge(record_of({0: Window(0, 3, b""), 1: Window(0, 1, b"")}))
    record.merge(record_of({0: Window(3, 1, histogram_of(5, 5, 90)), 1: Window(0, 2, b"")}))
    found = record.windows[0]
    assert (found.ops, found.errors) == (5, 4)
    histogram = from_bytes(found.histogram)
    assert (histogram.count, histogram.percentile(0.5), histogram.max) == (5, 10, 90)
    assert record.windows[1] == Window(0, 3, b"")
