"""The interval of a row as a path, and the margin behind it."""

from __future__ import annotations

import re

import pytest

from benchgate.page.frame import asset
from benchgate.page.report import Drawing, draw
from benchgate.report.drawing import MARGIN_PLACE, Span


def test_the_style_sheet_has_the_margin_where_the_drawing_has_it() -> None:
    half = draw(Span(-MARGIN_PLACE, 0, MARGIN_PLACE))
    assert half is not None
    left, right = (float(one) for one in half.path[1:].split("M")[0].split(" 10H"))
    assert (left + right) / 2 == Drawing.WIDTH / 2
    (percent,) = re.findall(r"--margin: ([\d.]+)%", asset("report.css"))
    assert float(percent) == pytest.approx(100 * (right - left) / 2 / Drawing.WIDTH, abs=0.05)


@pytest.mark.parametrize(
    ("span", "path"),
    [
        (Span(0, 0.5, 1), "M88 10H168M88 6v8M168 6v8M124 10a4 4 0 0 1 8 0a4 4 0 0 1 -8 0"),
        (Span(0.5, 1.1, 1.1), "M128 10H168M128 6v8M163 6l5 4l-5 4"),
        (Span(-1.1, -1.1, -1.1), "M8 10H16M13 6l-5 4l5 4"),
    ],
)
def test_what_is_beyond_the_scale_is_an_arrow(span: Span, path: str) -> None:
    drawing = draw(span)
    assert drawing is not None
    assert drawing.path == path


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw(None) is None
