from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.gate.arms import WAVES, bench, heads, judged

from benchgate.gate.estimates import RowStage
from benchgate.gate.waves import Suspect, lacking_rounds, launch_test, unspent_families
from benchgate.model.policy import Outcome
from benchgate.model.row import ConfirmationCost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gate.suite import Judgment
    from benchgate.model.row import Row

P25 = '[gate]\nstatistics = ["p25"]'


def suite(
    changes: Sequence[float],
    rounds: int,
    round_s: float | None = None,
    **more: Any,  # noqa: ANN401 - of a judgment
) -> Judgment:
    """Judge benchmarks of p25 alone, each by its head's change; the base is near 1."""
    base = [bench(f"b{i}", heads(rounds, 0.0, 0.001)[::-1].tolist()) for i in range(len(changes))]
    head = [bench(f"b{i}", heads(rounds, x).tolist()) for i, x in enumerate(changes)]
    return judged(base, [replace(one, round_s=round_s) for one in head], P25, **more)


def rows_of(judgment: Judgment) -> dict[str, Row]:
    return {row.benchmark: row for row in judgment.rows}


@pytest.mark.parametrize("benchmarks", [1, 2, 4, 5, 17, 18])
def test_it_speaks_from_the_least_rounds_that_their_launches_can_show(benchmarks: int) -> None:
    """None of the head's launches below one of the base's: one way of (2n choose n)."""
    least = next(n for n in range(5, 20) if comb(2 * n, n) >= 2 * benchmarks / 0.01)
    for rounds in range(3, 13):
        found = suite([0.15] + [0.0] * (benchmarks - 1), rounds)
        row = rows_of(found)["b0"]
        assert (row.outcome is Outcome.REGRESSED) == (rounds >= least), rounds
        if row.outcome is Outcome.REGRESSED:
            assert row.test == "mann-whitney"
            assert row.p == pytest.approx(1 / comb(2 * rounds, rounds))
            assert row.p_adjusted == pytest.approx(2 * benchmarks / comb(2 * rounds, rounds))
            assert row.unconfirmed is None


def test_four_that_all_got_slower_are_found_in_six_rounds() -> None:
    found = suite([0.15] * 4, 6)
    assert {row.outcome for row in found.rows} == {Outcome.REGRESSED}
    assert all("measuring ended early" in row.notes[-1] for row in found.rows)


def test_measuring_goes_on_all_the_same() -> None:
    """What is shown early decides only if the budget ends there."""
    assert {need.stage for need in suite([0.15] * 4, 6).needs} == {RowStage.CONFIRM}
    (row,) = suite([0.15], 17).rows
    assert (row.outcome, row.test) == (Outcome.REGRESSED, "wilcoxon")


def test_a_suspect_that_few_rounds_cannot_show_says_what_it_takes() -> None:
    row = rows_of(suite([0.15, 0, 0, 0], 5, round_s=41.0))["b0"]
    assert row.outcome is Outcome.INCONCLUSIVE
    assert row.notes == ("looked slower at first; 0 of the 12 rounds that confirm it",)
    assert row.unconfirmed == ConfirmationCost(12, 12 * 41.0)


def test_what_looks_faster_waits_for_its_test() -> None:
    row = rows_of(suite([-0.15, 0, 0, 0], 8))["b0"]
    assert (row.outcome, row.unconfirmed) == (Outcome.INCONCLUSIVE, None)


def test_a_suspect_that_looks_faster_does_not_lack_rounds() -> None:
    rows = suite([0.15, -0.15, 0.15], 17).evidence
    suspects = [Suspect(0, 1, 5, (24,)), Suspect(0, -1, 5, (24,)), Suspect(0, 1, 5, (12,))]
    assert lacking_rounds(rows, suspects, WAVES) == [0]


def test_a_change_has_to_reach_the_margin() -> None:
    assert rows_of(suite([0.018, 0, 0, 0], 8))["b0"].outcome is Outcome.INCONCLUSIVE


def test_launches_that_overlap_show_nothing_in_few_rounds() -> None:
    """Every round agrees, and the rounds differ by more: only the signed ranks could tell."""
    base = np.array([1.0, 1.5, 0.8, 1.2, 0.9, 1.1, 1.4])
    head = base * np.array([1.15, 1.151, 1.149, 1.152, 1.148, 1.153, 1.147])
    found = judged([bench("b", base.tolist())], [bench("b", head.tolist())], P25)
    assert found.rows[0].outcome is Outcome.INCONCLUSIVE
    assert found.rows[0].unconfirmed == ConfirmationCost(10)


@pytest.mark.parametrize("at", range(7))
def test_one_disturbed_round_raises_no_alarm(at: int) -> None:
    noise = np.array([0.001, -0.002, 0.003, -0.001, 0.002, -0.003, 0.0005])
    head = 1 + noise
    head[at] = 3.0
    found = judged([bench("b", [1.0] * 7)], [bench("b", head.tolist())], P25)
    assert found.rows[0].outcome is not Outcome.REGRESSED


def test_a_row_that_hid_from_the_screen_is_tested_too() -> None:
    """The first look missed it, and the second is still to come."""
    base = [1.0, 1.001, 1.0005, 1.4, 0.999, 1.002, 0.998, 1.0, 1.001]
    head = [1.15, 1.151, 1.152, 1.131, 1.149, 1.153, 1.148, 1.15, 1.151]
    found = judged([bench("b", base)], [bench("b", head)], P25)
    assert found.needs[0].stage is RowStage.SETTLE
    assert (found.rows[0].outcome, found.rows[0].test) == (Outcome.REGRESSED, "mann-whitney")


def test_it_spends_only_what_the_waves_cannot_have_spent() -> None:
    """Nine fresh rounds are the least that reach a fifth of alpha; the test plans twelve."""
    found = [unspent_families(rounds, WAVES) for rounds in (*range(13, 24), 59, 60)]
    assert found == [5, 4, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0]


def test_late_looks_count_among_the_families() -> None:
    until = replace(WAVES, until_decided=True)
    assert [unspent_families(n, until) for n in (10, 59, 60, 959, 960)] == [9, 5, 4, 1, 0]


def test_nothing_is_tested_where_nothing_is_left_to_spend() -> None:
    assert launch_test([], [], WAVES) == {}


@pytest.mark.parametrize("sign", [1, -1])
def test_what_waits_for_the_late_look_and_looks_slower_is_unconfirmed(sign: int) -> None:
    """It was no suspect, or its tests failed narrowly; only the late look is left."""
    ratios = sign * (0.02 + np.random.default_rng(13).normal(0, 0.05, 40))
    (row,) = judged([bench("b", [1.0] * 40)], [bench("b", np.exp(ratios).tolist())], P25).rows
    assert row.outcome is Outcome.INCONCLUSIVE
    assert row.unconfirmed == (ConfirmationCost(20) if sign > 0 else None)
    assert ("looks slower; 40 of the 60 rounds that confirm it" in row.notes) is (sign > 0)


@pytest.mark.parametrize(
    ("rounds", "change", "missing"), [(7, 0.73, 2), (5, 0.73, 4), (4, 0.73, 0), (7, 0.009, 0)]
)
def test_fixed_rounds_too_few_for_a_test_leave_a_suspect(
    rounds: int, change: float, missing: int
) -> None:
    judgment = suite([change, 0.0], rounds, waves=None)
    row = rows_of(judgment)["b0"]
    assert row.outcome is not Outcome.REGRESSED
    assert row.unconfirmed == (ConfirmationCost(missing) if missing else None)
