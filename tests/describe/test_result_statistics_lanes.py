from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.describe.conftest import COUNT
from tests.results import of_benchmarks, of_series, series_of

from benchgate.describe.result_statistics import compare_lanes, describe
from benchgate.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.run import Series

LANES = (None, 0, 1, 0, 1, 0)


def in_lanes(values: Sequence[float], lanes: Sequence[int | None] = LANES) -> Series:
    series = series_of([[value] for value in values])
    launches = zip(series.launches, lanes, strict=True)
    return replace(series, launches=tuple(replace(one, lane=lane) for one, lane in launches))


def test_each_lane_is_described_by_its_own_launches() -> None:
    head = in_lanes([1.0, 2.0, 3.0, 2.0, 3.0, 2.0])
    base = in_lanes([1.0, 2.0, 3.0, 2.0, 1.5, 2.0])
    alone, first, second = compare_lanes(head, base)
    assert (alone.lane, first.lane, second.lane) == (None, 0, 1)
    assert (alone.launches, first.launches, second.launches) == (1, 3, 2)
    assert (alone.p25, first.p25, second.p25) == (1.0, 2.0, 3.0)
    assert (alone.spread_ratio, first.spread_ratio) == (None, 0.0)
    assert alone.pair_spread_ratio is None
    assert first.pair_spread_ratio == 0.0
    assert second.pair_spread_ratio is not None
    assert second.pair_spread_ratio > 0.1


def test_without_the_other_side_there_are_no_pairs() -> None:
    assert [one.pair_spread_ratio for one in compare_lanes(in_lanes([1.0] * 6), None)] == [None] * 3


def test_values_of_zero_have_no_ratio() -> None:
    series = in_lanes([0.0] * 6)
    assert {one.pair_spread_ratio for one in compare_lanes(series, series)} == {None}


@pytest.mark.parametrize("lanes", [[None] * 3, [0] * 3])
def test_one_lane_is_nothing_to_compare(lanes: list[int | None]) -> None:
    assert compare_lanes(in_lanes([1.0] * 3, lanes), None) == ()


def test_counts_are_not_compared() -> None:
    assert compare_lanes(replace(in_lanes([1.0] * 6), metric=COUNT), None) == ()


def test_details_of_a_result_compare_the_lanes() -> None:
    (run,) = describe(
        Result(of_benchmarks(of_series("a", in_lanes([1.0] * 6)))), outliers="none"
    ).runs
    detail = run.series[0].detail
    assert detail is not None
    assert [lane.launches for lane in detail.lanes] == [1, 3, 2]
