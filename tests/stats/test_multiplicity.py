from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.multiplicity import holm

families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_golden_family_in_any_order() -> None:
    p = np.array([0.001, 0.01, 0.02, 0.03, 0.04, 0.2])
    expected = np.array([0.006, 0.05, 0.08, 0.09, 0.09, 0.2])
    order = np.array([3, 0, 5, 1, 4, 2])
    np.testing.assert_allclose(holm(p), expected, rtol=1e-12)
    np.testing.assert_allclose(holm(p[order]), expected[order], rtol=1e-12)


def test_one_test_alone_needs_no_adjustment() -> None:
    assert holm(np.array([0.03])).tolist() == [0.03]


@given(families)
def test_adjusted_p_keeps_the_order_and_never_falls(family: list[float]) -> None:
    p = np.array(family)
    adjusted = holm(p)
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
def test_bad_input_is_refused(p: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        holm(p)
