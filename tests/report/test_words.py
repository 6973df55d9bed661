from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchgate.model.environment import Environment
from benchgate.model.metrics import Better
from benchgate.model.notes import change, machine, sides
from benchgate.model.policy import Outcome
from benchgate.model.row import Classical, Row
from benchgate.model.run import Source
from benchgate.report import estimates, row_notes, words
from benchgate.units import RATE_UNIT

ROW = Row("a", Outcome.REGRESSED, "time", "p25", "s", ratio=1.146)


@pytest.mark.parametrize(
    ("outcome", "unit", "better", "expected"),
    [
        (Outcome.REGRESSED, "s", Better.LOWER, "slower"),
        (Outcome.REGRESSED, RATE_UNIT, Better.HIGHER, "slower"),
        (Outcome.REGRESSED, "B", Better.LOWER, "larger"),
        (Outcome.REGRESSED, "", Better.HIGHER, "smaller"),
        (Outcome.IMPROVED, RATE_UNIT, Better.HIGHER, "faster"),
        (Outcome.IMPROVED, "", Better.HIGHER, "larger"),
        (Outcome.IMPROVED, "B", Better.LOWER, "smaller"),
        (Outcome.FAILED, "", Better.LOWER, "crashed"),
        (Outcome.MISSING, "", Better.LOWER, "removed"),
        (Outcome.NOT_SETTLED, "s", Better.LOWER, "inconclusive"),
        (Outcome.UNCHANGED, "s", Better.LOWER, "unchanged"),
    ],
)
def test_each_outcome_has_one_word(
    outcome: Outcome, unit: str, better: Better, expected: str
) -> None:
    assert words.outcome(replace(ROW, outcome=outcome, unit=unit, better=better)) == expected


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.01, "Of 100 pull requests that change nothing, at most 1 fails"),
        (0.05, "Of 100 pull requests that change nothing, at most 5 fail"),
        (0.001, "Of 1,000 pull requests that change nothing, at most 1 fails"),
        (0.025, "Of 1,000 pull requests that change nothing, at most 25 fail"),
    ],
)
def test_false_alarms_are_counted(alpha: float, expected: str) -> None:
    assert words.false_alarms(alpha) == expected


@pytest.mark.parametrize(
    ("metric", "statistic", "expected"),
    [
        ("time", "p25", "typical (p25)"),
        ("time", "median", "typical (median)"),
        ("time", "p95", "tail (p95)"),
        ("time", "mean", "mean"),
        ("peak_rss", "median", "peak_rss, typical (median)"),
        ("allocations", "exact", "allocations, exact"),
        ("", "", ""),
    ],
)
def test_statistics_have_plain_names(metric: str, statistic: str, expected: str) -> None:
    assert words.statistic(replace(ROW, metric=metric, statistic=statistic)) == expected


@pytest.mark.parametrize(
    ("unit", "display_unit", "number", "expected"),
    [
        ("s", None, 0.0123, "12.30 ms"),
        ("s", "us", 0.0123, "12300 µs"),
        ("s", "fortnight", 0.0123, "12.30 ms"),
        ("B", None, 2048.0, "2.000 KiB"),
        ("op/s\x1b[2J", None, 12.0, "12 op/s"),
        ("s", None, None, ""),
        ("s", None, math.nan, ""),
    ],
)
def test_values_are_in_the_unit_their_author_wants(
    unit: str, display_unit: str | None, number: float | None, expected: str
) -> None:
    row = replace(ROW, unit=unit, display_unit=display_unit, base=number, head=1.0)

    assert sides(row)[0] == expected
    assert sides(replace(row, base=1.0, head=number))[1] == expected


def test_both_sides_are_shown_in_one_form() -> None:
    """Next to a whole 12344, "12.34k" would seem to be less than it."""
    row = replace(ROW, unit="", base=12344.0, head=12344.4, base_median=2.0, head_median=3.0)
    assert sides(row) == ("12.34k", "12.34k")
    assert sides(replace(row, head=12345.0)) == ("12344", "12345")
    assert sides(replace(row, head=None)) == ("12344", "")
    assert words.medians(row) == "2, 3"
    assert words.medians(replace(row, base_median=None)) == ""


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((1.121, 1.17), "+12.1 to +17.0 %"),
        ((0.98, 1.05), "-2.0 to +5.0 %"),
        ((24.0, 28.0), "x 24.00 to 28.00"),
        ((1.0, 1.0), "0.00 %"),
        ((0.9, math.inf), "-10.0 % or more"),
        ((0.0, 1.1), "+10.0 % or less"),
        ((0.0, math.inf), ""),
        ((math.nan, 1.0), ""),
        (None, ""),
    ],
)
def test_intervals_are_signed(interval: tuple[float, float] | None, expected: str) -> None:
    assert estimates.interval(replace(ROW, interval=interval)) == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (1.146, "+15 %"),
        (0.8, "-20 %"),
        (26.0, "x 26.00"),
        (1.006, "+0.6 %"),
        (None, ""),
    ],
)
def test_people_say_whole_percents(ratio: float | None, expected: str) -> None:
    assert estimates.rounded(replace(ROW, ratio=ratio)) == expected


def test_the_size_under_the_classical_rule_is_what_decided() -> None:
    """The estimate beside it can point the other way: it is of another statistic."""
    classical = Classical(0.001, 1.1, "slower")
    row = replace(ROW, ratio=0.99, interval=(0.98, 0.995), test="classical", classical=classical)

    assert estimates.rounded(row) == "+10 %"


@pytest.mark.parametrize(
    ("ratio", "interval", "expected"),
    [
        (1.146, (1.13, 1.16), "+14.6 %"),
        (1.146, (1.05, 1.25), "+15 %"),
        (1.0014, (1.0011, 1.0017), "+0.14 %"),
        (1.0014, (0.992, 1.01), "+0.1 %"),
        (1.00001, (0.99, 1.01), "0.0 %"),
        (1.146, None, "+14.6 %"),
    ],
)
def test_a_change_has_the_digits_of_its_interval(
    ratio: float, interval: tuple[float, float] | None, expected: str
) -> None:
    assert change(replace(ROW, ratio=ratio, interval=interval)) == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (1.016, "a change of 1.6 %"),
        (1.0, "any change"),
        (1 + 1e-12, "any change"),
        (26.0, "a factor of 26.00"),
    ],
)
def test_the_least_change_has_no_sign(ratio: float, expected: str) -> None:
    assert words.least_change(ratio) == expected


@pytest.mark.parametrize("ratio", [None, math.inf])
def test_a_change_from_nothing_has_no_ratio(ratio: float | None) -> None:
    row = replace(ROW, unit="", ratio=ratio, base=0.0, head=12.0)

    assert change(row) == "from 0"
    assert estimates.rounded(row) == "from 0 to 12"


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0024, "0.0024"), (1e-9, "< 0.0001"), (0.42, "0.42"), (1.0, "1")]
)
def test_probabilities_are_never_in_exponent_form(p: float, expected: str) -> None:
    assert words.probability(p) == expected


def test_the_p_that_decided_is_the_adjusted_one_but_under_the_classical_rule() -> None:
    row = replace(ROW, p=0.001, p_adjusted=0.01, test="wilcoxon")

    assert words.deciding_p(row) == "0.01"
    assert words.deciding_p(replace(row, p_adjusted=None)) == ""
    assert words.deciding_p(replace(row, p_adjusted=None, test="classical")) == "0.001"


def test_launches_are_told_apart_where_the_arms_differ() -> None:
    assert row_notes.rounds(replace(ROW, launches=(12, 12))) == "12"
    assert row_notes.rounds(replace(ROW, launches=(10, 5))) == "10 v 5"
    assert row_notes.rounds(ROW) == ""


def test_only_times_are_slower() -> None:
    throughput = replace(ROW, unit="op/s", better=Better.HIGHER)

    assert words.worse_word([ROW]) == "slower"
    assert words.worse_word([ROW, throughput]) == "worse"


@pytest.mark.parametrize(
    ("classical", "expected"),
    [
        (Classical(0.00077753, 1.093458, "slower"), "slower: p 0.00078, p95 +9.3 %"),
        (Classical(None, None, "not tested"), "not tested"),
        (None, ""),
    ],
)
def test_the_textbook_comparison_is_told(classical: Classical | None, expected: str) -> None:
    assert words.classical(replace(ROW, classical=classical)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source(sha="a1b2c3d4e5f6"), "a1b2c3d"),
        (Source(sha="a1b2c3d4e5f6", dirty=True), "a1b2c3d plus uncommitted changes"),
        (Source(sha="a1b2c3d4e5f6", untracked=1), "a1b2c3d plus 1 new file"),
        (
            Source(sha="a1b2c3d4e5f6", dirty=True, untracked=2),
            "a1b2c3d plus uncommitted changes and 2 new files",
        ),
        (Source(ref="before.json"), "before.json"),
        (Source(), "at an unknown commit"),
    ],
)
def test_sources_are_short(source: Source, expected: str) -> None:
    assert words.source(source) == expected


def test_a_machine_is_what_is_known_of_it() -> None:
    assert machine(Environment()) == ""
    assert machine(Environment(cpu_model="X", cpu_count=1)) == "on X, 1 core"
