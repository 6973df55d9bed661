from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats import signed_rank as signed_rank_module
from benchgate.stats.signed_rank import least_p_signed_rank, signed_rank, signed_rank_lower

differences = st.lists(st.integers(-6, 6), min_size=1, max_size=14)
untied = st.lists(st.integers(-500, 500).filter(bool), min_size=1, max_size=14, unique_by=abs)


Alternative = Literal["two-sided", "less", "greater"]
SIDES: tuple[tuple[Alternative, str], ...] = (
    ("greater", "p_greater"),
    ("less", "p_less"),
    ("two-sided", "p_two_sided"),
)


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def test_five_of_one_sign_reach_the_least_p() -> None:
    result = signed_rank(row(3, 1, 4, 5, 9))
    assert result.w_plus.tolist() == [15]
    assert result.p_greater.tolist() == [2**-5]
    assert result.p_less.tolist() == [1]
    assert result.p_two_sided.tolist() == [2**-4]
    assert least_p_signed_rank(5) == 2**-5


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_identical_arms_give_p_1(n: int) -> None:
    result = signed_rank(np.zeros((3, n)))
    assert result.p_greater.tolist() == result.p_less.tolist() == [1, 1, 1]
    assert result.p_two_sided.tolist() == [1, 1, 1]


# Two-sided 5 % points of T, as printed in the tables of textbooks.
@pytest.mark.parametrize(
    ("n", "critical"), [(6, 0), (8, 3), (10, 8), (12, 13), (15, 25), (20, 52), (25, 89)]
)
def test_published_critical_values(n: int, critical: int) -> None:
    lower = signed_rank_lower(n)
    assert lower[critical] <= 0.025 < lower[critical + 1]


@pytest.mark.parametrize("n", [20, 200])
def test_every_digit_of_the_tail_agrees_with_whole_number_counts(n: int) -> None:
    ways = [1]
    for rank in range(1, n + 1):
        ways = [
            (ways[w] if w < len(ways) else 0) + (ways[w - rank] if w >= rank else 0)
            for w in range(len(ways) + rank)
        ]
    exact = [total / 2**n for total in itertools.accumulate(ways)]
    np.testing.assert_allclose(signed_rank_lower(n), exact, rtol=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_p_is_the_share_of_sign_patterns_at_least_as_extreme(values: list[int]) -> None:
    d = np.array(values, dtype=np.float64)
    ranks = np.where(d == 0, 0, stats.rankdata(np.abs(d)))
    signs = np.array(list(itertools.product((0, 1), repeat=len(d))))
    every_w = signs @ ranks
    observed = ranks[d > 0].sum()
    result = signed_rank(d[np.newaxis])
    assert result.w_plus[0] == observed
    assert result.p_greater[0] == pytest.approx((every_w >= observed).mean(), rel=1e-12)
    assert result.p_less[0] == pytest.approx((every_w <= observed).mean(), rel=1e-12)


@given(differences)
def test_swapping_the_arms_swaps_the_sides(values: list[int]) -> None:
    d = np.array([values], dtype=np.float64)
    forward, backward = signed_rank(d), signed_rank(-d)
    assert forward.p_greater[0] == backward.p_less[0]
    assert forward.p_two_sided[0] == backward.p_two_sided[0]


@given(differences.flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_neither_order_nor_scale_matters(both: tuple[list[int], list[int]]) -> None:
    plain, shuffled = np.array(both, dtype=np.float64)
    assert (
        signed_rank(plain[np.newaxis]).p_greater == signed_rank(4 * shuffled[np.newaxis]).p_greater
    )


@given(untied, st.integers(1, 300))
def test_a_slower_head_is_never_less_significant(values: list[int], by: int) -> None:
    moved = [value + by for value in values]
    assume(0 not in moved and len({abs(value) for value in moved}) == len(moved))
    p = signed_rank(np.array([values, moved], dtype=np.float64)).p_greater
    assert p[1] <= p[0]


@given(differences.filter(lambda values: 0 in values))
def test_a_zero_that_becomes_a_little_positive_never_weakens_the_evidence(
    values: list[int],
) -> None:
    d = np.array([values, values], dtype=np.float64)
    d[1, values.index(0)] = 0.5
    p = signed_rank(d).p_greater
    assert p[1] <= p[0]


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    rng = np.random.default_rng(3)
    d = np.vstack([rng.normal(size=(20, 9)), rng.integers(-3, 4, size=(20, 9))])
    together = signed_rank(d).p_two_sided
    alone = [signed_rank(d[k : k + 1]).p_two_sided[0] for k in range(len(d))]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01, 0.001])
def test_false_alarms_come_exactly_as_often_as_the_test_says(alpha: float) -> None:
    m, n = 40_000, 12
    d = np.random.default_rng(20).standard_t(3, size=(m, n))
    alarms = int(np.count_nonzero(signed_rank(d).p_greater <= alpha))
    lower = signed_rank_lower(n)
    size = lower[lower <= alpha].max()
    bound = stats.binomtest(alarms, m).proportion_ci(0.999, method="exact")
    assert bound.low <= size <= bound.high


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_coarse_clocks_raise_no_more_false_alarms(alpha: float) -> None:
    m = 5_000
    d = np.round(np.random.default_rng(21).normal(size=(m, 12)) * 1.5)
    alarms = int(np.count_nonzero(signed_rank(d).p_greater <= alpha))
    assert stats.binomtest(alarms, m).proportion_ci(0.999, method="exact").low <= alpha


@pytest.mark.parametrize(
    ("d", "message"),
    [
        (np.empty((1, 0)), "empty"),
        (np.empty((0, 5)), "empty"),
        (np.zeros(5), "shape"),
        (row(1, np.nan), "d must be finite, and is nan at"),
        (row(1, -np.inf), "finite"),
        (np.ones((1, 1001)), "up to 1000 pairs, not 1001"),
    ],
)
def test_bad_input_is_refused(d: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        signed_rank(d)


@pytest.mark.parametrize("step", [0.01, 0.1, 0.3])
def test_with_many_ties_the_approximation_is_as_near_as_it_says(
    step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    centers = np.linspace(0, -stats.norm.ppf(1e-7) / 20, 24)
    d = np.round(rng.normal(centers[:, np.newaxis], 1, (24, 401)) / step) * step
    near = signed_rank(d).p_greater
    monkeypatch.setattr(signed_rank_module, "_EXACT_TIED_PAIRS", 1000)
    exact = signed_rank(d).p_greater
    assert not np.array_equal(near, exact)
    for lowest_p, within in ((0.05, 2e-5), (0.001, 1e-3), (1e-5, 5e-3), (1e-7, 0.03)):
        kept = exact >= lowest_p
        assert kept.sum() >= 5
        np.testing.assert_allclose(near[kept], exact[kept], rtol=within)


def test_the_least_p_of_many_ties_is_not_undercut() -> None:
    d = np.round(np.random.default_rng(7).uniform(1, 9, (1, 600)), 1)
    assert signed_rank(d).p_greater.tolist() == [2.0**-600]
    assert signed_rank(-d).p_greater.tolist() == [1.0]
