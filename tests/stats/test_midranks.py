from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.midranks import (
    doubled_midranks,
    rank_sum_ways,
    rank_sum_ways_of_each,
    rows_by_pattern,
)


def test_they_are_twice_the_midranks() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 30):
        values = rng.integers(0, 8, size=(50, n)).astype(np.float64)
        np.testing.assert_array_equal(doubled_midranks(values), 2 * stats.rankdata(values, axis=1))


def test_rows_with_the_same_ties_share_a_group_and_every_row_has_one() -> None:
    ranks = np.array([[2, 4, 6], [5, 5, 2], [6, 2, 4], [2, 5, 5]])
    groups = {pattern: rows.tolist() for pattern, rows in rows_by_pattern(ranks)}
    assert groups == {(2, 4, 6): [0, 2], (2, 5, 5): [1, 3]}


def test_no_rows_have_no_groups() -> None:
    assert list(rows_by_pattern(np.empty((0, 4), dtype=np.int64))) == []


patterns = st.lists(st.integers(0, 6), min_size=1, max_size=8).map(lambda x: tuple(sorted(x)))


def test_two_of_four_ranks_by_hand() -> None:
    # 0 + 1, 0 + 2, 0 + 3 and 1 + 2, 1 + 3, 2 + 3.
    assert rank_sum_ways((0, 1, 2, 3), 2).tolist() == [1, 1, 2, 1, 1]
    assert rank_sum_ways((0, 0, 3, 3), 2).tolist() == [1, 0, 0, 4, 0, 0, 1]


@given(patterns, st.data())
def test_every_choice_is_counted(ranks: tuple[int, ...], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(ranks)))
    counted = Counter(sum(chosen) for chosen in itertools.combinations(ranks, k))
    expected = [counted[s] for s in range(min(counted), max(counted) + 1)]
    assert rank_sum_ways(ranks, k).tolist() == expected


@given(st.integers(1, 7), st.data())
def test_many_patterns_in_any_order_are_the_same_as_each_alone(n: int, data: st.DataObject) -> None:
    ranks = st.lists(st.integers(0, 3), min_size=n, max_size=n).map(lambda x: tuple(sorted(x)))
    several = data.draw(st.lists(ranks, max_size=8))
    k = data.draw(st.integers(1, n))
    together = list(rank_sum_ways_of_each(several, k))
    assert len(together) == len(several)
    for one, ways in zip(several, together, strict=True):
        np.testing.assert_array_equal(ways, rank_sum_ways(one, k))


@pytest.mark.parametrize("n", [40, 60, 61])
def test_long_patterns_that_differ_at_the_end_count_every_choice(n: int) -> None:
    k = n // 3
    one, other = tuple(range(n)), (*range(n - 1), n + 4)
    for ranks, ways in zip((one, other), rank_sum_ways_of_each([one, other], k), strict=True):
        assert len(ways) == 1 + sum(ranks[n - k :]) - sum(ranks[:k])
        assert ways.sum() == math.comb(n, k)
    np.testing.assert_array_equal(rank_sum_ways(one, k), rank_sum_ways(one, k)[::-1])


def test_counts_beyond_2_to_the_53_are_rounded_and_no_more() -> None:
    ways = rank_sum_ways(tuple(range(100)), 50)
    assert ways.sum() == pytest.approx(math.comb(100, 50), rel=1e-13)


def test_counts_of_20_of_40_ranks_are_exact() -> None:
    ways = rank_sum_ways(tuple(sorted([2, 3, 5, 7] * 10)), 20)
    assert sum(int(count) for count in ways) == math.comb(40, 20)
