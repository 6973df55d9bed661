from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchgate.report.series_detail import sparkline

BLOCKS = "▁▂▃▄▅▆▇█"
positive = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((2.0, 4.0, 8.0, 256.0), "▁▂▃█"),  # a scale of ratios: each doubling is one block
        ((256.0, 2.0), "█▁"),
        ((1.0, 1.0, 1.0), "▁▁▁"),
        ((1.0, 1.01, 1.0), "▁▁▁"),  # a difference of 1 % is no mountain
        ((1.0, 1.5), "▁█"),
        ((5.0,), "▁"),
        ((), ""),
        ((1.0, 0.0), ""),
        ((1.0, -1.0), ""),
    ],
)
def test_values_as_blocks(values: tuple[float, ...], expected: str) -> None:
    assert sparkline(values) == expected


@given(st.lists(positive, min_size=1, max_size=30))
@example([5e-324, 1.7976931348623157e308])
def test_greater_values_never_stand_lower(values: list[float]) -> None:
    line = sparkline(values)

    assert len(line) == len(values)
    ordered = sorted(zip(values, line, strict=True))
    assert [BLOCKS.index(block) for _, block in ordered] == sorted(map(BLOCKS.index, line))


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=10), st.integers(-100, 100))
def test_the_unit_does_not_matter(values: list[float], exponent: int) -> None:
    levels = [
        [BLOCKS.index(block) for block in sparkline([value * scale for value in values])]
        for scale in (1.0, 2.0**exponent)
    ]

    # A value halfway between two blocks may be rounded to either.
    assert all(abs(a - b) <= 1 for a, b in zip(*levels, strict=True))
