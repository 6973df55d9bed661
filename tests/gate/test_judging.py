from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.config import policy_from
from benchgate.config.load import loads
from benchgate.errors import UsageError
from benchgate.gate.judging import judge_runs
from benchgate.gate.stored import EarlierResult, StoredResults
from benchgate.gate.verdict import judge, make_verdict
from benchgate.measure.arm import ArmName
from benchgate.model.policy import Options, Outcome
from benchgate.model.result import Screening, SkippedResult, StoredRun
from benchgate.model.run import Source, Tier
from benchgate.model.verdict import NO_BASELINE, Decision, Reason
from benchgate.report.headline import headline
from benchgate.session.result_file import ResultFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.world import Fake, World

    from benchgate.model.launch_table import Launch
    from benchgate.model.result import Result
    from benchgate.model.run import Run, Series

CONFIG = loads('[gate]\nstatistics = ["p25"]\n', "benchgate.toml")


def measured(world: World, base_s: float, head_s: float, rounds: int = 12) -> Result:
    return measured_all(world, {"a": world.fake(base_s, head_s), "b": world.fake()}, rounds)


def measured_all(world: World, fakes: Mapping[str, Fake], rounds: int = 12) -> Result:
    session, _ = world.open(fakes)
    for index in range(rounds):
        session.measure_round(index, session.ids, world.progress.measured)
    record = ResultFile(
        session=session,
        sources={ArmName.BASE: Source("b" * 40), ArmName.HEAD: Source("a" * 40)},
        effects=world.effects,
        began_s=world.clock(),
        started="2026-01-02T03:04:05Z",
        screen_rounds=0,
        output=None,
        warnings=("careful",),
    )
    record.finish()
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
    verdict = judge(result, CONFIG)
    assert (verdict.decision, verdict.exit_code) == (decision, code)
    assert {row.benchmark: row.outcome for row in verdict.rows} == {
        "a": outcome,
        "b": Outcome.UNCHANGED,
    }
    assert headline(verdict).startswith("Slower: a" if code else "Nothing got slower")
    assert verdict.rounds == 12
    assert verdict.warnings == ("careful",)


def test_one_arm_alone_cannot_be_judged(world: World) -> None:
    with pytest.raises(UsageError, match="holds only one side"):
        judge_runs(replace(measured(world, 1e-3, 1e-3), base=None), CONFIG)


def test_stored_results_of_different_machines_are_no_hard_evidence(world: World) -> None:
    before, after = measured(world, 1e-3, 1e-3), measured(world, 1e-3, 2e-3)
    environment = replace(after.head.environment, cpu_model="another CPU")
    after = replace(after, head=replace(after.head, environment=environment))
    found = StoredResults("file", (EarlierResult("before", before),))
    verdict = judge(after, CONFIG, found)
    assert verdict.decision is not Decision.FAIL
    assert any("measured on different machines" in warning for warning in verdict.warnings)


def earlier_runs(world: World, values_s: Sequence[float]) -> StoredResults:
    """Results of as many days, the newest first, all of the same code."""
    found = []
    for day, value_s in enumerate(values_s):
        result = measured(world, value_s, value_s)
        started = f"2025-12-{len(values_s) - day:02}T03:04:05Z"
        run = replace(result.head, started=started, complete=True)
        found.append(EarlierResult(f"day {day}", replace(result, head=run)))
    return StoredResults("directory", tuple(found))


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
    verdict = judge(head, CONFIG, earlier)
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
    verdict = judge(measured(world, 1e-3, 2e-3), config, earlier)
    (row,) = [row for row in verdict.rows if row.benchmark == "a" and row.statistic == "p25"]
    assert (row.outcome, row.advisory, row.calibration) == (Outcome.REGRESSED, True, None)
    assert verdict.exit_code == 0


def test_on_a_first_run_every_benchmark_is_new(world: World) -> None:
    head = measured(world, 1e-3, 1e-3)
    verdict = judge(head, CONFIG, StoredResults("directory"))
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 0)
    assert headline(verdict).startswith("First run of 2 benchmarks")
    assert {row.outcome for row in verdict.rows} == {Outcome.NEW}
    assert verdict.base_source == NO_BASELINE


def test_results_that_cannot_be_used_are_no_first_run(world: World) -> None:
    head = measured(world, 1e-3, 1e-3)
    found = StoredResults(
        "directory", (), (SkippedResult("a.json", "it is torn"),), ("careful there",)
    )
    verdict = judge(head, CONFIG, found)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
    assert headline(verdict).startswith("No verdict: nothing could be compared")
    assert verdict.base_source == "directory"
    assert verdict.skipped == found.skipped
    assert verdict.warnings == ("careful there", "careful")


# The waiver's last day is that of the measurement.
WAIVED = """
[[waive]]
benchmark = "a"
ceiling = "{ceiling}"
until = 2026-01-02
reason = "known"
"""


@pytest.mark.parametrize(
    ("ceiling", "day", "outcome", "conclusion"),
    [
        ("150%", None, Outcome.WAIVED, (Decision.PASS, 0)),
        ("50%", None, Outcome.REGRESSED, (Decision.FAIL, 3)),
        ("150%", date(2026, 1, 2), Outcome.WAIVED, (Decision.PASS, 0)),
        ("150%", date(2026, 1, 3), Outcome.REGRESSED, (Decision.FAIL, 3)),
    ],
)
def test_a_waiver_holds_on_the_day_of_the_measurement(
    world: World,
    ceiling: str,
    day: date | None,
    outcome: Outcome,
    conclusion: tuple[Decision, int],
) -> None:
    config = loads('[gate]\nstatistics = ["p25"]\n' + WAIVED.format(ceiling=ceiling), "x.toml")
    verdict = judge(measured(world, 1e-3, 2e-3), config, day=day)
    (row,) = [row for row in verdict.rows if row.benchmark == "a"]
    assert row.outcome is outcome
    assert (verdict.decision, verdict.exit_code) == conclusion
    assert any("expired" in warning for warning in verdict.warnings) is (day == date(2026, 1, 3))
    assert ("waived" in headline(verdict)) is (outcome is Outcome.WAIVED)


@pytest.mark.parametrize(
    ("min_compared", "conclusion"),
    [
        ('"all"', (Decision.NO_VERDICT, 4)),
        ("2", (Decision.PASS, 0)),
        ("3", (Decision.NO_VERDICT, 4)),
    ],
)
def test_what_is_waived_was_compared_and_what_is_missing_or_new_was_not(
    world: World, min_compared: str, conclusion: tuple[Decision, int]
) -> None:
    fakes = {
        "a": world.fake(1e-3, 2e-3),
        "b": world.fake(),
        "gone": world.fake(1e-3, None),
        "fresh": world.fake(None, 1e-3),
    }
    gate = f'[gate]\nstatistics = ["p25"]\nmin_compared = {min_compared}\n'
    config = loads(gate + WAIVED.format(ceiling="150%"), "x.toml")
    verdict = judge(measured_all(world, fakes), config)
    assert (verdict.decision, verdict.exit_code) == conclusion
    outcomes = [Outcome.MISSING, Outcome.WAIVED, Outcome.NEW, Outcome.UNCHANGED]
    assert [row.outcome for row in verdict.rows] == outcomes


def test_a_change_is_judged_by_its_base_and_what_it_loosens_is_told(world: World) -> None:
    head = loads('[gate]\nstatistics = ["p25"]\nmargin = "300%"\n', "benchgate.toml")
    result = measured(world, 1e-3, 2e-3)
    own = judge(result, head)
    assert (own.exit_code, own.settings.policy, own.policy_changes) == (0, "head", ())
    config = policy_from(CONFIG, head)
    verdict = judge(result, config)
    assert (verdict.exit_code, verdict.settings.policy) == (3, "base")
    (change,) = verdict.policy_changes
    assert (change.key, change.before, change.after) == ("gate.margin", "2 %", "300 %")


def test_rules_are_compared_for_the_benchmarks_of_the_base_or_those_named(world: World) -> None:
    def rules(**margins: str) -> str:
        globs = {"starts": "a*", "ends": "*b"}
        tables = (f'[[rule]]\nbenchmark = "{globs[k]}"\nmargin = "{v}"' for k, v in margins.items())
        return "\n".join(tables)

    base = loads(rules(starts="5%"), "base.toml")
    config = policy_from(base, loads(rules(starts="5%", ends="10%"), "head.toml"))
    judged = judge_runs(measured_all(world, {"ab": world.fake(1e-3, 1e-3)}), config)
    for ids, expected in ((None, ["2 %", "5 %"]), (["ab"], ["2 %", "5 %"]), ([], ["2 %"])):
        verdict = make_verdict(judged, config, ids=ids)
        assert [change.before for change in verdict.policy_changes] == expected


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        ('[[rule]]\nbenchmark = "old"\nmargin = "150%"', Outcome.UNCHANGED),
        ('[[rule]]\nbenchmark = "new"\nmargin = "150%"', Outcome.REGRESSED),
        (WAIVED.format(ceiling="150%").replace('"a"', '"old"'), Outcome.WAIVED),
        (WAIVED.format(ceiling="150%").replace('"a"', '"new"'), Outcome.REGRESSED),
    ],
)
def test_the_base_judges_a_renamed_benchmark_under_its_old_name(
    world: World, rules: str, outcome: Outcome
) -> None:
    fakes = {"old": world.fake(1e-3, None), "new": world.fake(None, 2e-3)}
    gate = '[gate]\nstatistics = ["p25"]\n'
    config = policy_from(loads(gate + rules, "base"), loads('[aliases]\nold = "new"', "head"))
    verdict = judge(measured_all(world, fakes), config)
    (row,) = verdict.rows
    assert (row.benchmark, row.renamed_from, row.outcome) == ("new", "old", outcome)
    assert verdict.decision is not Decision.NO_VERDICT
    assert "aliases.old" in {change.key for change in verdict.policy_changes}


def interrupted(result: Result) -> Result:
    """The same, ended before its last round."""
    base = result.base and replace(result.base, complete=False, screen_rounds=5)
    return replace(result, head=replace(result.head, complete=False, screen_rounds=5), base=base)


@pytest.mark.parametrize(
    ("head_s", "rounds", "outcome", "conclusion"),
    [
        (1e-3, 12, Outcome.UNCHANGED, (Decision.NO_VERDICT, 4, Reason.INTERRUPTED)),
        # nobody knows yet whether it is slower
        (1.66e-3, 4, Outcome.NOT_TESTED, (Decision.NO_VERDICT, 4, Reason.INTERRUPTED)),
        (1.019e-3, 9, Outcome.INCONCLUSIVE, (Decision.NO_VERDICT, 4, Reason.INTERRUPTED)),
        # so large that the rounds that there are decide
        (1.66e-3, 9, Outcome.REGRESSED, (Decision.FAIL, 3, None)),
        # it was confirmed before the end
        (1.66e-3, 17, Outcome.REGRESSED, (Decision.FAIL, 3, None)),
    ],
)
def test_an_interrupted_measurement_is_never_a_pass(
    world: World,
    head_s: float,
    rounds: int,
    outcome: Outcome,
    conclusion: tuple[Decision, int, Reason | None],
) -> None:
    part = interrupted(measured(world, 1e-3, head_s, rounds))
    verdict = judge(part, CONFIG)
    assert next(row for row in verdict.rows if row.benchmark == "a").outcome is outcome
    assert (verdict.decision, verdict.exit_code, verdict.reason) == conclusion
    assert not verdict.complete
    assert "measuring was interrupted" in headline(verdict)


@pytest.mark.parametrize("ended_early", ["base", "head"])
def test_a_stored_result_that_was_interrupted_never_passes(world: World, ended_early: str) -> None:
    before, after = measured(world, 1e-3, 1e-3), measured(world, 1e-3, 1e-3)
    if ended_early == "base":
        before = interrupted(before)
    else:
        after = interrupted(after)
    found = StoredResults("file", (EarlierResult("before.json", before),))
    verdict = judge(after, CONFIG, found)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
    assert (verdict.reason, verdict.complete) == (Reason.INTERRUPTED, False)
    named = "before.json was interrupted: it may lack rounds and benchmarks"
    assert (named in verdict.warnings) is (ended_early == "base")


@pytest.mark.parametrize("ended_early", ["alone", "in turn", "neither"])
def test_a_result_is_complete_only_if_all_of_its_runs_are(world: World, ended_early: str) -> None:
    alone, in_turn = measured(world, 1e-3, 1e-3), measured(world, 1e-3, 1e-3)
    earlier = (StoredRun("before", "", alone.head),)
    head = interrupted(alone).head if ended_early == "alone" else alone.head
    result = interrupted(in_turn) if ended_early == "in turn" else in_turn
    judged = judge_runs(replace(result, screening=Screening(head, earlier)), CONFIG)
    assert judged.complete is (ended_early == "neither")


def test_an_interrupted_first_run_says_so(world: World) -> None:
    head = interrupted(measured(world, 1e-3, 1e-3))
    verdict = judge(head, CONFIG, StoredResults("directory"))
    assert (verdict.exit_code, verdict.reason) == (4, Reason.INTERRUPTED)


def noisy(run: Run) -> Run:
    """The same, with launches that differ by 20 %."""
    rng = np.random.default_rng(1)

    def disturbed(launch: Launch) -> Launch:
        return replace(launch, samples=launch.samples * np.exp(0.2 * rng.standard_normal()))

    def changed(series: Series) -> Series:
        return replace(series, launches=tuple(map(disturbed, series.launches)))

    benchmarks = (replace(b, series=tuple(map(changed, b.series))) for b in run.benchmarks)
    return replace(run, benchmarks=tuple(benchmarks))


def test_noise_alone_is_no_pass(world: World) -> None:
    """Neither does it fail, unless the configuration wants that."""
    result = measured(world, 1e-3, 1e-3)
    result = replace(result, head=noisy(result.head))
    verdict = judge(result, CONFIG)
    assert {row.outcome for row in verdict.rows} == {Outcome.INCONCLUSIVE}
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 0)
    assert headline(verdict) == ("No verdict: no benchmark could be decided")
    strict = CONFIG.with_overrides(Options(fail_on=("inconclusive",)))
    verdict = judge(result, strict)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
    assert verdict.reason is Reason.LEFT_OPEN
