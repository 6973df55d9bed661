from __future__ import annotations

import numpy as np
import pytest

from benchgate.gate.exact import compare_exact
from benchgate.model.result import Better
from benchgate.model.verdict import Outcome

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
