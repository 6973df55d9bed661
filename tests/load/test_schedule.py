from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.load.ramps import Ramp, ramps, rate_ramps, warm_up_rate, worker_ramps
from benchgate.load.scenario import Load
from benchgate.load.schedule import Arrivals, share_of, working_times

rates = st.floats(0, 1000) | st.just(0.0)


def load(**tables: object) -> Load:
    return Load.model_validate(tables)


def due_times(course: list[Ramp]) -> list[int]:
    arrivals, found = Arrivals(course), list[int]()
    while (due_ns := arrivals.due_ns(len(found))) is not None:
        found.append(due_ns)
    return found


def test_a_constant_rate_is_evenly_spaced_and_ends_with_the_time() -> None:
    assert due_times(ramps(4, (), 1.5)) == [0, 250e6, 500e6, 750e6, 1000e6, 1250e6]


@pytest.mark.parametrize(("rate", "duration_s"), [(3, 1), (7, 10), (1000, 10), (0.1, 30), (333, 3)])
def test_there_are_as_many_as_the_rate_says(rate: float, duration_s: float) -> None:
    assert len(due_times(ramps(rate, (), duration_s))) == round(rate * duration_s)


def test_a_ramp_from_nothing_is_the_square_root_of_the_number() -> None:
    # 10 s up to 20 per second: 100 operations, and n of them by 10 s * sqrt(n / 100).
    found = due_times(ramps(0, [(10, 20)], 10))
    assert len(found) == 100
    assert [found[n] / 1e9 for n in (0, 1, 25, 81)] == pytest.approx([0, 1, 5, 9])


def test_a_ramp_down_is_the_same_backwards() -> None:
    up = due_times(ramps(10, [(4, 50)], 4))
    down = due_times(ramps(50, [(4, 10)], 4))
    assert len(up) == len(down) == 120
    for n, due_ns in enumerate(down[1:], 1):
        assert due_ns / 1e9 == pytest.approx(4 - up[120 - n] / 1e9, abs=1e-6)


@given(
    rates,
    st.lists(st.tuples(st.floats(0.01, 3), rates), max_size=4),
    st.floats(0.01, 5),
)
def test_due_times_ascend_and_fit_the_area(
    first: float, stages: list[tuple[float, float]], duration_s: float
) -> None:
    course = ramps(first, stages, duration_s)
    assert course[0].begin_s == 0
    assert course[-1].end_s == pytest.approx(duration_s)
    found = due_times(course)
    assert found == sorted(found)
    area = sum(ramp.area for ramp in course)
    assert len(found) == pytest.approx(area, abs=1.001)
    for n, due_ns in enumerate(found):
        assert 0 <= due_ns <= duration_s * 1e9 + 1
        passed = sum(_area_until(ramp, due_ns / 1e9) for ramp in course)
        assert passed == pytest.approx(n, abs=1e-3 + 1e-6 * n)


def _area_until(ramp: Ramp, time_s: float) -> float:
    end_s = min(max(time_s, ramp.begin_s), ramp.end_s)
    share = (end_s - ramp.begin_s) / (ramp.end_s - ramp.begin_s)
    return (end_s - ramp.begin_s) * (ramp.first + ramp.first + share * (ramp.last - ramp.first)) / 2


def test_stages_follow_each_other_and_the_last_value_stays() -> None:
    assert ramps(1, [(2, 5), (1, 5), (1, 0)], 10) == [
        Ramp(0, 2, 1, 5),
        Ramp(2, 3, 5, 5),
        Ramp(3, 4, 5, 0),
        Ramp(4, 10, 0, 0),
    ]


def test_stages_beyond_the_time_are_cut_off() -> None:
    assert ramps(0, [(2, 10), (4, 30)], 4) == [Ramp(0, 2, 0, 10), Ramp(2, 4, 10, 20)]


@given(st.integers(1, 6), st.integers(1, 12), st.integers(1, 300))
def test_groups_share_the_operations_without_gaps(
    groups: int, workers: int, operations: int
) -> None:
    parts = [tuple(range(first, workers, groups)) for first in range(min(groups, workers))]
    taken = sorted(
        index
        for part in parts
        for n in range(operations)
        if (index := share_of(part, workers, n)) < operations
    )
    assert taken == list(range(operations))


def test_workers_come_and_go_with_the_stages() -> None:
    course = worker_ramps(
        load(
            concurrency=1,
            stages=[
                {"duration": "9s", "concurrency": 10},
                {"duration": "5s", "concurrency": 10},
                {"duration": "9s", "concurrency": 1},
            ],
        ),
        23,
    )
    assert working_times(0, course) == [(0, 23)]
    assert working_times(1, course) == [(1, 22)]
    assert working_times(5, course) == [(5, 18)]
    assert working_times(9, course) == [(9, 14)]
    assert working_times(10, course) == []


def test_a_worker_may_come_twice() -> None:
    course = ramps(1, [(1, 3), (1, 1), (1, 3)], 3)
    assert working_times(1, course) == [(0.5, 1.5), (2.5, 3)]


def test_without_stages_all_work_all_the_time() -> None:
    course = worker_ramps(load(concurrency=3), 10)
    assert [working_times(worker, course) for worker in range(4)] == [[(0, 10)]] * 3 + [[]]


@pytest.mark.parametrize(
    ("tables", "first", "expected"),
    [
        ({"rate": 50.0}, 50, [Ramp(0, 6, 50, 50)]),
        (
            {"rate": 50.0, "stages": [{"duration": "6s", "rate": 80.0}]},
            50,
            [Ramp(0, 6, 50, 80)],
        ),
        (
            {"stages": [{"duration": "2s", "rate": 0.0}, {"duration": "4s", "rate": 8.0}]},
            8,
            [Ramp(0, 2, 0, 0), Ramp(2, 6, 0, 8)],
        ),
    ],
)
def test_the_warm_up_has_the_first_rate_there_is(
    tables: dict[str, object], first: float, expected: list[Ramp]
) -> None:
    assert warm_up_rate(load(**tables)) == first
    assert rate_ramps(load(**tables), 6) == expected
