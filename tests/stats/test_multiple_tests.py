from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.multiple_tests import benjamini_hochberg, holm, kruskal_wallis, pairwise

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray


families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_golden_family_in_any_order() -> None:
    p = np.array([0.001, 0.01, 0.02, 0.03, 0.04, 0.2])
    expected = np.array([0.006, 0.05, 0.08, 0.09, 0.09, 0.2])
    order = np.array([3, 0, 5, 1, 4, 2])
    np.testing.assert_allclose(holm(p), expected, rtol=1e-12)
    np.testing.assert_allclose(holm(p[order]), expected[order], rtol=1e-12)


def test_false_discovery_of_the_golden_family_in_any_order() -> None:
    p = np.array([0.001, 0.01, 0.02, 0.03, 0.04, 0.2])
    # 6 p / rank: .006, .03, .04, .045, .048, .2, already in order.
    expected = np.array([0.006, 0.03, 0.04, 0.045, 0.048, 0.2])
    order = np.array([3, 0, 5, 1, 4, 2])
    np.testing.assert_allclose(benjamini_hochberg(p), expected, rtol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p[order]), expected[order], rtol=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_one_test_alone_needs_no_adjustment(adjust: Callable[[FloatArray], FloatArray]) -> None:
    assert adjust(np.array([0.03])).tolist() == [0.03]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@given(families)
def test_adjusted_p_keeps_the_order_and_never_falls(
    adjust: Callable[[FloatArray], FloatArray], family: list[float]
) -> None:
    p = np.array(family)
    adjusted = adjust(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * len(p))).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


@given(families, st.floats(0.001, 0.2))
def test_it_rejects_what_holms_step_down_rejects(family: list[float], alpha: float) -> None:
    rejected = 0
    for k, p in enumerate(sorted(family)):
        if p * (len(family) - k) > alpha:
            break
        rejected += 1
    assert np.count_nonzero(holm(np.array(family)) <= alpha) == rejected


@given(families, st.floats(0.001, 0.2))
def test_it_rejects_what_benjamini_and_hochberg_step_up_to(family: list[float], q: float) -> None:
    k, p = len(family), sorted(family)
    rejected = max((i for i in range(1, k + 1) if p[i - 1] * (k / i) <= q), default=0)
    adjusted = benjamini_hochberg(np.array(family))
    assert np.count_nonzero(adjusted <= q) == rejected
    assert (adjusted <= holm(np.array(family)) * (1 + 1e-12)).all()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    ("p", "message"),
    [
        (np.array([]), "empty"),
        (np.array([[0.1]]), "shape"),
        (np.array([0.1, np.nan]), "nan"),
        (np.array([-0.1]), "between 0 and 1"),
        (np.array([1.1]), "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(
    p: np.ndarray, message: str, adjust: Callable[[FloatArray], FloatArray]
) -> None:
    with pytest.raises(ValueError, match=message):
        adjust(p)


several = st.lists(
    st.lists(st.integers(-4, 4), min_size=1, max_size=8).map(lambda x: np.array(x, float)),
    min_size=2,
    max_size=5,
)


def groups(*rows: list[float]) -> list[np.ndarray]:
    return [np.array(row, dtype=np.float64) for row in rows]


def test_golden_groups() -> None:
    found = kruskal_wallis(groups([1, 2, 3], [4, 5, 6], [7, 8, 9]))
    assert found.h == pytest.approx(7.2, abs=1e-12)
    assert found.df == 2
    assert found.p == pytest.approx(0.0273237, abs=5e-8)
    assert found.notes == ("p is approximate: take at least 5 launches of each group",)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300, 5e-324])
def test_equal_values_give_p_1(value: float) -> None:
    found = kruskal_wallis([np.full(6, value)] * 3)
    assert (found.h, found.df, found.p, found.notes) == (0, 2, 1, ())
    assert [(pair.p, pair.p_adjusted) for pair in pairwise([np.full(6, value)] * 3)] == [(1, 1)] * 3


def test_one_value_in_each_group_is_enough_for_a_number() -> None:
    found = kruskal_wallis(groups([1], [2]))
    assert (found.h, found.df) == (1, 1)
    assert found.p == pytest.approx(stats.chi2.sf(1, 1))
    (pair,) = pairwise(groups([1], [2]))
    assert (pair.first, pair.second, pair.u, pair.p, pair.p_adjusted) == (0, 1, 0, 1, 1)


def test_two_groups_are_the_classical_mann_whitney_test() -> None:
    x, y = np.random.default_rng(5).integers(0, 9, size=(2, 12)).astype(np.float64)
    plain = stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=False)
    assert kruskal_wallis([x, y]).p == pytest.approx(plain.pvalue, rel=1e-9)


def test_each_pair_is_tested_exactly_and_adjusted_by_holm() -> None:
    drawn = groups([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [3, 4, 6, 8, 11])
    found = pairwise(drawn)
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (0, 2), (1, 2)]
    assert found[0].p == pytest.approx(0.00793651, abs=5e-9)
    adjusted = holm(np.array([pair.p for pair in found]))
    assert [pair.p_adjusted for pair in found] == adjusted.tolist()
    assert found[0].p_adjusted == 3 * found[0].p


@given(several)
def test_neither_order_nor_scale_matters(drawn: list[np.ndarray]) -> None:
    plain = kruskal_wallis(drawn)
    assert 0 <= plain.p <= 1
    assert plain.h >= 0
    moved = kruskal_wallis([np.exp(group[::-1]) * 1e-200 for group in drawn[::-1]])
    assert moved.h == pytest.approx(plain.h, rel=1e-12, abs=1e-12)
    turned = kruskal_wallis([-1e300 * group for group in drawn])
    assert turned.h == pytest.approx(plain.h, rel=1e-12, abs=1e-12)


@given(several)
def test_a_pair_is_never_more_significant_adjusted_than_alone(drawn: list[np.ndarray]) -> None:
    found = pairwise(drawn)
    assert len(found) == len(drawn) * (len(drawn) - 1) // 2
    for pair in found:
        assert pair.p <= pair.p_adjusted <= 1
        assert 0 <= pair.u <= len(drawn[pair.first]) * len(drawn[pair.second])


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        ([], "at least 2 groups are needed to compare them, not 0"),
        (groups([1, 2]), "at least 2 groups are needed to compare them, not 1"),
        (groups([1, 2], []), "group 1 is empty"),
        (groups([1, np.nan], [1]), "group 0 must be finite, and is nan"),
        (groups([1], [np.inf]), "group 1 must be finite, and is inf"),
        ([np.ones((2, 2)), np.ones(2)], "group 0 must have shape"),
        (groups([1], [1e302]), "group 1 must be within"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(drawn: list[np.ndarray], message: str) -> None:
    for compare in (kruskal_wallis, pairwise):
        with pytest.raises(ValueError, match=message):
            compare(drawn)
