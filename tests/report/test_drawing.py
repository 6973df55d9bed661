from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Row
from benchgate.report.drawing import draw_interval


def drawn(low: float, ratio: float | None, high: float, margin: float | None = 0.02) -> str:
    row = Row("a", Outcome.INCONCLUSIVE, ratio=ratio, interval=(low, high), margin=margin)
    return draw_interval(row)


@pytest.mark.parametrize(
    ("low", "ratio", "high", "expected"),
    [
        (1.0, 1.0, 1.0, ".....|.O.|....."),
        (0.99, 1.0, 1.01, ".....|=O=|....."),
        (0.98, 1.02, 1.06, ".....|=:=O==..."),
        (1.123, 1.146, 1.169, ".....|.:.|..=O."),
        (0.777, 0.8, 0.823, ".O...|.:.|....."),
        (24.0, 26.0, 28.0, ".....|.:.|....>"),
        (0.01, 0.02, 0.03, "<....|.:.|....."),
        (0.5, 1.0, 2.0, "<====|=O=|====>"),
        (0.0, 0.9, math.inf, "<=O==|=:=|====>"),
    ],
)
def test_a_change_is_drawn_against_its_margin(
    low: float, ratio: float, high: float, expected: str
) -> None:
    assert drawn(low, ratio, high) == expected


@pytest.mark.parametrize(
    ("low", "ratio", "high", "margin"),
    [(0.9, None, 1.1, 0.02), (0.9, 1.0, 1.1, None), (0.9, 1.0, 1.1, 0.0), (math.nan, 1.0, 2, 0.1)],
)
def test_what_is_not_known_is_not_drawn(
    low: float, ratio: float | None, high: float, margin: float | None
) -> None:
    assert drawn(low, ratio, high, margin) == ""


@given(
    st.lists(st.floats(0, math.inf), min_size=3, max_size=3).map(sorted),
    st.floats(1e-320, 10, exclude_min=True),
)
def test_every_drawing_is_equally_wide_and_plain(ends: list[float], margin: float) -> None:
    low, ratio, high = ends
    text = drawn(low, ratio, high, margin)

    assert len(text) == 15
    assert set(text) <= set(".|:O=<>")


@given(st.floats(0.5, 2.0), st.floats(0.5, 2.0))
def test_a_larger_change_is_never_drawn_further_left(one: float, other: float) -> None:
    left, right = (drawn(each, each, each).find("O") for each in sorted((one, other)))
    if min(left, right) >= 0:
        assert left <= right
