from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.app.judging import judge_run, judge_stored, make_verdict
from benchgate.app.records import Record
from benchgate.baselines.stored import Earlier, Found
from benchgate.config.load import loads
from benchgate.errors import UsageError
from benchgate.measure.engine import ArmName
from benchgate.model.result import Source, Tier
from benchgate.model.verdict import NO_BASELINE, Decision, Outcome, Skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.app.conftest import World

    from benchgate.model.result import Result

CONFIG = loads('[gate]\nstatistics = ["p25"]\n', "benchgate.toml")


def measured(world: World, base_s: float, head_s: float, rounds: int = 12) -> Result:
    session, _ = world.open({"a": world.fake(base_s, head_s), "b": world.fake()})
    for index in range(rounds):
        session.measure_round(index, session.ids, world.progress.measured)
    record = Record.begin(
        session,
        {ArmName.BASE: Source("b" * 40), ArmName.HEAD: Source("a" * 40)},
        world.effects,
        began_s=world.clock(),
        started="2026-01-02T03:04:05Z",
        screen_rounds=0,
        output=None,
        warnings=("careful",),
    )
    return record.result()


@pytest.mark.parametrize(
    ("head_s", "outcome", "decision", "code"),
    [
        (2e-3, Outcome.REGRESSED, Decision.FAIL, 3),
        (1e-3, Outcome.UNCHANGED, Decision.PASS, 0),
        (5e-4, Outcome.IMPROVED, Decision.PASS, 0),
    ],
)
def test_a_run_of_two_arms(
    world: World, head_s: float, outcome: Outcome, decision: Decision, code: int
) -> None:
    result = measured(world, 1e-3, head_s)
    verdict = make_verdict(judge_run(result, CONFIG), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (decision, code)
    assert {row.benchmark: row.outcome for row in verdict.rows} == {
        "a": outcome,
        "b": Outcome.UNCHANGED,
    }
    assert verdict.summary.startswith(decision.value)
    assert verdict.rounds == 12
    assert verdict.warnings == ("careful",)


def test_one_arm_alone_cannot_be_judged(world: World) -> None:
    with pytest.raises(UsageError, match="one arm only"):
        judge_run(replace(measured(world, 1e-3, 1e-3), base=None), CONFIG)


def test_stored_results_of_different_machines_are_no_hard_evidence(world: World) -> None:
    before, after = measured(world, 1e-3, 1e-3), measured(world, 1e-3, 2e-3)
    environment = replace(after.head.environment, cpu_model="another CPU")
    after = replace(after, head=replace(after.head, environment=environment))
    found = Found("file", (Earlier("before", before),))
    verdict = make_verdict(judge_stored(found, after, CONFIG), CONFIG)
    assert verdict.decision is not Decision.FAIL
    assert any("measured on different machines" in warning for warning in verdict.warnings)


def earlier_runs(world: World, values_s: Sequence[float]) -> Found:
    """Results of as many days, the newest first, all of the same code."""
    found = []
    for day, value_s in enumerate(values_s):
        result = measured(world, value_s, value_s)
        started = f"2025-12-{len(values_s) - day:02}T03:04:05Z"
        run = replace(result.head, started=started, complete=True)
        found.append(Earlier(f"day {day}", replace(result, head=run)))
    return Found("directory", tuple(found))


@pytest.mark.parametrize(
    ("runs", "head_s", "outcome", "conclusion"),
    [
        (9, 1.2e-3, Outcome.REGRESSED, (Decision.NO_VERDICT, 0)),
        (10, 1.2e-3, Outcome.REGRESSED, (Decision.FAIL, 3)),
        (10, 1.03e-3, Outcome.INCONCLUSIVE, (Decision.PASS, 0)),  # runs differ by as much
        (10, 8e-4, Outcome.IMPROVED, (Decision.PASS, 0)),
    ],
)
def test_ten_earlier_runs_decide(
    world: World, runs: int, head_s: float, outcome: Outcome, conclusion: tuple[Decision, int]
) -> None:
    earlier = earlier_runs(world, [1e-3 * (1 + 0.01 * (-1) ** day) for day in range(runs)])
    head = measured(world, 1e-3, head_s)
    verdict = make_verdict(judge_stored(earlier, head, CONFIG), CONFIG)
    (row,) = [row for row in verdict.rows if row.benchmark == "a"]
    assert row.outcome is outcome
    assert (verdict.decision, verdict.exit_code) == conclusion
    assert row.tier is Tier.STORED
    assert row.advisory is (runs < 10)
    assert row.calibration is not None
    assert row.calibration.calibrated is (runs >= 10)
    assert row.calibration.runs == runs
    assert row.calibration.spread == pytest.approx(0.0105, abs=2e-4)
    if runs >= 10:
        assert row.base == pytest.approx(1e-3, rel=1e-3)
        assert row.ratio == pytest.approx(head_s / 1e-3, rel=1e-3)


def test_the_textbook_rule_knows_no_calibration(world: World) -> None:
    config = loads('[gate]\nrule = "classical"\n', "benchgate.toml")
    earlier = earlier_runs(world, [1e-3] * 12)
    verdict = make_verdict(judge_stored(earlier, measured(world, 1e-3, 2e-3), config), config)
    (row,) = [row for row in verdict.rows if row.benchmark == "a" and row.statistic == "p25"]
    assert (row.outcome, row.advisory, row.calibration) == (Outcome.REGRESSED, True, None)
    assert verdict.exit_code == 0


def test_on_a_first_run_every_benchmark_is_new(world: World) -> None:
    head = measured(world, 1e-3, 1e-3)
    verdict = make_verdict(judge_stored(Found("directory"), head, CONFIG), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 0)
    assert verdict.summary.startswith("no verdict: first run, ")
    assert {row.outcome for row in verdict.rows} == {Outcome.NEW}
    assert verdict.base_source == NO_BASELINE


def test_results_that_cannot_be_used_are_no_first_run(world: World) -> None:
    head = measured(world, 1e-3, 1e-3)
    found = Found("directory", (), (Skipped("a.json", "it is torn"),), ("careful there",))
    verdict = make_verdict(judge_stored(found, head, CONFIG), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
    assert verdict.summary.startswith("no verdict: nothing could be compared")
    assert verdict.base_source == "directory"
    assert verdict.skipped == found.skipped
    assert verdict.warnings == ("careful there", "careful")
