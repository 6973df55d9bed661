from __future__ import annotations

import pickle
import tracemalloc
from array import array
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.load.generator import late_p99_s
from benchgate.load.group import EndedGroup, GroupRecord
from benchgate.load.recording import LATE, OperationRecorder, Windowing
from benchgate.load.schedule import Timetable
from benchgate.model.load import Loop
from benchgate.stats.histogram import Histogram, from_bytes

if TYPE_CHECKING:
    from benchgate.load.recording import StepRecord

S = 1_000_000_000


def recorder_of(duration_s: float = 10, *, steps: int = 1, begin_ns: int = 0) -> OperationRecorder:
    names = [f"step{number}" for number in range(steps)]
    return OperationRecorder(names, Windowing.of(duration_s), times=Timetable(begin_ns), seed="7")


def hand_over(recorder: OperationRecorder, window: int, *latencies: int, step: int = 0) -> None:
    recorder.hand_over(step, window, array("q", latencies))


def group_of(record: StepRecord) -> GroupRecord:
    return GroupRecord({"step0": record}, 0.0, 0, 0, Histogram())


def test_windows_are_closed_when_they_are_over_and_nothing_is_lost() -> None:
    recorder = recorder_of()
    hand_over(recorder, 0, 10, 20)
    hand_over(recorder, 1, 30)
    recorder.collect(S + 5)
    hand_over(recorder, 1, 40)
    hand_over(recorder, 3, 50)
    recorder.collect(4 * S)
    record = recorder.records()["step0"]
    assert (record.ops, record.histogram.count, record.reservoir.count) == (5, 5, 5)
    assert {index: window.ops for index, window in record.windows.items()} == {0: 2, 1: 2, 3: 1}
    assert from_bytes(record.windows[1].histogram).percentile(1) == 40
    assert sorted(record.reservoir.values()) == [10, 20, 30, 40, 50]


def test_a_worker_that_hands_over_late_still_counts_in_its_window() -> None:
    recorder = recorder_of()
    hand_over(recorder, 0, 10)
    recorder.collect(5 * S)
    hand_over(recorder, 0, 20, 30)
    recorder.collect(6 * S)
    record = recorder.records()["step0"]
    assert record.windows[0].ops == record.histogram.count == 3
    assert from_bytes(record.windows[0].histogram).counts()[[10, 20, 30]].tolist() == [1, 1, 1]


def test_errors_count_in_their_window_and_the_last_one_takes_what_came_after() -> None:
    recorder = recorder_of(2.5, begin_ns=100)
    recorder.fail(0, 100 + S, "refused")
    recorder.fail(0, 100 + 9 * S, "gone")
    record = recorder.records()["step0"]
    assert {index: window.errors for index, window in record.windows.items()} == {1: 1, 2: 1}
    assert [(error.at_s, error.text) for error in record.kept_errors] == [
        (1, "refused"),
        (9, "gone"),
    ]


def test_lateness_is_no_latency() -> None:
    recorder = recorder_of()
    recorder.hand_over(LATE, 0, array("q", [5, 7]))
    record = recorder.records()["step0"]
    assert (recorder.late.count, record.ops) == (2, 0)


def test_what_was_not_begun_is_in_the_histogram_alone() -> None:
    recorder = recorder_of()
    recorder.leave_unfinished(0, 500)
    record = recorder.records()["step0"]
    assert (record.ops, record.errors, record.unfinished) == (0, 0, 1)
    assert (record.histogram.count, record.reservoir.count, record.windows) == (1, 1, {})


def test_it_takes_no_more_memory_for_more_operations() -> None:
    latencies = np.random.default_rng(1).lognormal(np.log(1e6), 0.5, 5_000).astype(np.int64)
    batch = array("q", latencies.tobytes())

    def record(batches: int) -> int:
        recorder = recorder_of(10, steps=2)
        for number in range(batches):
            recorder.hand_over(number % 2, number * 10 // batches, batch[:])
            recorder.collect(number * 10 * S // batches)
        recorder.records()
        return tracemalloc.get_traced_memory()[1]

    record(20)  # what numpy keeps for its next arrays is not ours
    peaks = []
    for batches in (20, 400):
        tracemalloc.start()
        try:
            peaks.append(record(batches))
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 50_000
    assert peaks[1] < 3_000_000


def test_a_record_can_be_sent_to_another_process() -> None:
    recorder = recorder_of()
    hand_over(recorder, 0, 10, 20)
    recorder.fail(0, 5, "refused")
    record = pickle.loads(pickle.dumps(recorder.records()["step0"]))  # noqa: S301 - our own
    assert (record.ops, record.errors, record.histogram.max) == (2, 1, 20)


def test_groups_merge_by_their_operations() -> None:
    busy, idle = recorder_of(), recorder_of()
    for window in range(10):
        busy.hand_over(0, window, array("q", [1000] * 9_900))
        idle.hand_over(0, window, array("q", [5000] * 100))
    idle.fail(0, S, "second")
    busy.fail(0, 2 * S, "third")
    idle.fail(0, 0, "first")
    record = busy.records()["step0"]
    record.merge(idle.records()["step0"])
    assert (record.ops, record.errors) == (100_000, 3)
    assert record.histogram.count == record.reservoir.count == 100_000
    # 1 % of 10,000, with a standard deviation of 9.5
    assert np.count_nonzero(record.reservoir.values() == 5000) == pytest.approx(100, abs=40)
    assert [error.text for error in record.kept_errors] == ["first", "second", "third"]
    assert [window.ops for window in record.windows.values()] == [10_000] * 10
    assert record.windows[1].errors == 1


def test_the_lateness_of_all_groups_is_one_figure() -> None:
    groups = []
    for late_ns in (1000, 9000):
        group = group_of(recorder_of().records()["step0"])
        for _ in range(100):
            group.late.record(late_ns)
        groups.append(EndedGroup("here", 1, group))
    groups.append(EndedGroup("there", 1, None, "killed"))
    assert late_p99_s(groups, Loop.OPEN) == pytest.approx(9e-6, rel=1e-3)
    assert late_p99_s(groups, Loop.CLOSED) is None
    assert late_p99_s([], Loop.OPEN) == 0
