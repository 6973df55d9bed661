from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.arms import WAVES, bench, judged

from benchgate.gate.estimates import Estimate, RowStage, paired_estimates
from benchgate.gate.wave_findings import foretold, is_within_reach
from benchgate.gate.waves import LATE_LOOKS, late_test
from benchgate.model.policy import Outcome
from benchgate.stats.signed_rank import MAX_PAIRS, paired_shift, signed_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.waves import WaveSettings
    from benchgate.model.row import Row

P25 = '[gate]\nstatistics = ["p25"]'
LIMIT = math.log1p(0.02)


LONGER = replace(WAVES, until_decided=True)


def noise(n: int, spread: float, change: float = 0.0) -> FloatArray:
    """Log ratios of which the estimate is exactly this change, and about this the spread."""
    d = np.random.default_rng(1).normal(0, spread, n)
    centred: FloatArray = d - paired_shift(d[None], 0.5).estimate + change
    return centred


class TestTheTests:
    def test_all_rows_pay_and_both_directions(self) -> None:
        rows = [noise(60, 0.03, 0.02), noise(70, 0.03), noise(20, 0.001)]
        slow, wide, short = late_test(rows, 60, LONGER)
        p = [float(signed_rank(d[None, :60]).p_two_sided[0]) for d in rows[:2]]
        assert p[0] < p[1]
        assert slow == pytest.approx((p[0] / 2, LONGER.families * 3 * p[0]))
        assert wide == pytest.approx((p[1] / 2, min(1.0, LONGER.families * 2 * p[1])))
        assert short is None

    def test_rounds_after_the_look_change_nothing(self) -> None:
        d = noise(80, 0.03, 0.02)
        assert late_test([d], 60, LONGER) == late_test([d[:60]], 60, LONGER)

    def test_the_direction_does_not_matter(self) -> None:
        d = noise(60, 0.03, 0.02)
        assert late_test([d], 60, LONGER) == late_test([-d], 60, LONGER)

    @pytest.mark.parametrize("rows", [[], [np.empty(0)], [noise(59, 0.03)]])
    def test_without_enough_rounds_there_is_no_test(self, rows: list[FloatArray]) -> None:
        assert late_test(rows, 60, LONGER) == [None] * len(rows)


class TestReach:
    @staticmethod
    def reach(d: FloatArray, most: int = 960) -> bool:
        (estimate,) = paired_estimates([d], [0.02], confidence=0.99, level=0.01)
        assert estimate
        return is_within_reach(d, estimate, 0.02, confidence=0.99, level=1e-5, most=most)

    @pytest.mark.parametrize(
        ("spread", "change", "expected"),
        [
            (0.03, 0.0, True),  # will be inside
            (0.03, 0.015, True),
            (0.2, 0.0, True),
            (0.3, 0.0, False),  # too wide
            (0.001, 0.0197, True),  # too close to the margin, as only the last round may show
            (0.001, 0.021, True),  # the next test will show it
            (0.3, 0.03, False),  # beyond the margin, and chance cannot be ruled out
            (0.3, 0.2, True),
        ],
    )
    def test_what_more_rounds_may_show(
        self, spread: float, change: float, *, expected: bool
    ) -> None:
        assert self.reach(noise(60, spread, change)) is expected
        assert self.reach(noise(60, spread, -change)) is expected

    @given(st.floats(1e-4, 0.5), st.floats(-0.1, 0.1), st.integers(61, 900))
    def test_more_rounds_reach_further(self, spread: float, change: float, most: int) -> None:
        d = noise(60, spread, change)
        assert self.reach(d, 960) >= self.reach(d, most)

    def test_equal_values_are_within_reach(self) -> None:
        assert self.reach(np.zeros(60))


class TestForetelling:
    def test_the_rounds_whose_interval_ends_at_the_margin(self) -> None:
        d = noise(500, 0.1)
        spread = 1.4826 * float(np.median(np.abs(d - np.median(d)))) * 500 / 499.2
        expected = (1.959964 * spread / (LIMIT - 0.01)) ** 2
        assert foretold(d, Estimate(0.01, 0, 0), 0.02, 0.95) == math.ceil(expected)
        assert foretold(d, Estimate(-0.01, 0, 0), 0.02, 0.95) == math.ceil(expected)

    @pytest.mark.parametrize("value", [LIMIT, -LIMIT, LIMIT * (1 + 1e-9)])
    def test_no_number_of_rounds_tells_a_change_from_the_margin_that_it_equals(
        self, value: float
    ) -> None:
        assert foretold(noise(60, 0.1), Estimate(value, 0, 0), 0.02, 0.95) is None

    def test_equal_values_need_none(self) -> None:
        assert foretold(np.zeros(60), Estimate(0.0, 0, 0), 0.02, 0.95) == 0


def found(
    log_ratios: FloatArray, toml: str = P25, waves: WaveSettings = WAVES
) -> tuple[Row, RowStage]:
    """Judge one row whose base is 1; the stage tells whether its measuring goes on."""
    arms = [
        [bench("b", x.tolist(), samples=40)] for x in (np.ones(len(log_ratios)), np.exp(log_ratios))
    ]
    judgment = judged(arms[0], arms[1], toml, waves=waves)
    return judgment.rows[-1], judgment.needs[-1].stage


class TestTheLookAfterTwiceTheLimit:
    """A row that goes on after 30 rounds because it looks changed."""

    @staticmethod
    def hidden(change: float, spread: float, n: int = 60) -> FloatArray:
        """Give rounds that are no suspect at either look."""
        return np.concatenate([np.tile([0.05, -0.05], 5), noise(n - 10, spread, change)])

    def test_what_the_waves_missed_is_found_in_both_directions(self) -> None:
        d = self.hidden(0.03, 0.02)
        assert found(d[:59])[0].outcome is Outcome.INCONCLUSIVE
        row, stage = found(d)
        assert (row.outcome, stage, row.launches) == (Outcome.REGRESSED, RowStage.DONE, (60, 60))
        assert row.notes == (f"confirmed in {int((d > 0).sum())} of 60 rounds",)
        assert found(-d)[0].outcome is Outcome.IMPROVED

    @pytest.mark.parametrize("rounds", [30, 45, 59])
    def test_it_goes_on_until_then_as_long_as_the_look_may_show_it(self, rounds: int) -> None:
        for d in (self.hidden(0.03, 0.02, rounds), self.hidden(-0.03, 0.02, rounds)):
            assert found(d)[1] is RowStage.CONFIRM

    @pytest.mark.parametrize(
        ("change", "spread"),
        [
            (0.017, 0.02),  # it does not reach the margin
            (0.03, 0.2),  # chance cannot be ruled out
        ],
    )
    def test_what_the_look_would_not_show_ends_at_the_limit(
        self, change: float, spread: float
    ) -> None:
        row, stage = found(self.hidden(change, spread, 30))
        assert (row.outcome, stage) == (Outcome.INCONCLUSIVE, RowStage.DONE)

    def test_the_look_follows_the_limit(self) -> None:
        assert WAVES.late_looks == (60,)
        assert replace(WAVES, max_rounds=20).late_looks == (40,)
        assert replace(WAVES, max_rounds=4000).late_looks == (MAX_PAIRS,)


found_longer = partial(found, waves=LONGER)


class TestRows:
    """One row, judged as where it goes on until it is decided."""

    def test_what_the_screen_did_not_see_is_found_late(self) -> None:
        d = np.concatenate([[0.05, -0.05] * 5, noise(110, 0.04, 0.035)])
        row, stage = found_longer(d[:60])
        assert (row.outcome, stage, row.launches) == (Outcome.REGRESSED, RowStage.DONE, (60, 60))
        agreeing = int((d[:60] > 0).sum())
        assert row.notes == (f"confirmed in {agreeing} of 60 rounds",)
        assert row.p_adjusted is not None
        assert row.p_adjusted <= 0.01
        later, _ = found_longer(d)
        assert replace(later, classical=None) == replace(row, classical=None)
        better, _ = found_longer(-d[:60])
        assert better.outcome is Outcome.IMPROVED

    def test_until_the_first_late_look_nothing_is_given_up(self) -> None:
        d = np.concatenate([[0.9, -0.9] * 5, noise(50, 0.9)])
        assert found_longer(d[:59])[1] is RowStage.SETTLE
        row, stage = found_longer(d)
        assert (row.outcome, stage) == (Outcome.INCONCLUSIVE, RowStage.DONE)
        assert row.notes == ("given up: the limit is 960 rounds per row",)
        assert row.rounds_needed is not None
        assert row.rounds_needed > 960

    def test_a_change_as_large_as_the_margin_is_not_measured_for_ever(self) -> None:
        d = noise(LATE_LOOKS[-1], 0.2)
        d[:10] = np.tile([0.3, -0.3], 5)  # nothing to suspect
        d += LIMIT - 1e-6 - paired_shift(d[None], 0.5).estimate
        row, stage = found_longer(d)
        assert (row.outcome, stage) == (Outcome.INCONCLUSIVE, RowStage.DONE)
        assert row.notes == ("given up: too close to the margin for any number of rounds",)
        assert row.rounds_needed is None

    def test_a_tail_is_settled_as_well(self) -> None:
        row, stage = found_longer(np.tile([0.1, -0.1], 6), "")
        assert (row.statistic, row.outcome, stage) == ("p95", Outcome.INCONCLUSIVE, RowStage.SETTLE)

    def test_the_last_look_ends_it(self) -> None:
        row, stage = found_longer(noise(LATE_LOOKS[-1], 0.25))
        assert (row.outcome, stage) == (Outcome.INCONCLUSIVE, RowStage.DONE)
