from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.gate.exact import compare_exact, compare_rounds
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome

LOWER, HIGHER = Better.LOWER, Better.HIGHER
SAME, WORSE, BETTER, OPEN = (
    Outcome.UNCHANGED,
    Outcome.REGRESSED,
    Outcome.IMPROVED,
    Outcome.INCONCLUSIVE,
)


@pytest.mark.parametrize(
    ("base", "head", "tolerance", "better", "expected"),
    [
        ([100], [100], 0, LOWER, (SAME, 1)),
        ([100], [101], 0, LOWER, (WORSE, 1.01)),
        ([100], [99], 0, LOWER, (BETTER, 0.99)),
        ([100], [101], 0, HIGHER, (BETTER, 1.01)),
        ([100], [99], 0, HIGHER, (WORSE, 0.99)),
        ([100], [101], 0.01, LOWER, (SAME, 1.01)),
        ([100], [102], 0.01, LOWER, (WORSE, 1.02)),
        ([100], [105], 0.05, LOWER, (SAME, 1.05)),  # 1.05 - 1 > 0.05 in floating point
        ([100], [95], 0.05, LOWER, (SAME, 0.95)),
        ([0.3], [0.33], 0.1, LOWER, (SAME, 1.1)),
        ([0], [0], 0, LOWER, (SAME, None)),
        ([0], [1], 0, LOWER, (WORSE, None)),
        ([0], [1], 0.5, LOWER, (WORSE, None)),
        ([0], [1], 0, HIGHER, (BETTER, None)),
        ([5], [0], 0, LOWER, (BETTER, 0)),
        ([5], [0], 0, HIGHER, (WORSE, 0)),
        ([100, 100, 100], [100, 101, 100], 0, LOWER, (SAME, 1)),
        ([100, 103], [101, 104], 0, LOWER, (OPEN, 102.5 / 101.5)),
        ([100, 103], [104, 105], 0, LOWER, (WORSE, 104.5 / 101.5)),
        ([100, 103], [101, 104], 0.02, LOWER, (SAME, 102.5 / 101.5)),
    ],
)
def test_exact_values_need_no_test(
    base: list[float],
    head: list[float],
    tolerance: float,
    better: Better,
    expected: tuple[Outcome, float | None],
) -> None:
    outcome, ratio = expected
    change = compare_exact(np.array(base, float), np.array(head, float), tolerance, better)
    assert change.outcome is outcome
    assert change.ratio == (ratio if ratio is None else pytest.approx(ratio))


def test_a_change_from_0_has_no_ratio_and_says_so() -> None:
    change = compare_exact(np.zeros(1), np.array([7.0]), 0, LOWER)
    assert change.notes == ("from 0 to 7",)


def test_what_varies_within_an_arm_is_not_exact() -> None:
    change = compare_exact(np.array([100.0, 103.0]), np.array([101.0, 104.0]), 0, LOWER)
    (note,) = change.notes
    assert "varies from 100 to 103 in the base and from 101 to 104 in the head" in note


@given(
    st.lists(st.tuples(st.floats(1, 1e12), st.floats(1, 1e12)), min_size=1, max_size=9),
    st.floats(0, 0.5),
    st.floats(1e-3, 1e3),
)
def test_rounds_follow_direction_arms_and_scale(
    pairs: list[tuple[float, float]], tolerance: float, scale: float
) -> None:
    base, head = np.array(pairs).T
    found = compare_rounds(base, head, tolerance, LOWER)
    assert found.ratio == np.median(head / base)
    opposite = {WORSE: BETTER, BETTER: WORSE}
    up = compare_rounds(base, head, tolerance, HIGHER)
    assert up.outcome is opposite.get(found.outcome, found.outcome)
    if not np.any(head == base):
        swapped = compare_rounds(head, base, 0, LOWER)
        plain = compare_rounds(base, head, 0, LOWER)
        if OPEN not in {swapped.outcome, plain.outcome}:
            assert swapped.outcome is opposite.get(plain.outcome, plain.outcome)
    same = compare_rounds(base, base * 1.0, 0, LOWER)
    assert (same.outcome, same.ratio) == (SAME, 1)
    power_of_two = 2.0 ** round(np.log2(scale))
    scaled = compare_rounds(base * power_of_two, head * power_of_two, tolerance, LOWER)
    assert (scaled.outcome, scaled.ratio) == (found.outcome, found.ratio)


@pytest.mark.parametrize(
    ("base", "head", "tolerance", "expected"),
    [
        ([100], [105], 0.05, (SAME, 1.05)),  # 1.05 - 1 > 0.05 in floating point
        ([100], [95], 0.05, (SAME, 0.95)),
        ([100], [101], 0, (WORSE, 1.01)),
        ([100, 200], [102, 204], 0.01, (WORSE, 1.02)),
        ([100, 200], [98, 196], 0.01, (BETTER, 0.98)),
        ([100, 200], [100, 208], 0.01, (OPEN, 1.02)),
        ([5e-324, 1e150], [5e-324, 1e150], 0, (SAME, 1)),
    ],
)
def test_rounds_are_compared_one_by_one(
    base: list[float], head: list[float], tolerance: float, expected: tuple[Outcome, float]
) -> None:
    outcome, ratio = expected
    change = compare_rounds(np.array(base, float), np.array(head, float), tolerance, LOWER)
    assert change.outcome is outcome
    assert change.ratio == pytest.approx(ratio)
