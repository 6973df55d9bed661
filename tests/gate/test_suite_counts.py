"""Instructions: the same in both arms of a round, another number in the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import bench, judged
from tests.results import series_of

from benchgate.gate.exact import compare_rounds
from benchgate.model.metrics import INSTRUCTIONS, TIME, Better
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.row import Row

GATED = '[gate]\nmetrics = ["instructions"]\n'
SEEDS = [1_000_000.0, 1_030_000.0, 985_000.0, 1_012_000.0, 1_055_000.0]


def row_of(ratios: Sequence[float], toml: str = GATED, *, paired: bool = True) -> Row:
    """Judge the counts of five rounds, the head's given as multiples of the base's."""
    head = [base * ratio for base, ratio in zip(SEEDS, ratios, strict=True)]
    arms = [bench("b", values, metric=INSTRUCTIONS) for values in (SEEDS, head)]
    (row,) = judged([arms[0]], [arms[1]], toml, paired=paired).rows
    return row


@pytest.mark.parametrize(
    ("ratios", "outcome"),
    [
        ([1] * 5, Outcome.UNCHANGED),
        ([1.009] * 5, Outcome.UNCHANGED),
        ([1.02] * 5, Outcome.REGRESSED),
        ([0.98] * 5, Outcome.IMPROVED),
        ([1.001, 0.999, 1.002, 0.998, 1.0], Outcome.UNCHANGED),
        ([1.5, 1, 1, 0.9, 1], Outcome.UNCHANGED),  # of rounds that disagree the median counts
        ([1.02, 1.021, 1.019, 1.012, 1.02], Outcome.REGRESSED),
        ([1.02, 1.021, 1.019, 1.001, 1.02], Outcome.INCONCLUSIVE),  # one is within the tolerance
        ([1.02, 1.035, 1.019, 1.012, 1.02], Outcome.INCONCLUSIVE),  # they differ by more than it
        ([1.02, 1.021, 1.019, 0.999, 1.02], Outcome.INCONCLUSIVE),
        ([0.98, 0.98, 0.98, 1.0, 0.98], Outcome.INCONCLUSIVE),
    ],
)
def test_rounds_are_compared_with_themselves(ratios: list[float], outcome: Outcome) -> None:
    row = row_of(ratios)
    assert (row.outcome, row.test, row.launches) == (outcome, "exact", (5, 5))
    assert row.ratio == pytest.approx(sorted(ratios)[2])
    assert row.margin == 0.01


def test_launches_that_share_no_round_are_not_exact() -> None:
    row = row_of([1.02] * 5, paired=False)
    assert row.outcome is Outcome.INCONCLUSIVE
    assert "not exact: varies from 985000 to 1.055e+06 in the base" in row.notes[0]


def test_a_row_that_is_open_says_how_far_the_rounds_differ() -> None:
    (note,) = row_of([1.02, 1.05, 1.02, 0.9, 1.02]).notes
    assert "varies from -10.0 % in one round to +5.0 % in another; set a tolerance" in note


@pytest.mark.parametrize(
    ("toml", "outcome"),
    [
        (GATED, Outcome.UNCHANGED),
        (f'{GATED}tolerance = "0.1%"', Outcome.REGRESSED),
        (f'{GATED}tolerance = "0%"', Outcome.REGRESSED),
        (
            f'{GATED}[[rule]]\nbenchmark = "b"\nmetric = "instructions"\ntolerance = "0.3%"',
            Outcome.REGRESSED,
        ),
    ],
)
def test_the_tolerance_can_be_set(toml: str, outcome: Outcome) -> None:
    assert row_of([1.004] * 5, toml).outcome is outcome


def test_rounds_that_one_arm_lacks_are_left_out() -> None:
    base = bench("b", [100, 200, 300], metric=INSTRUCTIONS, rounds=[0, 2, 5])
    head = bench("b", [103, 9, 309, 7], metric=INSTRUCTIONS, rounds=[0, 1, 5, 6])
    (row,) = judged([base], [head], GATED).rows
    assert (row.outcome, row.launches) == (Outcome.INCONCLUSIVE, (2, 2))
    assert row.notes[0] == "2 rounds: a change needs 5 that agree"
    assert (row.base, row.head) == (200, 206)
    assert row.ratio == pytest.approx(1.03)


def test_chance_that_is_as_wide_as_the_tolerance_hardly_ever_agrees() -> None:
    logs = np.random.default_rng(4).normal(0, 0.01, (4000, 5))
    found = [
        compare_rounds(np.ones(5), np.exp(d), 0.01, Better.LOWER, least_rounds=5).outcome
        for d in logs
    ]
    assert found.count(Outcome.REGRESSED) <= 4


def test_without_a_round_in_common_the_arms_are_compared_as_a_whole() -> None:
    base = bench("b", [100], metric=INSTRUCTIONS, rounds=[0])
    head = bench("b", [103, 104], metric=INSTRUCTIONS, rounds=[1, 2])
    (row,) = judged([base], [head], GATED).rows
    assert (row.outcome, row.launches) == (Outcome.REGRESSED, (1, 2))


def test_executions_of_a_round_count_by_their_median() -> None:
    base = bench("b", [[100, 101, 150]] * 3, metric=INSTRUCTIONS)
    head = bench("b", [[101, 102, 103]] * 3, metric=INSTRUCTIONS)
    (row,) = judged([base], [head], GATED).rows
    assert (row.base, row.head, row.outcome) == (101, 102, Outcome.UNCHANGED)


# Where they were not measured


def test_what_was_not_counted_says_why_in_its_own_row_alone() -> None:
    notes = ("not pinned: no CPU", "instructions: this machine shows none")
    arm = bench("b", [1.0] * 12, metric=TIME, notes=notes)
    toml = '[gate]\nmetrics = ["time", "instructions"]\nstatistics = ["p25"]'
    counts, time = judged([arm], [arm], toml).rows
    assert (counts.metric, counts.outcome) == ("instructions", Outcome.NOT_TESTED)
    assert counts.notes == ("instructions was not measured: this machine shows none",)
    assert (time.metric, time.outcome) == ("time", Outcome.UNCHANGED)
    assert "not pinned: no CPU" in time.notes
    assert not any("instructions" in note for note in time.notes)


def test_counts_that_nobody_asked_for_change_no_row() -> None:
    plain = bench("b", [1.0] * 12, metric=TIME)
    counted = replace(plain, series=(*plain.series, series_of([5.0], metric=INSTRUCTIONS)))
    rows = judged([plain], [plain]).rows
    for base, head in ((counted, counted), (plain, counted), (counted, plain)):
        assert judged([base], [head]).rows == rows


def test_counts_of_one_arm_are_not_comparable() -> None:
    plain = bench("b", [1.0] * 12, metric=TIME)
    counted = replace(plain, series=(*plain.series, series_of([5.0], metric=INSTRUCTIONS)))
    (row,) = judged([plain], [counted], GATED).rows
    assert row.outcome is Outcome.INCOMPARABLE
    assert row.notes == ("instructions was measured only on the head",)


# Who counted


def test_counts_of_different_counters_are_not_compared() -> None:
    arms = [
        bench("b", SEEDS, metric=INSTRUCTIONS, counter=counter) for counter in ("perf", "valgrind")
    ]
    (row,) = judged([arms[0]], [arms[1]], GATED).rows
    assert row.outcome is Outcome.INCOMPARABLE
    assert row.notes == (
        (
            "instructions was counted by perf in the base and by valgrind in the head, which do "
            "not count alike"
        ),
    )


def test_a_row_says_who_counted() -> None:
    arm = bench("b", SEEDS, metric=INSTRUCTIONS, counter="valgrind")
    (row,) = judged([arm], [arm], GATED).rows
    assert (row.outcome, row.notes) == (Outcome.UNCHANGED, ("counted by valgrind",))
