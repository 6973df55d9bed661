from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import bench, heads, judged

from benchgate.gate.estimates import RowStage
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.row import Row

P25 = '[gate]\nstatistics = ["p25"]'
CONFIRM, SCREEN, SETTLE, DONE = RowStage.CONFIRM, RowStage.SCREEN, RowStage.SETTLE, RowStage.DONE


def found(head: Sequence[float], toml: str = P25) -> tuple[Row, RowStage]:
    """Judge one row by the head's values; the base is 1."""
    judgment = judged(
        [bench("b", [1] * len(head), samples=40)], [bench("b", head, samples=40)], toml
    )
    (row,), (need,) = judgment.rows, judgment.needs
    return row, need.stage


@pytest.mark.parametrize(
    ("case", "stage"),
    [
        ((4, 0.0, 0.002), SCREEN),
        ((5, 0.0, 0.002), SETTLE),
        ((7, 0.0, 0.002), DONE),
        ((7, 0.0, 0.08), SETTLE),  # the first rounds say little of the spread
        ((12, 0.0, 0.08), SETTLE),
        ((12, 0.0, 0.3), DONE),  # hopeless
        ((30, 0.0, 0.05), DONE),  # the limit
        ((5, 0.05, 0.002), CONFIRM),
        ((16, 0.05, 0.002), CONFIRM),  # shown already, and tested when all rounds are there
        ((17, 0.05, 0.002), DONE),
        ((11, 0.05, 0.002), CONFIRM),
        ((17, 0.015, 0.002), DONE),  # suspected, and inside the margin after all
        ((17, 0.018, 0.02), CONFIRM),  # still suspected: the second test
        ((29, 0.018, 0.02), DONE),
    ],
)
def test_what_a_row_still_needs(case: tuple[int, float, float], stage: RowStage) -> None:
    assert found(heads(*case).tolist())[1] is stage


def test_a_suspect_says_how_far_its_test_is() -> None:
    row, _ = found(heads(5, -0.05).tolist())
    assert row.outcome is Outcome.INCONCLUSIVE
    assert row.notes == ("looked faster at first; 0 of the 12 rounds that confirm it",)
    assert row.rounds_needed == 12
    assert row.ratio == pytest.approx(0.95, abs=1e-3)  # shown, though it decides nothing
    row, _ = found(heads(9, -0.05).tolist())
    assert row.notes == ("looked faster at first; 4 of the 12 rounds that confirm it",)
    assert row.launches == (4, 4)


def test_one_disturbed_round_does_not_hide_a_change_for_good() -> None:
    values = heads(29, 0.05)
    values[10] = 0.8
    row, stage = found(values[:17].tolist())
    assert stage == CONFIRM
    row, stage = found(values.tolist())
    assert (row.outcome, stage) == (Outcome.REGRESSED, DONE)
    assert row.notes == ("confirmed in 23 of 24 rounds",)


def test_rounds_after_the_test_change_nothing() -> None:
    values = heads(17, 0.05).tolist()
    (row, stage), (later, later_stage) = found(values), found([*values, 0.5, 0.5, 0.5])
    # The classical comparison beside it takes every launch, as it always does.
    assert replace(row, classical=None) == replace(later, classical=None)
    assert stage is later_stage is DONE


def test_the_rounds_of_the_screen_have_no_part_in_what_is_told_of_a_suspect() -> None:
    fresh = heads(20).tolist()
    rows = [found([*([screen] * 5), *fresh])[0] for screen in (1.02, 1.5)]
    assert rows[0].ratio == rows[1].ratio
    assert rows[0].interval == rows[1].interval
    assert [row.outcome for row in rows] == [Outcome.UNCHANGED] * 2


def test_the_same_rounds_give_the_same_rows_in_whatever_order_benchmarks_come() -> None:
    rng = np.random.default_rng(3)
    base, head = (
        [bench(f"b{i}", rng.lognormal(0, 0.03, 20).tolist(), samples=40) for i in range(8)]
        for _ in "bh"
    )
    once, reverse = judged(base, head), judged(base[::-1], head[::-1])
    assert once == judged(base, head)
    assert {(r.benchmark, r.statistic): r for r in once.rows} == {
        (r.benchmark, r.statistic): r for r in reverse.rows
    }


class TestTails:
    """A launch is 20 samples of the location and 20 of the tail."""

    @pytest.fixture
    def both(self) -> Callable[..., dict[str, tuple[Outcome, RowStage]]]:
        def make(
            location: FloatArray, tail: FloatArray, toml: str = ""
        ) -> dict[str, tuple[Outcome, RowStage]]:
            arms = [
                bench("b", [[a] * 20 + [2.3 * b] * 20 for a, b in zip(x, y, strict=True)])
                for x, y in ((np.ones(len(location)), np.ones(len(tail))), (location, tail))
            ]
            judgment = judged([arms[0]], [arms[1]], toml)
            return {
                row.statistic: (row.outcome, need.stage)
                for row, need in zip(judgment.rows, judgment.needs, strict=True)
            }

        return make

    def test_no_round_is_spent_to_settle_a_tail_that_looks_clean(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        wide = heads(7, 0.0, 0.2)
        assert both(heads(5), wide[:5]) == {
            "p25": (Outcome.NOT_TESTED, SETTLE),
            "p95": (Outcome.NOT_SETTLED, DONE),
        }
        assert both(heads(7), wide) == {
            "p25": (Outcome.UNCHANGED, DONE),
            "p95": (Outcome.NOT_SETTLED, DONE),
        }
        assert both(heads(7), heads(7))["p95"] == (Outcome.UNCHANGED, DONE)

    def test_before_the_screen_is_over_a_tail_is_open(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        assert both(heads(4), heads(4))["p95"] == (Outcome.NOT_TESTED, SCREEN)

    def test_a_tail_alone_is_settled(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        toml = '[gate]\nstatistics = ["p95"]'
        assert both(heads(7), heads(7, 0.0, 0.2), toml)["p95"] == (Outcome.INCONCLUSIVE, SETTLE)

    def test_a_tail_is_settled_if_that_is_asked_for(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        toml = '[gate]\nsettle = ["p25", "p95"]'
        found = both(heads(7), heads(7, 0.0, 0.2), toml)
        assert found == {"p25": (Outcome.UNCHANGED, DONE), "p95": (Outcome.INCONCLUSIVE, SETTLE)}
        hopeless = both(heads(12), heads(12, 0.0, 0.9), toml)
        assert hopeless["p95"] == (Outcome.INCONCLUSIVE, DONE)

    def test_what_is_not_named_is_not_settled(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        toml = '[gate]\nsettle = ["p95"]'
        assert both(heads(7, 0.0, 0.1), heads(7), toml) == {
            "p25": (Outcome.NOT_SETTLED, DONE),
            "p95": (Outcome.UNCHANGED, DONE),
        }

    def test_a_suspected_tail_that_is_cleared_is_not_settled(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        tail = np.concatenate([heads(5, 0.2), heads(12, 0.0, 0.2)])
        assert both(heads(17), tail)["p95"] == (Outcome.NOT_SETTLED, DONE)

    def test_a_suspected_tail_is_confirmed(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        assert both(heads(7), heads(7, -0.2))["p95"] == (Outcome.INCONCLUSIVE, CONFIRM)
        assert both(heads(17), heads(17, 0.2))["p95"] == (Outcome.REGRESSED, DONE)

    def test_the_margin_of_a_tail_is_its_own(
        self, both: Callable[..., dict[str, tuple[Outcome, RowStage]]]
    ) -> None:
        found = both(heads(18, 0.04), heads(18, 0.04))  # two suspects: 13 fresh rounds
        assert [outcome for outcome, _ in found.values()] == [Outcome.REGRESSED, Outcome.UNCHANGED]
