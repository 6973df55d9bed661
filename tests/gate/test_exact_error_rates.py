"""Error rates of operations: exact from zero, and tested where chance makes them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import judged
from tests.results import series_of

from benchgate.gate.exact import compare_error_rates
from benchgate.model.metrics import ERROR_RATIO, Kind, Metric
from benchgate.model.policy import Outcome
from benchgate.model.run import BenchmarkResult, Tier

if TYPE_CHECKING:
    from benchgate.model.row import Row

LEVEL = 0.001


def compared(base: list[float], head: list[float], tolerance: float = 0.0) -> Outcome:
    return compare_error_rates(np.array(base), np.array(head), tolerance, LEVEL).outcome


@pytest.mark.parametrize(
    ("base", "head", "tolerance", "outcome"),
    [
        ([0.0] * 5, [0.0] * 5, 0.0, Outcome.UNCHANGED),
        ([0.0], [0.0], 0.0, Outcome.UNCHANGED),
        ([0.2] * 5, [0.2] * 5, 0.0, Outcome.UNCHANGED),
        ([0.0] * 5, [0.2] * 5, 0.0, Outcome.REGRESSED),
        ([0.0] * 5, [0.2, 0.21, 0.19, 0.2, 0.2], 0.5, Outcome.REGRESSED),
        ([0.2] * 5, [0.0] * 5, 0.0, Outcome.IMPROVED),
        ([0.0] * 4, [0.2] * 4, 0.0, Outcome.INCONCLUSIVE),
        ([0.0], [1.0], 0.0, Outcome.REGRESSED),
        ([1.0], [0.2], 0.0, Outcome.IMPROVED),
        ([1.0], [1.0], 0.0, Outcome.UNCHANGED),
        ([0.0], [0.9], 0.0, Outcome.INCONCLUSIVE),
        ([0.0] * 8, [0.0] * 7 + [0.1], 0.0, Outcome.INCONCLUSIVE),
        ([0.010, 0.011, 0.009, 0.010] * 3, [0.02, 0.021, 0.019, 0.02] * 3, 0.0, Outcome.REGRESSED),
        ([0.02, 0.021, 0.019, 0.02] * 3, [0.010, 0.011, 0.009, 0.010] * 3, 0.0, Outcome.IMPROVED),
        ([0.02, 0.021, 0.019] * 4, [0.021, 0.022, 0.02] * 4, 0.0, Outcome.INCONCLUSIVE),
        ([0.02, 0.021, 0.019] * 4, [0.021, 0.022, 0.02] * 4, 0.1, Outcome.UNCHANGED),
        ([0.010, 0.011] * 6, [0.0115, 0.012] * 6, 0.2, Outcome.UNCHANGED),
        ([0.010, 0.011] * 6, [0.0115, 0.012] * 6, 0.0, Outcome.REGRESSED),
    ],
)  # fmt: skip
def test_outcomes(base: list[float], head: list[float], tolerance: float, outcome: Outcome) -> None:
    assert compared(base, head, tolerance) is outcome


def test_what_is_open_says_how_the_rates_vary_and_what_a_change_needs() -> None:
    few = compare_error_rates(np.zeros(3), np.full(3, 0.2), 0.0, LEVEL)
    (note,) = few.notes
    rates = "0 % in the base, 20 % in the head"
    assert note == f"{rates}; 3 launches of each side: a change needs up to 7"
    base, head = np.array([0.01, 0.02] * 5), np.array([0.01, 0.03] * 5)
    (note,) = compare_error_rates(base, head, 0.0, LEVEL).notes
    assert note == "1 to 2 % in the base, 1 to 3 % in the head: the difference may be chance"


@pytest.mark.parametrize("kind", ["rare", "frequent", "in some launches", "overdispersed"])
@pytest.mark.parametrize("launches", [5, 8, 20])
def test_rates_of_unchanged_code_hardly_ever_fail(kind: str, launches: int) -> None:
    """The level is 5 % here, so that 400 builds can show whether it is kept."""
    rng = np.random.default_rng(launches)
    level, builds = 0.05, 400

    def rates() -> np.ndarray:
        if kind == "in some launches":
            failing = rng.random(launches) < 0.5
            return np.where(failing, rng.binomial(2000, 0.1, launches), 0) / 2000
        q = {"rare": 0.0004, "frequent": 0.02}.get(kind, 0.0)
        share = np.full(launches, q) if q else rng.beta(2.5, 47.5, launches)
        return np.asarray(rng.binomial(2000, share) / 2000)

    found = [compare_error_rates(rates(), rates(), 0.0, level) for _ in range(builds)]
    alarms = sum(one.outcome is Outcome.REGRESSED for one in found)
    assert alarms <= 36  # 20 are expected; more than this happen once in 2,000 times


TIME = Metric("time", "s", kind=Kind.SUMMARY)


def compare(*arms: tuple[float, float], launches: int = 10, toml: str = "") -> dict[str, Row]:
    """Compare stored launches of a load tool: times, and error ratios."""
    benchmarks = []
    for time_s, errors in arms:
        times = [time_s * (1 + k / 1000) for k in range(launches)]
        both = series_of(times, metric=TIME), series_of([errors] * launches, metric=ERROR_RATIO)
        benchmarks.append(BenchmarkResult("b", "w", Tier.STORED, both))
    found = judged([benchmarks[0]], [benchmarks[1]], toml, paired=False)
    return {row.metric: row for row in found.rows}


@pytest.mark.parametrize(
    ("arms", "time", "errors"),
    [
        (((1.0, 0.0), (1.0, 0.0)), Outcome.UNCHANGED, Outcome.UNCHANGED),
        (((1.0, 0.0), (0.3, 1.0)), Outcome.NOT_TESTED, Outcome.REGRESSED),
        (((1.0, 0.0), (0.3, 0.2)), Outcome.NOT_TESTED, Outcome.REGRESSED),
        (((1.0, 0.0), (3.0, 1.0)), Outcome.REGRESSED, Outcome.REGRESSED),
        (((1.0, 1.0), (0.3, 0.0)), Outcome.IMPROVED, Outcome.IMPROVED),
        (((1.0, 1.0), (3.0, 0.0)), Outcome.NOT_TESTED, Outcome.IMPROVED),
        (((1.0, 0.1), (3.0, 0.0)), Outcome.REGRESSED, Outcome.IMPROVED),
        (((1.0, 0.2), (0.3, 0.2)), Outcome.IMPROVED, Outcome.UNCHANGED),
        (((1.0, 1.0), (0.3, 1.0)), Outcome.NOT_TESTED, Outcome.UNCHANGED),
        (((1.0, 1.0), (1.0, 1.0)), Outcome.NOT_TESTED, Outcome.UNCHANGED),
        (((1.0, 1.0), (3.0, 1.0)), Outcome.REGRESSED, Outcome.UNCHANGED),
    ],
)
def test_errors_decide_beside_the_time_and_failed_requests_are_never_faster(
    arms: tuple[tuple[float, float], tuple[float, float]], time: Outcome, errors: Outcome
) -> None:
    rows = compare(*arms)
    assert (rows["time"].outcome, rows["error_ratio"].outcome) == (time, errors)
    assert rows["error_ratio"].decides
    if time is Outcome.NOT_TESTED:
        assert "requests fail" in rows["time"].notes[0]


def test_errors_where_there_were_none_fail_although_stored() -> None:
    assert not compare((1.0, 0.0), (1.0, 0.2))["error_ratio"].advisory
    assert compare((1.0, 0.1), (1.0, 0.2))["error_ratio"].advisory
    assert not compare((1.0, 0.1), (1.0, 0.5))["error_ratio"].advisory
    assert compare((1.0, 0.6), (1.0, 0.7))["error_ratio"].advisory
    alone = compare((1.0, 0.0), (0.3, 1.0), launches=1)["error_ratio"]
    assert (alone.outcome, alone.advisory) == (Outcome.REGRESSED, False)


def test_who_names_other_metrics_is_not_asked_about_errors() -> None:
    rows = compare((1.0, 0.0), (1.0, 1.0), toml='gate.metrics = ["error_ratio"]')
    assert rows["error_ratio"].outcome is Outcome.REGRESSED
    assert not rows["time"].decides
