from __future__ import annotations

import numpy as np
from scipy import stats

from benchgate.stats.ranks import doubled_midranks, rows_by_pattern


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
