"""What a reader sees of one row agrees with itself, at the precision that is shown."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.results import verdict_of

from benchgate.ci.step import benchmark_annotations
from benchgate.gate.rows import sides
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Tier
from benchgate.model.statistics import Grid, GridCell
from benchgate.model.verdict import VERDICT
from benchgate.report.markdown import render_comment
from benchgate.report.statistics_table import print_grid
from benchgate.report.terminal import render_verdict
from benchgate.report.view import view_verdict

SCALES = {
    "ns": 1e-9,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "B": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
}
NUMBER = r"(?P<number>[\d.]+(?:e[+-]?\d+)?)"


def number_of(shown: str) -> float:
    """The value that a reader takes from what is shown."""
    match = re.fullmatch(rf"{NUMBER}\s?(?P<unit>[a-zA-Zµ]*)(?: op/s)?", shown)
    assert match, shown
    return float(match["number"]) * SCALES[match["unit"]]


def direction_of(change: str) -> int:
    """+1 for more, -1 for less, 0 where none is shown."""
    if change.startswith("x "):
        return 1
    percent = float(change.removesuffix(" %"))
    return (percent > 0) - (percent < 0)


def row_of(base: float, head: float, ratio: float, unit: str, display_unit: str | None) -> Row:
    return Row(
        "x",
        Outcome.REGRESSED,
        metric="m",
        statistic="p25",
        unit=unit,
        better=Better.HIGHER if unit == "op/s" else Better.LOWER,
        ratio=ratio,
        launches=(12, 12),
        tier=Tier.LOCKSTEP,
        display_unit=display_unit,
        **sides(base, head, ratio),
    )


near_one = st.floats(-0.01, 0.01).map(lambda change: 1 + change)
values = st.floats(1e-3, 1e9) | st.integers(1, 2_000_000).map(float)
rows = st.builds(
    lambda base, noise, ratio, unit, display_unit: row_of(
        base * (1e-6 if unit == "s" else 1.0), base * noise, ratio, unit, display_unit
    ),
    values,
    st.floats(0.5, 2.0),
    near_one | st.floats(0.01, 100.0),
    st.sampled_from(["s", "B", "", "op/s"]),
    st.none() | st.sampled_from(["ns", "us", "ms", "s"]),
)


@settings(max_examples=1000, deadline=None)
@given(rows)
def test_base_and_head_never_point_the_other_way(row: Row) -> None:
    shown = view_verdict(verdict_of(row)).shown[0].first
    base, head, change = number_of(shown.base), number_of(shown.head), direction_of(shown.change)
    assert (head > base) - (head < base) in {change, 0} or change == 0
    # What differs by a percent is not shown as the same; 4 digits tell 0.1 % apart.
    if abs((row.ratio or 1) - 1) > 0.002 and row.display_unit is None:
        assert head != base


@given(st.integers(10, 99_999), st.integers(1, 9))
def test_a_whole_count_next_to_one_that_is_not(base: int, tenths: int) -> None:
    ratio = (base + tenths / 10) / base
    test = row_of(float(base), 0.9 * base, ratio, "", None)
    shown = view_verdict(verdict_of(test)).shown[0].first
    assert number_of(shown.base) <= number_of(shown.head)


# "regressed, base 27.16 us, head 26.04 us, +2.9 %" was seen in a comment.
SEEN = row_of(27.16e-6, 26.04e-6, 1.029, "s", None)
SLOWER_THROUGHPUT = row_of(1000.0, 1010.0, 0.95, "op/s", None)
TAIL = replace(row_of(1e-3, 0.9e-3, 1.2, "s", None), statistic="p95")


@pytest.mark.parametrize(
    ("row", "base", "head", "medians"),
    [
        (SEEN, "27.16", "27.95 µs", "27.16 µs, 26.04 µs"),
        (SLOWER_THROUGHPUT, "1000", "950 op/s", "1000 op/s, 1010 op/s"),
        (TAIL, "1.000", "1.200 ms", "1000 µs, 900.0 µs"),
    ],
)
def test_every_report_shows_the_same_two_values(
    row: Row, base: str, head: str, medians: str
) -> None:
    verdict = verdict_of(row)
    view = view_verdict(verdict)

    pipe = render_verdict(view, Console(file=io.StringIO()), verbose=True)
    values = view.shown[0].first.values
    assert values == f"{base} → {head}"
    assert f": {values}  x\n" in pipe
    assert medians in pipe
    terminal = Console(file=io.StringIO(), width=50, force_terminal=True, color_system=None)
    assert f": {values}" in re.sub(r"\s+", " ", render_verdict(view, terminal))

    comment = render_comment(view).replace("&nbsp;", " ")
    table, details = comment.split("All 1 benchmark")
    assert f"<sub>{values}</sub>" in table
    assert f" | {values} | " in details

    (annotation,) = benchmark_annotations(view)
    assert values in annotation.message

    (written,) = json.loads(VERDICT.write(verdict, str))["rows"]
    assert written["head"] / written["base"] == pytest.approx(written["ratio"])
    assert (written["base_median"], written["head_median"]) == (row.base_median, row.head_median)


def test_cells_of_a_grid_agree_with_their_change() -> None:
    cells = (GridCell("n=1", 10, 12344.0), GridCell("n=2", 10, 12344.9), GridCell("n=3", 10, 99.0))
    grid = Grid("b", "count", "", cells, 1.0, 2, 0.5, ())
    stream = io.StringIO()
    print_grid(grid=grid, console=Console(file=stream))
    assert re.search(r"n=1 +10 +12\.34k\n", stream.getvalue())
    assert re.search(r"n=2 +10 +12\.34k +\+0\.01 %", stream.getvalue())
