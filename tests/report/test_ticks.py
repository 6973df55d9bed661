from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.model.figures import ColumnRange
from benchgate.report.ticks import place, ticks

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("axis", "unit", "expected"),
    [
        (ColumnRange(0.0, 1.0), "", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (ColumnRange(18.2e-6, 43.2e-6), "s", (20e-6, 25e-6, 30e-6, 35e-6, 40e-6)),
        (ColumnRange(-3.0, 4.0), "", (-3, -2, -1, 0, 1, 2, 3, 4)),
        (
            ColumnRange(1.4 * 2**20, 3.2 * 2**20),
            "B",
            (1.5 * 2**20, 2 * 2**20, 2.5 * 2**20, 3 * 2**20),
        ),
        (ColumnRange(2e-6, 3e-3, log=True), "s", (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)),
        (ColumnRange(1e-6, 9e3, log=True), "s", (1e-6, 1e-4, 1e-2, 1, 100)),
        (ColumnRange(1500.0, 1024.0**3, log=True), "B", (2**20, 2**30)),
    ],
)
def test_labels_are_round(axis: ColumnRange, unit: str, expected: tuple[float, ...]) -> None:
    assert ticks(axis, unit, 7) == pytest.approx(expected, rel=1e-12)


@given(FINITE, FINITE, st.booleans(), st.sampled_from(["", "s", "B"]), st.integers(1, 20))
def test_ticks_lie_on_the_axis(one: float, other: float, log: bool, unit: str, most: int) -> None:  # noqa: FBT001 - hypothesis passes it
    low, high = sorted((one, other))
    if log and (low <= 1e-300 or high / low < 10):
        return
    if (not log and high / 2 - low / 2 < 1e-3 * max(abs(low), abs(high))) or high - low < 1e-290:
        return
    axis = ColumnRange(low, high, log)

    found = ticks(axis, unit, most)

    assert list(found) == sorted(set(found))
    assert len(found) <= most + 3
    for value in found:
        assert math.isfinite(value)
        assert -1e-9 <= place(axis, value) <= 1 + 1e-9


def test_an_axis_has_its_ends() -> None:
    for axis in (ColumnRange(2.0, 200.0), ColumnRange(2.0, 200.0, log=True)):
        assert (place(axis, 2.0), place(axis, 200.0)) == (0, 1)
    assert place(ColumnRange(2.0, 200.0, log=True), 20.0) == pytest.approx(0.5)
    assert place(ColumnRange(-1.7e308, 1.7e308), 0.0) == 0.5
