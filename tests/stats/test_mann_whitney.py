from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.mann_whitney import (
    least_p_mann_whitney,
    mann_whitney,
    mann_whitney_classical,
    mann_whitney_lower,
)

if TYPE_CHECKING:
    from benchgate.stats.midranks import Method

values = st.lists(st.integers(0, 6), min_size=1, max_size=9)


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def span(first: int, last: int) -> np.ndarray:
    return row(*range(first, last + 1))


TAIL = (100, 101, 99, 100, 102, 98, 100, 101, 99)
SMALL = row(1000, 1020, 980, 1010, 990), row(980, 970, 990, 960, 985)


@pytest.mark.parametrize(
    ("x", "y", "p"),
    [
        (span(1, 5), span(6, 10), 0.00902344),
        (span(100, 107), span(110, 117), 0.00077753),
        (span(100, 107), span(103, 110), 0.03983262),
        (row(*TAIL, 100), row(*TAIL, 120), 0.69686175),
        (span(110, 117), span(100, 107), 0.00077753),
        (span(100, 107), span(100, 107), 1.0),
        (row(*[5] * 6), row(*[5] * 6), 1.0),
    ],
)
def test_golden_classical_p(x: np.ndarray, y: np.ndarray, p: float) -> None:
    assert mann_whitney_classical(x, y)[0] == pytest.approx(p, abs=5e-9)


def test_golden_p_of_five_against_five() -> None:
    exact = mann_whitney(span(1, 5), span(6, 10))
    assert exact.u.tolist() == [0]
    assert exact.exact.tolist() == [True]
    assert exact.p_two_sided[0] == pytest.approx(0.00793651, abs=5e-9)
    assert exact.p_greater[0] == least_p_mann_whitney(5, 5)
    asymptotic = mann_whitney(span(1, 5), span(6, 10), "asymptotic")
    assert asymptotic.exact.tolist() == [False]
    assert asymptotic.p_two_sided[0] == pytest.approx(0.01218578, abs=5e-9)


def test_golden_p_with_ties() -> None:
    assert mann_whitney(*SMALL).p_two_sided[0] == pytest.approx(0.063492, abs=5e-7)
    assert mann_whitney_classical(*SMALL)[0] == pytest.approx(0.045866, abs=5e-7)


@pytest.mark.parametrize("method", ["auto", "exact", "asymptotic"])
def test_equal_values_give_p_1(method: Method) -> None:
    result = mann_whitney(row(*[5] * 6), row(*[5] * 6), method)
    assert result.u.tolist() == [18]
    assert result.p_greater.tolist() == result.p_less.tolist() == [1]
    assert result.p_two_sided.tolist() == [1]


@pytest.mark.parametrize(("n", "two_sided"), [(3, 0.10), (4, 0.0286), (5, 0.0079), (6, 0.0022)])
def test_least_p(n: int, two_sided: float) -> None:
    assert 2 * least_p_mann_whitney(n, n) == pytest.approx(two_sided, abs=5e-5)
    extreme = mann_whitney(span(1, n), span(n + 1, 2 * n))
    assert extreme.p_greater[0] == least_p_mann_whitney(n, n)


# Two-sided 5 % points of U, as printed in the tables of textbooks.
@pytest.mark.parametrize(
    ("n1", "n2", "critical"),
    [(5, 5, 2), (8, 8, 13), (5, 9, 7), (10, 10, 23), (12, 12, 37), (20, 20, 127)],
)
def test_published_critical_values(n1: int, n2: int, critical: int) -> None:
    lower = mann_whitney_lower(n1, n2)
    assert lower[critical] <= 0.025 < lower[critical + 1]
    np.testing.assert_array_equal(lower, mann_whitney_lower(n2, n1))


# SciPy's alternatives are about its first argument, ours about the second.
Alternative = Literal["two-sided", "less", "greater"]
SIDES: tuple[tuple[Alternative, str], ...] = (
    ("less", "p_greater"),
    ("greater", "p_less"),
    ("two-sided", "p_two_sided"),
)


def test_beyond_60_values_auto_is_near_exact_and_never_below_it_in_the_tail() -> None:
    rng = np.random.default_rng(8)
    shift = np.linspace(0, 1.5, 300)[:, np.newaxis]
    x, y = rng.normal(size=(300, 31)), rng.normal(shift, 1, size=(300, 31))
    exact, auto = mann_whitney(x, y, "exact"), mann_whitney(x, y)
    assert exact.exact.all()
    assert not auto.exact.any()
    # U has an excess kurtosis of -0.057 here: the normal curve errs by 0.0013 at its flanks,
    # and has the heavier tails.
    np.testing.assert_allclose(auto.p_greater, exact.p_greater, atol=0.0015)
    tail = exact.p_greater < 0.01
    assert tail.sum() > 50
    assert (auto.p_greater[tail] >= exact.p_greater[tail]).all()


def test_auto_is_exact_by_row_up_to_60_values_without_ties_and_40_with() -> None:
    rng = np.random.default_rng(2)
    for total, untied_exact, tied_exact in (
        (40, True, True),
        (41, True, False),
        (61, False, False),
    ):
        both = rng.permutation(total).astype(np.float64) * np.ones((2, 1))
        both[1, 0] = both[1, 1]
        result = mann_whitney(both[:, :20], both[:, 20:])
        assert result.exact.tolist() == [untied_exact, tied_exact]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
)
def test_p_is_the_share_of_deals_at_least_as_extreme(x: list[int], y: list[int]) -> None:
    ranks = stats.rankdata(x + y)
    observed = ranks[len(x) :].sum()
    sums = np.array([sum(deal) for deal in itertools.combinations(ranks, len(y))])
    result = mann_whitney(row(*x), row(*y))
    assert result.p_greater[0] == pytest.approx((sums >= observed).mean(), rel=1e-12)
    assert result.p_less[0] == pytest.approx((sums <= observed).mean(), rel=1e-12)


def test_many_rows_are_the_same_as_each_alone() -> None:
    rng = np.random.default_rng(12)
    for steps in (1, 2, 12, 10**6):
        x, y = rng.integers(0, steps, size=(2, 60, 9)).astype(np.float64)
        together = mann_whitney(x, y)
        for k in range(60):
            alone = mann_whitney(x[k : k + 1], y[k : k + 1])
            assert alone.p_greater[0] == together.p_greater[k]
            assert alone.p_less[0] == together.p_less[k]


@given(values, values)
def test_swapping_the_arms_swaps_the_sides(x: list[int], y: list[int]) -> None:
    forward, backward = mann_whitney(row(*x), row(*y)), mann_whitney(row(*y), row(*x))
    assert forward.p_greater[0] == backward.p_less[0]
    assert forward.p_two_sided[0] == backward.p_two_sided[0]
    assert forward.u[0] + backward.u[0] == len(x) * len(y)


@given(values, values)
def test_only_order_matters(x: list[int], y: list[int]) -> None:
    before = mann_whitney(row(*x), row(*y))
    after = mann_whitney(np.exp(row(*x[::-1])), np.exp(row(*y[::-1])))
    assert before.p_greater == after.p_greater


@given(st.lists(st.integers(0, 500), min_size=2, max_size=16, unique=True), st.integers(1, 400))
def test_a_slower_head_is_never_less_significant(both: list[int], by: int) -> None:
    half = len(both) // 2
    x = np.array([both[:half]] * 2, dtype=np.float64)
    y = np.array([both[half:]] * 2, dtype=np.float64)
    y[1] += by + 0.5
    p = mann_whitney(x, y).p_greater
    assert p[1] <= p[0]


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01, 0.001])
def test_false_alarms_come_exactly_as_often_as_the_test_says(alpha: float) -> None:
    m, n = 40_000, 8
    rng = np.random.default_rng(30)
    x, y = rng.lognormal(size=(2, m, n))
    alarms = int(np.count_nonzero(mann_whitney(x, y).p_greater <= alpha))
    lower = mann_whitney_lower(n, n)
    size = lower[lower <= alpha].max()
    bound = stats.binomtest(alarms, m).proportion_ci(0.999, method="exact")
    assert bound.low <= size <= bound.high


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_coarse_clocks_raise_no_more_false_alarms(alpha: float) -> None:
    m = 5_000
    x, y = np.round(np.random.default_rng(31).lognormal(size=(2, m, 8)) * 2)
    alarms = int(np.count_nonzero(mann_whitney(x, y).p_greater <= alpha))
    assert stats.binomtest(alarms, m).proportion_ci(0.999, method="exact").low <= alpha


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.empty((1, 0)), row(1), "x is empty"),
        (row(1), np.empty((1, 0)), "y is empty"),
        (np.ones(3), row(1), "x must have shape"),
        (row(1), row(np.nan), "y must be finite, and is nan"),
        (np.ones((2, 3)), np.ones((3, 3)), "one row per benchmark: 2 and 3"),
    ],
)
def test_bad_input_is_refused(x: np.ndarray, y: np.ndarray, message: str) -> None:
    for test in (mann_whitney, mann_whitney_classical):
        with pytest.raises(ValueError, match=message):
            test(x, y)


def test_an_impossible_method_is_refused() -> None:
    with pytest.raises(ValueError, match="up to 200 values, not 202"):
        mann_whitney(np.ones((1, 101)), np.ones((1, 101)), "exact")
    with pytest.raises(ValueError, match="auto, exact or asymptotic"):
        mann_whitney(row(1), row(2), "magic")  # type: ignore[arg-type]
