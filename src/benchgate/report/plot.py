"""Draws distributions with ASCII characters: both arms over each other, apart without color too."""

from __future__ import annotations

import math
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final

from rich.text import Text

from benchgate.model.figures import Shape
from benchgate.report import words
from benchgate.report.escape import plain_line
from benchgate.report.terminal import print_text
from benchgate.report.ticks import place, ticks
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from benchgate.model.figures import Curve, Distribution

_ROWS: Final = 13
_MARKS: Final[Mapping[str, str]] = {"base": "o", "head": "x"}
_BOTH: Final = "*"
_STYLES: Final[Mapping[str, str]] = {"o": "cyan", "x": "magenta", _BOTH: "bold"}
_LABEL: Final = 7
_MARGIN: Final = _LABEL + 2  # " |"
_LEAST_COLUMNS: Final = 20
_MOST_COLUMNS: Final = 110
_LABEL_EVERY: Final = 3
# The highest label of a histogram is a multiple of 2 %, so that the others are short.
_STEPS: Final = 50
# The widest labels of an axis, such as "0.5 ms", and a space on either side.
_TICK_CELLS: Final = 11

_TITLES: Final = {
    Shape.ECDF: "share of {what} up to each value",
    Shape.HISTOGRAM: "share of {what} in each bin",
}
_LEGENDS: Final = {
    Shape.ECDF: (
        "how to read it: the height of a curve is the share of values up to that point; the curve "
        "further to the right has the larger values, and a steep one varies little"
    ),
    Shape.HISTOGRAM: (
        "how to read it: the height of a bar is the share of values in that bin; the arm whose "
        "bars are further to the right has the larger values, and narrow hills vary little"
    ),
}


def plot_columns(console: Console) -> int:
    """How many columns of a console a drawing has beside its labels."""
    return min(max(console.width - _MARGIN, _LEAST_COLUMNS), _MOST_COLUMNS)


def render_plots(found: Sequence[Distribution], console: Console) -> None:
    """Draw the distributions, which have as many shares as `plot_columns` says."""
    for one in found:
        _print_plot(console, one)
        console.print()
    shapes = dict.fromkeys(one.shape for one in found)
    for shape in shapes:
        print_text(console, Text(f"{_LEGENDS[shape]}.", "dim"))


def _print_plot(console: Console, of: Distribution) -> None:
    title = f"{plain_line(of.benchmark)}, {plain_line(of.metric)}"
    what = _TITLES[of.shape].format(what=of.what)
    print_text(console, Text.assemble((title, "bold"), f": {what}"))
    print_text(console, _key(of))
    print_text(console, "")
    greatest = max(chain(*(curve.shares for curve in of.curves)))
    top = 1.0 if of.shape is Shape.ECDF else max(1, math.ceil(greatest * _STEPS)) / _STEPS
    for row in reversed(range(_ROWS)):
        label = format_percent(top * row / (_ROWS - 1)) if row % _LABEL_EVERY == 0 else ""
        line = Text(f"{label:>{_LABEL}} |")
        for mark, run in groupby(_row(of, row, top)):
            line.append("".join(run), _STYLES.get(mark, ""))
        line.rstrip()
        print_text(console, line)
    for text in _axis(of):
        print_text(console, text)


def _key(of: Distribution) -> str:
    """Which mark stands for which arm, and what is not drawn."""
    parts = [
        f"{_MARKS[curve.arm]} {curve.arm}, {counted(curve.launches, 'launch')}, "
        f"{curve.values:,} {_noun(of.what, curve.values)}"
        for curve in of.curves
    ]
    if len(of.curves) > 1:
        parts.append(f"{_BOTH} both")
    low, high = (_value(of, end) for end in (of.axis.low, of.axis.high))
    outside = [f"{of.below:,} below {low}"] if of.below else []
    outside += [f"{of.above:,} above {high}"] if of.above else []
    if outside:
        parts.append(f"not drawn: {' and '.join(outside)}")
    if of.axis.log:
        parts.append("logarithmic axis")
    return "; ".join(parts)


def _noun(plural: str, number: int) -> str:
    return plural.removesuffix("s") if number == 1 else plural


def _row(of: Distribution, row: int, top: float) -> str:
    """The marks of one row, from left to right."""
    rows = {_MARKS[curve.arm]: _marked(of.shape, curve, row, top) for curve in of.curves}
    cells = zip(*rows.values(), strict=True)
    marks = list(rows)
    return "".join(
        " " if not any(cell) else _BOTH if all(cell) and len(marks) > 1 else marks[cell.index(True)]
        for cell in cells
    )


def _marked(shape: Shape, curve: Curve, row: int, top: float) -> list[bool]:
    """The columns in which a curve, or a bar, covers a row."""
    heights = [round(share / top * (_ROWS - 1)) for share in curve.shares]
    if shape is Shape.HISTOGRAM:
        # What is there at all is seen, even if it is little.
        return [
            share > 0 and row <= height for share, height in zip(curve.shares, heights, strict=True)
        ]
    before = [0, *heights]
    return [
        share > 0 and (row == height or last < row < height)
        for share, last, height in zip(curve.shares, before, heights, strict=False)
    ]


def _axis(of: Distribution) -> tuple[str, str]:
    """The axis with its ticks, and the line of its labels."""
    columns = len(of.curves[0].shares)
    axis, labels = ["-"] * columns, " " * (_MARGIN + columns)
    free = 0
    for value in ticks(of.axis, of.unit, columns // _TICK_CELLS):
        column = min(int(place(of.axis, value) * columns), columns - 1)
        label = _value(of, value)
        start = min(_MARGIN + column - len(label) // 2, len(labels) - len(label))
        if start < free:
            continue
        axis[column] = "+"
        labels = f"{labels[:start]}{label}{labels[start + len(label) :]}"
        free = start + len(label) + 1
    return f"{' ' * (_LABEL + 1)}+{''.join(axis)}", labels.rstrip()


def _value(of: Distribution, number: float) -> str:
    """A value without the zeros that a round number has after its point."""
    text = words.metric_value(of.metric, plain_line(of.unit), number, words.display_unit(of))
    digits, space, unit = text.partition(" ")
    if "." in digits and digits[-1].isdigit():
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}{space}{unit}"
