"""Prints a benchmark with parameters: its cells, and which of them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.report import words
from benchgate.report.columns import Column, Line, print_columns, print_facts, print_text
from benchgate.report.escape import plain_line
from benchgate.units import counted, format_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from benchgate.model.grid import Grid, GridPair

_ALPHA = 0.05
# The number of pairs grows with the square of the cells; a pipe gets all of them, for grep.
_PAIRS_SHOWN = 20
_CELLS = (
    Column("parameters", name=True),
    Column("launches", right=True, drop=1),
    Column("typical (p25)", right=True),
    Column("vs. the first", right=True),
)
_PAIRS = (
    Column("no difference found", name=True),
    Column("change", right=True),
    Column("p adjusted", right=True),
)


def print_grid(console: Console, grid: Grid) -> None:
    """Print one metric of a benchmark with parameters."""
    title = f"{plain_line(grid.benchmark)}, {plain_line(grid.metric)}, by its parameters"
    print_text(console, Text(title, "bold"))
    first = grid.cells[0].median
    medians = words.values(grid, [cell.median for cell in grid.cells])
    cells = [
        Line(
            (
                plain_line(cell.label),
                str(cell.launches),
                shown,
                format_change(cell.median / first) if index and first else "",
            )
        )
        for index, (cell, shown) in enumerate(zip(grid.cells, medians, strict=True))
    ]
    print_columns(console, _CELLS, cells)
    console.print()
    print_facts(console, [("test", _test(grid)), *(("note", plain_line(n)) for n in grid.notes)])
    alike = [pair for pair in grid.pairs if pair.p_adjusted > _ALPHA]
    if _p(grid) <= _ALPHA and 0 < len(alike) < len(grid.pairs):
        _print_alike(console, alike)


def _print_alike(console: Console, pairs: Sequence[GridPair]) -> None:
    """Print the pairs for which no difference is found, although the parameters matter."""
    shown = pairs[:_PAIRS_SHOWN] if console.is_terminal else pairs
    lines = [
        Line(
            (
                f"{plain_line(pair.first)} and {plain_line(pair.second)}",
                format_change(pair.ratio) if pair.ratio else "",
                words.probability(pair.p_adjusted),
            )
        )
        for pair in shown
    ]
    console.print()
    print_columns(console, _PAIRS, lines)
    if len(shown) < len(pairs):
        more = counted(len(pairs) - len(shown), "more pair")
        print_text(console, f"and {more}")


def _test(grid: Grid) -> str:
    found = f"Kruskal-Wallis H {grid.h:.1f}, df {grid.df}, p {words.probability(grid.p)}"
    if _is_pair(grid):
        found = f"Mann-Whitney p {words.probability(_p(grid))}; {found}"
    if _p(grid) > _ALPHA:
        return f"no effect of the parameters was found ({found})"
    if len(grid.pairs) < 2:
        return f"the parameters matter ({found})"
    differ = sum(pair.p_adjusted <= _ALPHA for pair in grid.pairs)
    pairs = f"{differ} of {len(grid.pairs)} pairs differ (Mann-Whitney, adjusted by Holm)"
    return f"the parameters matter ({found}); {pairs}"


def _p(grid: Grid) -> float:
    """The p that decides: a single pair's own test, which is exact for few launches."""
    return grid.pairs[0].p if _is_pair(grid) else grid.p


def _is_pair(grid: Grid) -> bool:
    return len(grid.pairs) == 1
