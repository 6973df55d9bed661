from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.describe.conftest import COUNT, noisy_launches
from tests.results import of_series, series_of

from benchgate.describe.result_statistics import grids
from benchgate.model.metrics import Kind, Metric

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult


def cell(label: str, factor: float, seed: int) -> BenchmarkResult:
    launches = noisy_launches(seed, 10, 45, between=0.01, within=0.02)
    return of_series(label, series_of([factor * launch for launch in launches]))


def test_parameters_that_matter_are_told_from_those_that_do_not() -> None:
    cells = [
        cell("sort[n=10,kind=a]", 1, 1),
        cell("sort[n=10,kind=b]", 1, 2),
        cell("sort[n=99,kind=a]", 2, 3),
        cell("other", 1, 4),
    ]

    (found,) = grids(cells)

    assert (found.benchmark, found.metric, found.df) == ("sort", "time", 2)
    assert [c.label for c in found.cells] == ["n=10,kind=a", "n=10,kind=b", "n=99,kind=a"]
    assert found.p < 1e-4
    alike = {(p.first, p.second) for p in found.pairs if p.p_adjusted > 0.05}
    assert alike == {("n=10,kind=a", "n=10,kind=b")}
    assert found.pairs[1].ratio == pytest.approx(2, rel=0.02)


def test_one_cell_is_no_grid() -> None:
    assert grids([cell("sort[n=10]", 1, 1), cell("sum[n=10]", 1, 2)]) == ()


def test_only_what_was_sampled_is_compared() -> None:
    exact = series_of([[9.0]], metric=COUNT)
    summary = series_of([[9.0]], metric=Metric("time", "s", kind=Kind.SUMMARY))

    assert grids([of_series(f"a[n={n}]", exact, summary) for n in range(3)]) == ()


def test_brackets_that_hold_no_parameter_are_part_of_the_name() -> None:
    assert grids([cell("a[fast]", 1, 1), cell("a[slow]", 2, 2)]) == ()


def test_a_large_grid_is_tested_as_a_whole_and_says_so() -> None:
    cells = [of_series(f"a[n={n}]", series_of([[n + 1.0], [n + 1.5]])) for n in range(51)]

    (found,) = grids(cells)

    assert found.df == 50
    assert found.pairs == ()
    assert "more than 50 cells: their pairs are not compared" in found.notes


# 2 / C(6, 3) is 0.1, and 2 / C(8, 4) is 0.03.
@pytest.mark.parametrize(
    ("cells", "launches", "few"),
    [(2, 1, True), (2, 2, True), (2, 3, True), (2, 4, False), (3, 2, True), (3, 3, False)],
)
def test_too_few_launches_to_tell_cells_apart_are_said_to_be(
    cells: int, launches: int, *, few: bool
) -> None:
    apart = [
        of_series(f"a[n={n}]", series_of([[n + k / 9] for k in range(launches)]))
        for n in range(1, cells + 1)
    ]

    (found,) = grids(apart)

    p = found.pairs[0].p if cells == 2 else found.p
    assert (p > 0.05) == few
    assert any(note.startswith("too few launches") for note in found.notes) == few


def test_only_the_p_of_several_cells_is_approximate() -> None:
    cells = [of_series(f"a[n={n}]", series_of([[n + 1.0], [n + 1.1]])) for n in range(3)]

    (two,), (three,) = grids(cells[:2]), grids(cells)

    assert not any("approximate" in note for note in two.notes)
    assert any("approximate" in note for note in three.notes)
