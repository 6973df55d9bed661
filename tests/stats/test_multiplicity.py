from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.multiplicity import benjamini_hochberg, holm

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


@pytest.mark.parametrize("k", [1, 2, 10, 500])
def test_false_discovery_agrees_with_scipy(k: int) -> None:
    rng = np.random.default_rng(k)
    for p in (rng.random(k), rng.random(k) ** 6, rng.integers(0, 4, k) / 3):
        theirs = stats.false_discovery_control(p, method="bh")
        np.testing.assert_allclose(benjamini_hochberg(p), theirs, rtol=1e-12)


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
