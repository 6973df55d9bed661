from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.gate.estimates import Estimate, paired_estimates, stored_estimates

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

MARGIN = math.log1p(0.02)


@pytest.mark.parametrize(
    ("value", "sign", "reached"),
    [
        (MARGIN, 1, True),
        (math.nextafter(MARGIN, 0), 1, True),  # a rounding error short
        (MARGIN - 1e-9, 1, False),
        (-MARGIN, -1, True),
        (-MARGIN, 1, False),
        (MARGIN, -1, False),
    ],
)
def test_the_margin_itself_is_reached(value: float, sign: int, *, reached: bool) -> None:
    assert Estimate(value, -math.inf, math.inf).reaches(0.02, sign) is reached


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [
        (-0.01, 0.01, True),
        (0.005, 0.019, True),
        (-MARGIN, 0.0, False),
        (0.0, MARGIN, False),
        (-math.inf, math.inf, False),
    ],
)
def test_an_interval_lies_inside_the_margin_on_both_sides(
    low: float, high: float, *, inside: bool
) -> None:
    assert Estimate(0.0, low, high).inside(0.02) is inside


def one(d: FloatArray, margin: float = 0.02, confidence: float = 0.95) -> Estimate:
    (found,) = paired_estimates([d], [margin], confidence=confidence, level=0.001)
    assert found is not None
    return found


@pytest.mark.parametrize(("confidence", "least"), [(0.9, 5), (0.95, 6), (0.975, 7), (0.99, 8)])
def test_never_fewer_rounds_are_foretold_than_an_interval_of_ranks_needs(
    confidence: float, least: int
) -> None:
    quiet = np.array([0.0, 1e-6, -1e-6, 2e-6, -2e-6])
    assert one(quiet, confidence=confidence).needed == least
    assert math.isinf(one(quiet[: least - 1], confidence=confidence).high)


def test_more_rounds_are_foretold_for_wider_rows_until_it_is_not_foreseeable() -> None:
    d = np.array([0.0, 1.0, -1.0, 2.0, -2.0])
    needed = [one(d * spread).needed for spread in (0.001, 0.01, 0.03, 0.1, 1.0)]
    assert needed[0] == 6
    foreseen = [n for n in needed if n is not None]
    assert foreseen == sorted(foreseen)
    assert needed[-1] is None


def test_a_change_of_the_very_margin_is_never_settled() -> None:
    d = MARGIN + np.array([0.0, 0.001, -0.001, 0.002, -0.002])
    assert one(d).needed is None


@pytest.mark.parametrize("n", [1, 2])
def test_of_one_or_two_rounds_no_detectable_change_is_told(n: int) -> None:
    assert one(np.array([5.0, -5.0])[:n]).detectable is None


def test_a_row_without_launches_has_no_estimate() -> None:
    empty, two = np.empty(0), np.array([0.1, 0.2])
    assert paired_estimates([empty], [0.02], confidence=0.95, level=0.001) == [None]
    assert stored_estimates([empty, two], [two, empty], confidence=0.95, level=0.001) == [None] * 2


def test_stored_launches_give_a_shift_and_what_could_have_been_seen() -> None:
    x = np.linspace(0, 0.01, 12)
    (found,) = stored_estimates([x], [x + 0.05], confidence=0.95, level=0.001)
    assert found is not None
    assert found.value == pytest.approx(0.05)
    assert found.low < 0.05 < found.high
    assert found.detectable is not None
    assert 1 < found.detectable < 1.05
    assert found.needed is None
