"""The scale of all rows, and the interval of a row as a path."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import changed

from benchgate.model.policy import Outcome
from benchgate.page.scale import ChangeScale, overview_scale

if TYPE_CHECKING:
    from benchgate.model.row import Row


def row(low: float, ratio: float, high: float, **more: float) -> Row:
    return changed("parse", Outcome.REGRESSED, ratio, interval=(low, high), **more)


SCALE = ChangeScale(-20.0, 40.0, 20.0)


def test_a_larger_change_is_further_to_the_right() -> None:
    """An older drawing was logarithmic beyond the margin, and differed from row to row."""
    places = [SCALE.x(percent) for percent in (-20, -10, 0, 2, 32, 36, 40)]
    assert places == sorted(set(places))
    assert SCALE.x(10) - SCALE.x(0) == pytest.approx(SCALE.x(40) - SCALE.x(30), abs=0.2)
    assert [text for _, text in SCALE.ticks] == ["-20", "0 %", "+20", "+40"]


def test_an_interval_is_a_line_with_its_ends_and_a_dot() -> None:
    low, middle, high = (f"{SCALE.x(percent):g}" for percent in (10, 20, 30))
    drawn = SCALE.draw(row(1.1, 1.2, 1.3))
    assert drawn == (
        f"M{low} 10H{high}M{low} 6v8M{high} 6v8M{float(middle) - 4:g} 10a4 4 0 0 1 8 0"
        "a4 4 0 0 1 -8 0"
    )
    assert SCALE.margin(row(1.1, 1.2, 1.3, margin=0.1)).startswith(f"M{SCALE.x(-10):g} 0H{low}V")


@pytest.mark.parametrize(
    ("ends", "arrow"),
    [
        ((1.1, 1.5, 1.6), f"M{SCALE.x(40) - 5:g} 6l5 4l-5 4"),
        ((0.2, 0.3, 0.4), f"M{SCALE.x(-20) + 5:g} 6l-5 4l5 4"),
        ((1.1, 1.2, math.inf), f"M{SCALE.x(40) - 5:g} 6l5 4l-5 4"),
    ],
)
def test_what_is_beyond_the_scale_is_an_arrow(ends: tuple[float, float, float], arrow: str) -> None:
    assert arrow in SCALE.draw(row(*ends))


@pytest.mark.parametrize("ratio", [None, math.nan, math.inf])
def test_nothing_is_drawn_of_nothing(ratio: float | None) -> None:
    new = replace(changed("a", Outcome.NEW, 1.0), ratio=ratio, interval=None)
    assert SCALE.draw(new) == ""
    assert overview_scale([]) == ChangeScale(-4.0, 4.0, 2.0)


def test_the_scale_shows_every_change_if_the_margin_stays_visible() -> None:
    scale = overview_scale([row(1.3, 1.32, 1.34), *[row(0.99, 1.0, 1.01)] * 7])
    assert (scale.low, scale.high) == (-10, 40)


def test_one_far_change_does_not_flatten_the_others() -> None:
    scale = overview_scale([row(25, 26, 27), *[row(0.99, 1.0, 1.01)] * 9])
    assert (scale.low, scale.high) == (-50, 150)
    noisy = overview_scale([row(3, 4, 5)] * 9)
    assert noisy.high == 400
    assert overview_scale([row(1.1, 1.2, math.inf)] * 9).high == 4
