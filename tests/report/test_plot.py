from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.report.conftest import HOSTILE_NAMES, printed

from benchgate.model.figures import ColumnRange, Curve, Distribution, Shape
from benchgate.report.plot import plot_columns, render_plots

if TYPE_CHECKING:
    from collections.abc import Callable


def drawn(shape: Shape, width: int | None) -> Distribution:
    """Two normal distributions, the head 10 % higher."""
    columns = plot_columns(Console(width=width or 80))
    low, high = 9e-6, 12e-6
    ends = [low + (high - low) * k / columns for k in range(columns + 1)]
    curves = []
    for arm, middle in (("base", 10e-6), ("head", 11e-6)):
        up_to = [NormalDist(middle, 3e-7).cdf(end) for end in ends]
        bins = [up_to[k + 1] - up_to[k] for k in range(columns)]
        shares = up_to[1:] if shape is Shape.ECDF else bins
        curves.append(Curve(arm, 12, 540, tuple(shares)))
    return Distribution(
        "json/dumps", "time", "s", "samples", shape, ColumnRange(low, high), tuple(curves), 0, 3
    )


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
@pytest.mark.parametrize("shape", Shape)
def test_it_looks_as_it_did(
    shape: Shape, width: int | None, golden: Callable[[str, str], None]
) -> None:
    render = partial(render_plots, [drawn(shape, width)])
    text = printed(render, width)

    assert max(map(len, text.splitlines())) <= (width or 200)
    golden(f"plot-{shape.value}-{width or 'pipe'}.txt", text)
    assert printed(render, width, "ascii") == text.replace("µs", "us")


def test_latencies_over_decades(golden: Callable[[str, str], None]) -> None:
    one = drawn(Shape.ECDF, 80)
    (head,) = (replace(curve, values=1_234_567) for curve in one.curves[1:])
    load = replace(
        one,
        metric="latency",
        what="operations",
        axis=ColumnRange(2e-6, 0.7, log=True),
        curves=(head,),
    )

    golden("plot-load-80.txt", printed(partial(render_plots, [load]), 80))


def test_arms_are_apart_without_color() -> None:
    text = printed(partial(render_plots, [drawn(Shape.ECDF, 80)]), 80)

    assert text.isascii() is False
    assert "o base, 12 launches, 540 samples; x head, 12 launches, 540 samples; * both" in text
    assert all(f"{mark * 3}" in text for mark in "ox*")


def test_a_single_value_of_one_arm() -> None:
    curve = Curve("head", 1, 1, (0.0,) * 10 + (1.0,) * 10)
    one = Distribution("a", "points", "", "samples", Shape.ECDF, ColumnRange(0.9, 1.1), (curve,))
    text = printed(partial(render_plots, [one]), 60)

    assert "x head, 1 launch, 1 sample\n" in text
    assert "both" not in text
    assert "100 % |          xxxxxxxxxx" in text
    assert f"{' ' * 8}|{' ' * 10}x\n" in text, "the step is drawn in every row"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_are_harmless(name: str) -> None:
    one = replace(drawn(Shape.HISTOGRAM, 60), benchmark=name, metric=name, unit=name)
    text = printed(partial(render_plots, [one]), 60)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(cell_len, text.splitlines())) <= 60


def test_a_terminal_may_be_very_narrow() -> None:
    assert plot_columns(Console(width=12)) == 20
    assert plot_columns(Console(width=80)) == 71
    assert plot_columns(Console(width=500)) == 110
