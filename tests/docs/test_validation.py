"""docs/validation.md against the statistics, and the check itself against what it must find."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from validation.agreement.case import Agreement, Draw, rounded_up
from validation.compare import differences
from validation.published.case import Published
from validation.rates import Rate, Simulation, Verdict
from validation.section import BrokenError

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "validation.md"


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a minute of two processors, however busy these are
def test_the_page_says_what_the_statistics_do() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "validation", "--check", "--processes", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def simulated(errors: int, trials: int, promised: float, expected: Verdict) -> Sequence[str]:
    hits = np.arange(trials) < errors
    return Simulation("a test", "data", promised, expected, lambda _: hits).cells()


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        (350, Verdict.CAUTIOUS),
        (500, Verdict.HOLDS),
        (650, Verdict.SHORT),
        (1000, Verdict.FAILS),
    ],
)
def test_a_simulation_must_come_out_as_expected(errors: int, verdict: Verdict) -> None:
    cells = simulated(errors, 10_000, 0.05, verdict)
    assert cells[4] == f"{errors / 100:.1f} %"
    assert cells[-1] == verdict
    for other in set(Verdict) - {verdict}:
        with pytest.raises(BrokenError, match="and not"):
            simulated(errors, 10_000, 0.05, other)


def test_coverage_counts_misses_as_errors() -> None:
    hits = np.arange(10_000) < 9_500
    row = Simulation("t", "data", 0.95, Verdict.HOLDS, lambda _: hits, covers=True)
    assert row.cells()[4] == "95.0 %"
    with pytest.raises(BrokenError, match="not to be trusted"):
        dataclasses.replace(row, covers=False, promised=0.05).cells()


def test_a_known_rate_must_lie_within_the_bounds() -> None:
    hits = np.arange(10_000) < 500
    row = Simulation("t", "data", 0.05, Verdict.HOLDS, lambda _: hits, known=(0.047, 0.0))
    assert row.cells()[3] == "4.7 %"
    with pytest.raises(BrokenError, match=r"5\.0 % is not 3\.2 %"):
        dataclasses.replace(row, known=(0.032, 0.0)).cells()


def test_a_verdict_that_a_few_replicates_could_turn_is_refused() -> None:
    with pytest.raises(BrokenError, match="-4 of 10000 replicates"):
        simulated(752, 10_000, 0.05, Verdict.FAILS)


def test_too_few_replicates_are_refused() -> None:
    with pytest.raises(BrokenError, match="100 replicates are too few"):
        simulated(5, 100, 0.05, Verdict.HOLDS)


@pytest.mark.parametrize(("hits", "trials"), [(0, 300), (300, 300), (5, 100), (1, 20)])
def test_bounds_are_clopper_and_pearsons(hits: int, trials: int) -> None:
    expected = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
    assert Rate(hits, trials).bounds(0.95) == pytest.approx((expected.low, expected.high))


def agreement(wrong_by: float, limit: float) -> Sequence[str]:
    def both(draw: Draw, n: int) -> tuple[np.ndarray, np.ndarray]:
        values = draw(n)
        return values * (1 + wrong_by), values

    return Agreement("a statistic", "another", (2, 5), limit, both).cells()


def test_a_difference_beyond_the_limit_is_refused() -> None:
    assert agreement(0.0, 0.0)[-2:] == ("equal", "0")
    assert agreement(1e-10, 2e-10)[-2:] == ("2e-10", "2e-10")
    with pytest.raises(BrokenError, match=r"normal data, n = 2: differs by 1\.0e-10 from another"):
        agreement(1e-10, 1e-11)
    for wrong in (np.nan, np.inf):
        with pytest.raises(BrokenError, match="by inf from another"):
            agreement(wrong, 1e-3)


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0, "0"), (1e-15, "1e-15"), (1.01e-15, "2e-15"), (9.5e-13, "1e-12"), (0.002, "2e-3")],
)
def test_differences_are_rounded_up(difference: float, text: str) -> None:
    assert rounded_up(difference) == text


def test_what_is_printed_must_be_found_to_the_last_digit() -> None:
    row = Published("t", "a table", ("2.262", "9"), lambda: [2.26216, 9.0])
    assert row.cells()[-1] == "the same"
    with pytest.raises(BrokenError, match="1 numbers, not 2"):
        dataclasses.replace(row, find=lambda: [2.262]).cells()


@pytest.mark.parametrize("found", [[2.2626, 9.0], [2.2622, 9.6], [2.2622, None]])
def test_another_digit_than_printed_is_refused(found: list[float | None]) -> None:
    row = Published("t", "a table", ("2.262", "9"), lambda: found)
    with pytest.raises(BrokenError, match="a table prints"):
        row.cells()


KEPT = """\
A text with 5 numbers.

| method | promised | observed | largest difference | verdict |
|---|---|---|---|---|
| t | 95 % | 94.8 % | 5e-15 | holds |
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("94.8 %", "94.9 %", True),
        ("94.8 %", "95.0 %", False),
        ("94.8 %", "", False),
        ("5e-15", "9e-14", True),
        ("5e-15", "0", True),
        ("5e-15", "2e-13", False),
        ("95 %", "95.1 %", False),
        ("holds", "a little short", False),
        ("5 numbers", "5.1 numbers", False),
        ("| t |", "| u |", False),
    ],
)
def test_only_what_was_measured_may_differ_and_only_a_little(
    old: str, new: str, *, same: bool
) -> None:
    assert (differences(KEPT, KEPT.replace(old, new, 1)) == []) is same


def test_the_lines_that_differ_are_named_and_no_others() -> None:
    row = "| u | 95 % | 95.0 % | 0 | holds |"
    lines = KEPT.splitlines()
    more = "\n".join([*lines[:4], row, *lines[4:]])
    assert differences(KEPT, more) == [f"+ {row}"]
    assert differences(more, KEPT) == [f"- {row}"]
    worse = KEPT.replace("94.8", "91.8")
    assert differences(KEPT, worse) == [f"- {lines[4]}", f"+ {lines[4].replace('94.8', '91.8')}"]
    assert len(differences("", KEPT)) == len(lines)


def test_the_page_is_reached_from_the_procedure() -> None:
    assert "(validation.md)" in (ROOT / "docs" / "how-it-decides.md").read_text(encoding="utf-8")
    assert PAGE.exists()
