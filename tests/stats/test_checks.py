from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.checks import LARGEST, require_finite
from benchgate.stats.spread import binary_scaled, finite_exp


@given(st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=20))
def test_scaling_can_be_undone(values: list[float]) -> None:
    array = np.array(values)
    scaled, exponent = binary_scaled(array)
    assert np.abs(scaled).max() < 1
    lost = max(np.ldexp(1.0, exponent - 1074), 5e-324)
    assert np.abs(np.ldexp(scaled, exponent) - array).max() <= lost
    assert np.abs(array).max() == 0 or np.abs(scaled).max() >= 0.5


def test_subnormal_values_get_their_squares_back() -> None:
    scaled, exponent = binary_scaled(np.array([5e-324, 1e-323]))
    assert scaled.tolist() == [0.25, 0.5]
    assert exponent == -1072


def test_giants_are_refused() -> None:
    require_finite("values", np.array([LARGEST]))
    with pytest.raises(ValueError, match=r"values must be within 2\*\*1000, and reaches 1e\+302"):
        require_finite("values", np.array([-1e302]))


@pytest.mark.parametrize(
    ("log", "expected"), [(0.0, 1.0), (-1000.0, 0.0), (709.0, np.exp(709)), (710.0, 1.79e308)]
)
def test_ratios_to_almost_nothing_stay_finite(log: float, expected: float) -> None:
    assert finite_exp(log) == pytest.approx(expected, rel=0.01)
    assert np.isfinite(finite_exp(log))
