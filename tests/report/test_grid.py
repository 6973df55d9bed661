from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import printed
from tests.report.described import MATTERS, MATTERS_NOT

from benchgate.model.statistics import GridCell, GridPair
from benchgate.report.statistics_table import print_grid

if TYPE_CHECKING:
    from benchgate.model.statistics import Grid

TITLE = "no difference found"


def shown(grid: Grid, width: int | None = None) -> str:
    return printed(lambda console: print_grid(console, grid), width)


def large(cells: int) -> Grid:
    """Cells of which only the last differs from the others."""
    labels = [f"n={n}" for n in range(cells)]
    pairs = tuple(
        GridPair(first, second, 1.0, 0.5, 1e-5 if second == labels[-1] else 1.0)
        for first, second in combinations(labels, 2)
    )
    return replace(MATTERS, cells=tuple(GridCell(label, 8, 1.0) for label in labels), pairs=pairs)


def test_cells_are_held_against_the_first() -> None:
    lines = shown(MATTERS).splitlines()

    assert lines[0] == "sort/list, time, by its parameters"
    assert [" ".join(line.split()) for line in lines[2:6]] == [
        "kind=sorted,n=1000 8 12.00 µs",
        "kind=reversed,n=1000 8 12.10 µs +0.83 %",
        "kind=random,n=1000 8 99.00 µs +725.0 %",
        "kind=random,n=100000 7 13.20 ms x 1100",
    ]


def test_only_the_pairs_that_are_not_told_apart_are_listed() -> None:
    text = shown(MATTERS)

    assert "; 5 of 6 pairs differ (Mann-Whitney, adjusted by Holm)" in text
    assert text.splitlines()[-2:] == [
        "no difference found                           change  p adjusted",
        "kind=sorted,n=1000 and kind=reversed,n=1000  +0.83 %        0.44",
    ]


@pytest.mark.parametrize(
    "grid",
    [
        MATTERS_NOT,
        # Where no parameter is shown to matter, the pairs say nothing.
        replace(MATTERS, p=0.06),
        replace(MATTERS, pairs=MATTERS.pairs[1:]),
        replace(MATTERS, pairs=MATTERS.pairs[:1]),
        replace(MATTERS, pairs=()),
    ],
)
def test_pairs_are_left_out_where_they_tell_nothing(grid: Grid) -> None:
    assert TITLE not in shown(grid)


@pytest.mark.parametrize(
    ("p", "kruskal_p", "said"),
    [
        (
            0.0079,
            0.009,
            "the parameters matter (Mann-Whitney p 0.0079; Kruskal-Wallis H 6.8, df 1, p 0.009)",
        ),
        (
            0.1,
            0.0495,
            (
                "no effect of the parameters was found "
                "(Mann-Whitney p 0.1; Kruskal-Wallis H 6.8, df 1, p 0.05)"
            ),
        ),
    ],
)
def test_of_two_cells_their_own_test_decides(p: float, kruskal_p: float, said: str) -> None:
    pair = replace(MATTERS.pairs[3], p=p, p_adjusted=p)
    cells = MATTERS.cells[1:3]

    text = shown(replace(MATTERS, cells=cells, h=6.8, df=1, p=kruskal_p, pairs=(pair,)))

    assert f"test  {said}\n" in text
    assert TITLE not in text


def test_notes_are_given() -> None:
    text = shown(MATTERS_NOT)

    assert "no effect of the parameters was found (Kruskal-Wallis H 3.6, df 2, p 0.17)" in text
    assert "note  fewer than 5 launches in a cell: p is approximate" in text


def test_a_terminal_gets_some_pairs_and_a_pipe_all() -> None:
    grid = large(9)  # 28 pairs without the last cell

    on_terminal, in_pipe = shown(grid, 80), shown(grid)

    assert on_terminal.count(" and n=") == 20
    assert on_terminal.endswith("\nand 8 more pairs\n")
    assert in_pipe.count(" and n=") == 28
    assert "more pair" not in in_pipe


def test_all_pairs_that_fit_are_shown_without_a_remark() -> None:
    assert "more pair" not in shown(large(7), 80)  # 15
    assert shown(large(8), 80).endswith("\nand 1 more pair\n")  # 21


def test_what_measured_nothing_has_no_change() -> None:
    cells = tuple(GridCell(f"n={n}", 8, float(n > 0)) for n in range(3))
    pairs = (GridPair("n=0", "n=1", None, 0.2, 0.2), GridPair("n=0", "n=2", None, 1e-5, 1e-5))

    text = shown(replace(MATTERS, cells=cells, pairs=pairs))

    assert "vs. the first" not in text  # nothing stands in that column
    assert text.splitlines()[-1].split() == ["n=0", "and", "n=1", "0.2"]
