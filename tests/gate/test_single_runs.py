"""What earlier runs tell of a row; printed quantiles of Student's t are the reference."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchgate.gate.evidence import Evidence, Pair
from benchgate.gate.single_runs import (
    calibration_of,
    foretell,
    judge_at_once,
    prediction_reach,
    run_value,
)
from benchgate.model.metrics import Better, Metric
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.estimates import Finding

LEVEL = 0.001  # alpha of ten rows
# Mean 0, standard deviation 0.02: of each sign 0.02 sqrt(9 / 10).
TEN_RUNS = 0.02 * math.sqrt(0.9) * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1])


def evidence(
    head_log: float,
    runs: FloatArray,
    *,
    launches: int = 10,
    better: Better = Better.LOWER,
    spread: float = 1e-4,
) -> Evidence:
    """Launches of the head around exp(head_log), of the base around its newest run's value."""
    near = spread * (np.arange(launches) - (launches - 1) / 2)
    newest = runs[0] if len(runs) else 0.0
    return Evidence(
        pair=Pair("b", None, None),
        metric=Metric("m", "s", better),
        statistic="p25",
        base=np.exp(newest + near),
        head=np.exp(head_log + near),
        paired=False,
        margin=0.02,
        settles=True,
        base_launches=(),
        head_launches=(),
        runs=runs,
    )


def judged(one: Evidence) -> Finding:
    (finding,) = judge_at_once([one], alpha=LEVEL, confidence=0.95)
    return finding


@pytest.mark.parametrize(
    ("spread", "runs", "level", "t"),
    [
        (0.02, 10, 0.001, 4.297),
        (0.02, 10, 0.0005, 4.781),
        (0.05, 30, 0.001, 3.396),
        (0.10, 20, 0.01, 2.539),
        (0.01, 2, 0.05, 6.314),
    ],
)
def test_the_reach_by_printed_quantiles(spread: float, runs: int, level: float, t: float) -> None:
    expected = t * spread * math.sqrt(1 + 1 / runs)
    assert prediction_reach(spread, runs, level) == pytest.approx(expected, rel=2e-4)


def test_a_calibrated_row() -> None:
    one = evidence(0.12, TEN_RUNS)
    forecast = foretell(one, confidence=0.95, level=LEVEL)
    assert forecast is not None
    assert forecast.floor == pytest.approx(math.expm1(4.297 * 0.02 * math.sqrt(1.1)), rel=2e-4)
    assert forecast.floor == pytest.approx(0.0943, abs=5e-5)
    assert forecast.estimate.value == pytest.approx(0.12)
    half_width = 2.262 * 0.02 * math.sqrt(1.1)
    assert forecast.estimate.low == pytest.approx(0.12 - half_width, rel=1e-3)
    assert forecast.estimate.high == pytest.approx(0.12 + half_width, rel=1e-3)
    detectable = math.exp((4.297 + 1.383) * 0.02 * math.sqrt(1.1))
    assert forecast.estimate.detectable == pytest.approx(detectable, rel=2e-4)
    assert forecast.p == pytest.approx(stats.t.sf(0.12 / (0.02 * math.sqrt(1.1)), 9))
    known = calibration_of(one, forecast)
    assert known is not None
    assert known.calibrated
    assert known.runs == 10
    assert known.spread == pytest.approx(0.02)


@pytest.mark.parametrize("k", range(10))
def test_fewer_than_ten_runs_foretell_nothing(k: int) -> None:
    one = evidence(0.5, TEN_RUNS[:k])
    assert foretell(one, confidence=0.95, level=LEVEL) is None
    known = calibration_of(one, None)
    assert known is not None
    assert not known.calibrated
    assert (known.runs, known.floor) == (k, None)
    assert (known.spread is None) is (k < 2)
    assert judged(one).outcome is Outcome.REGRESSED  # which the suite makes advisory


def test_arms_measured_in_turn_have_no_calibration() -> None:
    assert calibration_of(replace(evidence(0, TEN_RUNS), paired=True), None) is None


@pytest.mark.parametrize(
    ("head", "outcome"),
    [
        (0.12, Outcome.REGRESSED),
        (0.1092, Outcome.REGRESSED),  # 0.0902 beyond the newest, and that is beyond the mean
        (0.1090, Outcome.INCONCLUSIVE),
        (0.05, Outcome.INCONCLUSIVE),  # ten times the spread of the launches, which tell nothing
        (0.0, Outcome.INCONCLUSIVE),
        (-0.0900, Outcome.INCONCLUSIVE),
        (-0.0902, Outcome.IMPROVED),
    ],
)
def test_what_lies_beyond_the_floor_counts(head: float, outcome: Outcome) -> None:
    """The floor is 0.0901 in logs; the newest run lies 0.019 above the mean of all."""
    assert judged(evidence(head, TEN_RUNS)).outcome is outcome


def test_runs_that_hardly_differ_show_unchanged_and_the_margin_counts() -> None:
    steady = TEN_RUNS / 20
    assert judged(evidence(0.0, steady)).outcome is Outcome.UNCHANGED
    assert judged(evidence(0.0199, steady)).outcome is Outcome.INCONCLUSIVE
    assert judged(evidence(0.0209, steady)).outcome is Outcome.REGRESSED
    equal = np.zeros(10)
    assert judged(evidence(0.0, equal)).outcome is Outcome.UNCHANGED
    assert judged(evidence(math.log(1.02), equal)).outcome is Outcome.REGRESSED


@pytest.mark.parametrize("change", [0.3, -0.3])
def test_what_was_merged_before_the_newest_run_is_not_the_heads_doing(change: float) -> None:
    runs = TEN_RUNS / 50
    runs[:1] += change
    finding = judged(evidence(change, runs))
    assert finding.outcome is Outcome.INCONCLUSIVE


def test_a_newest_run_that_contradicts_is_named() -> None:
    runs = np.concatenate([[0.2], np.tile(TEN_RUNS / 50, 3)])
    finding = judged(evidence(0.22, runs))
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert finding.notes == ("but +2.0 % against only the newest of them",)


def test_few_launches_decide_nothing_whatever_the_runs_say() -> None:
    finding = judged(evidence(0.5, TEN_RUNS, launches=5))
    assert finding.outcome is Outcome.NOT_TESTED
    assert finding.notes == (
        "too few rounds to decide: 5 launches, and a test needs 7 of each side",
    )


def test_the_value_of_a_run_takes_as_many_launches_as_the_head_has() -> None:
    launches = np.exp([[3.0, 1.0, 2.0, 9.0, 9.0], [0.0, 0.0, 1.0, 5.0, 5.0]])
    assert run_value(launches, 3) == pytest.approx([2.0, 0.0])
    assert run_value(launches, 99) == pytest.approx([3.0, 1.0])
    assert run_value(launches[0], 1) == pytest.approx(3.0)


def test_the_p_is_that_of_the_weaker_evidence() -> None:
    of_runs = judged(evidence(0.12, TEN_RUNS))
    assert of_runs.p == pytest.approx(stats.t.sf(0.12 / (0.02 * math.sqrt(1.1)), 9))
    assert of_runs.p_adjusted == of_runs.p  # a single row
    of_launches = judged(evidence(0.12, TEN_RUNS / 100))
    assert of_launches.p == pytest.approx(1 / math.comb(20, 10))
    assert of_launches.p_adjusted == pytest.approx(2 / math.comb(20, 10))


def test_the_p_of_many_rows_is_held_against_alpha_where_the_floor_is_reached() -> None:
    rows = [evidence(0.12, TEN_RUNS)] * 20
    for row in judge_at_once(rows, alpha=0.01, confidence=0.95):
        assert row.p is not None
        assert row.p_adjusted == pytest.approx(20 * row.p)
    reach = prediction_reach(0.02, 10, 0.01 / 20)
    (at_floor, *_) = judge_at_once(
        [evidence(reach, TEN_RUNS), *rows[1:]], alpha=0.01, confidence=0.95
    )
    assert at_floor.p_adjusted == pytest.approx(0.01)


def test_a_spread_beyond_all_measure_lets_nothing_count() -> None:
    runs = np.where(np.arange(10) % 2, 300.0, -300.0)
    one = evidence(5.0, runs)
    finding = judged(one)
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert finding.estimate is not None
    assert finding.estimate.detectable is None
    assert finding.calibration is not None
    assert finding.calibration.floor is not None
    assert math.isfinite(finding.calibration.floor)


spreads = st.floats(1e-6, 0.5)
counts = st.integers(2, 100)
levels = st.floats(1e-9, 0.4)


@given(spreads, counts, levels)
def test_the_reach_is_that_of_students_t(spread: float, n: int, level: float) -> None:
    expected = stats.t.isf(level, n - 1) * spread * math.sqrt(1 + 1 / n)
    assert prediction_reach(spread, n, level) == pytest.approx(expected, rel=1e-9)


@given(spreads, st.floats(1.01, 100), counts, levels)
def test_the_reach_grows_with_the_spread(s: float, more: float, n: int, level: float) -> None:
    wider = prediction_reach(s * more, n, level)
    assert wider == pytest.approx(more * prediction_reach(s, n, level))


@given(spreads, counts, levels)
def test_the_reach_shrinks_with_more_runs_and_with_a_laxer_level(
    spread: float, n: int, level: float
) -> None:
    assert prediction_reach(spread, n + 1, level) < prediction_reach(spread, n, level)
    assert prediction_reach(spread, n, level * 1.1) < prediction_reach(spread, n, level)


histories = st.lists(st.floats(-0.3, 0.3), min_size=10, max_size=30).map(np.array)
MIRROR: dict[Outcome, Outcome] = {
    Outcome.REGRESSED: Outcome.IMPROVED,
    Outcome.IMPROVED: Outcome.REGRESSED,
}


@settings(max_examples=40)
@given(histories, st.floats(-1, 1))
def test_worse_and_better_mirror_each_other(runs: FloatArray, head: float) -> None:
    outcome = judged(evidence(head, runs)).outcome
    mirrored = judged(evidence(-head, -runs)).outcome
    assert mirrored is MIRROR.get(outcome, outcome)
    higher = judged(evidence(head, runs, better=Better.HIGHER)).outcome
    assert higher is MIRROR.get(outcome, outcome)


@given(histories, st.floats(-1, 1), st.floats(-5, 5))
def test_the_unit_does_not_matter(runs: FloatArray, head: float, shift: float) -> None:
    here = foretell(evidence(head, runs), confidence=0.95, level=LEVEL)
    there = foretell(evidence(head + shift, runs + shift), confidence=0.95, level=LEVEL)
    assert here is not None
    assert there is not None
    assert there.floor == pytest.approx(here.floor, rel=1e-6, abs=1e-9)
    assert there.estimate.value == pytest.approx(here.estimate.value, abs=1e-9)
    assert there.against_newest == pytest.approx(here.against_newest, abs=1e-9)


@given(histories, st.floats(-0.3, 0.3))
def test_the_order_of_the_older_runs_does_not_matter(runs: FloatArray, head: float) -> None:
    older = np.concatenate([runs[:1], runs[1:][::-1]])
    here = foretell(evidence(head, runs), confidence=0.95, level=LEVEL)
    there = foretell(evidence(head, older), confidence=0.95, level=LEVEL)
    assert here is not None
    assert there is not None
    assert there.floor == pytest.approx(here.floor, rel=1e-9, abs=1e-12)


@given(histories, st.floats(0.05, 1), st.floats(1.0, 3.0))
def test_wider_runs_never_let_more_count(runs: FloatArray, head: float, wider: float) -> None:
    about = runs - runs.mean()
    about[0] = 0.0  # the newest stays where it is
    about -= about.mean()
    assume(np.ptp(about) > 0)
    narrow = foretell(evidence(head, about), confidence=0.95, level=LEVEL)
    wide = foretell(evidence(head, about * wider), confidence=0.95, level=LEVEL)
    assert narrow is not None
    assert wide is not None
    assert wide.floor >= narrow.floor * (1 - 1e-9)
