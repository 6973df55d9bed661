"""A benchmark that runs the same code on both sides is not measured, and is no reason for doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.gate.arms import bench, heads, judged
from tests.results import of_benchmarks

from benchgate.config import loads
from benchgate.errors import ConfigError
from benchgate.gate.effect import require_effect, untested_metrics
from benchgate.gate.screening import can_settle, to_measure
from benchgate.gate.stored import EarlierResult, StoredResults, fit_for
from benchgate.gate.suite import Design, judge_suite
from benchgate.gate.verdict import judge
from benchgate.model.policy import Outcome
from benchgate.model.result import Result
from benchgate.model.row import Row
from benchgate.model.run import BenchmarkFiles, BenchmarkResult, Run, Source, Status
from benchgate.model.verdict import Decision, Reason, Verdict

_Arm = list[BenchmarkResult]
P25 = 'gate.statistics = ["p25"]'
ROUNDS = 17


def same(id_: str, files: BenchmarkFiles = BenchmarkFiles.OWN) -> BenchmarkResult:
    return bench(id_, status=Status.SAME_CODE, files=files)


def sides(*changes: float, unmeasured: int = 1) -> tuple[_Arm, _Arm]:
    """The benchmarks of both sides: measured ones that change so much, then the others."""
    others = [same(f"same{i}") for i in range(unmeasured)]
    base = [bench(f"b{i}", [1] * ROUNDS) for i in range(len(changes))]
    head = [bench(f"b{i}", heads(ROUNDS, x).tolist()) for i, x in enumerate(changes)]
    return [*base, *others], [*head, *others]


def verdict_on(*arms: list[BenchmarkResult], toml: str = P25) -> Verdict:
    base, head = (of_benchmarks(*arm, screen_rounds=5) for arm in arms)
    return judge(Result(head, base), loads(toml, "t.toml"))


def of_run(*benchmarks: BenchmarkResult, sha: str = "a") -> Run:
    return of_benchmarks(*benchmarks, source=Source(sha * 40), seed=ord(sha))


def test_it_has_one_row_whatever_is_asked_of_it() -> None:
    base, head = sides()
    toml = '[[limit]]\nbenchmark = "*"\nmax = "1ms"\n[gate]\nmetrics = ["time", "cpu_time"]'
    assert judged(base, head, toml).rows == (Row("same0", Outcome.SAME_CODE),)


def test_it_keeps_the_name_that_an_alias_gave_it() -> None:
    found = judged([same("old")], [same("new")], '[aliases]\nold = "new"')
    assert found.rows == (Row("new", Outcome.SAME_CODE, renamed_from="old"),)


def test_it_needs_no_rounds_and_spends_no_alpha() -> None:
    alone, beside = (judged(*sides(0.05, 0.05, unmeasured=n), toml=P25) for n in (0, 50))
    assert [row for row in beside.rows if row.outcome is not Outcome.SAME_CODE] == [*alone.rows]
    assert beside.needs == alone.needs
    assert (alone.base_benchmarks, beside.base_benchmarks) == (2, 52)


@pytest.mark.parametrize("least", ["", "\n[gate]\nmin_compared = 3"])
def test_if_nothing_runs_changed_code_the_suite_passes(least: str) -> None:
    verdict = verdict_on(*sides(unmeasured=3), toml=least)
    assert (verdict.decision, verdict.exit_code, verdict.reason) == (Decision.PASS, 0, None)
    assert (verdict.warnings, verdict.compared) == ((), 3)
    assert verdict.is_unmeasured


def test_what_was_measured_decides() -> None:
    assert verdict_on(*sides(0.0)).decision is Decision.PASS
    assert verdict_on(*sides(0.0, 0.05)).exit_code == 3
    assert not verdict_on(*sides(0.0)).is_unmeasured


def test_it_does_not_stand_in_for_what_is_open_or_was_lost() -> None:
    base, head = sides()
    noisy = [bench("noisy", heads(ROUNDS, 0.0, 0.4).tolist()) for _ in range(2)]
    noisy[1] = bench("noisy", heads(ROUNDS, 0.0, 0.4)[::-1].tolist())
    assert verdict_on([*base, noisy[0]], [*head, noisy[1]]).reason is Reason.UNDECIDED
    lost = verdict_on([*base, bench("lost", [1] * ROUNDS)], head)
    assert (lost.reason, lost.exit_code) == (Reason.TOO_FEW_COMPARED, 4)


def test_beside_it_a_new_benchmark_passes() -> None:
    base, head = sides()
    assert verdict_on(base, [*head, bench("new", [1] * ROUNDS)]).decision is Decision.PASS


def test_what_only_the_head_has_is_new_even_if_it_was_not_measured() -> None:
    base, head = sides(0.0)
    added = same("added", files=BenchmarkFiles.HEAD)
    found = judged([*base, added], [*head, added], P25)
    assert {row.benchmark: row.outcome for row in found.rows}["added"] is Outcome.NEW
    assert found.base_benchmarks == len(base)


@pytest.mark.parametrize(
    ("base", "head", "what"),
    [
        (same("a"), bench("a", [1] * 9), "the result of the base did not measure it"),
        (bench("a", [1] * 9), same("a"), "the result of the head did not measure it"),
        (same("a"), same("a"), "neither result measured it"),
    ],
)
def test_between_results_of_different_runs_nothing_follows(
    base: BenchmarkResult, head: BenchmarkResult, what: str
) -> None:
    (row,) = judged([base], [head], P25, paired=False, waves=None).rows
    assert row.outcome is Outcome.NOT_TESTED
    assert row.notes == (f"{what}, because its code was the same as its base's",)


def test_a_crash_stays_a_crash() -> None:
    broken = bench("a", status=Status.FAILED, error="boom")
    (row,) = judged([same("a")], [broken], P25, paired=False, waves=None).rows
    assert row.outcome is Outcome.FAILED


def test_stored_runs_that_did_not_measure_it_settle_nothing() -> None:
    stored = of_run(same("a"))
    head = of_run(bench("a", [1] * ROUNDS), sha="b")
    config = loads(P25, "t.toml")
    judgment = judge_suite(stored, head, config, Design(paired=False), earlier=[stored])
    assert to_measure(judgment) == {"a"}
    assert can_settle([stored], config) == frozenset()


def test_a_stored_run_that_measured_nothing_of_the_head_is_no_baseline() -> None:
    head = of_run(bench("a", [1] * ROUNDS), bench("b", [1] * ROUNDS))
    some = of_run(bench("a", [1] * ROUNDS), same("b"), sha="b")
    none = of_run(same("a"), same("b"), sha="c")
    earlier = tuple(
        EarlierResult(name, Result(run)) for name, run in (("some", some), ("none", none))
    )
    found = fit_for(StoredResults("directory", earlier), head, {})
    assert [one.name for one in found.earlier] == ["some"]
    assert [one.what for one in found.skipped] == ["none"]


@pytest.mark.parametrize(
    "toml",
    [
        '[[rule]]\nbenchmark = "same0"\nmetric = "B/op"\ntolerance = "5%"',
        '[[rule]]\nbenchmark = "*"\nmetric = "B/op"\ntolerance = "5%"',
        '[[limit]]\nbenchmark = "same*"\nmetric = "B/op"\nmax = 500',
        '[gate]\nmetrics = ["time", "B/op"]',
    ],
)
def test_what_was_not_measured_may_have_any_metric(toml: str) -> None:
    before, after = sides(0.0)
    result = Result(of_run(*after), of_run(*before))
    require_effect(loads(toml, "t.toml"), [result], is_whole=True)
    config = loads(toml, "t.toml")
    measured = [replace(result, head=of_run(*after[:1]), base=of_run(*before[:1]))]
    with pytest.raises(ConfigError):
        require_effect(config, measured, is_whole=True)


def test_its_name_is_known() -> None:
    before, after = sides(0.0)
    result = Result(of_run(*after), of_run(*before))
    config = loads('[[rule]]\nbenchmark = "smae*"\nmargin = "5%"', "t.toml")
    with pytest.raises(ConfigError, match="matches no benchmark"):
        require_effect(config, [result], is_whole=True)


def test_nobody_misses_its_metrics() -> None:
    known = of_run(bench("same0", [1] * 9))
    config = loads('[gate]\nmetrics = ["time", "peak_rss"]', "t.toml")
    assert untested_metrics(config, of_run(same("same0")), known) == ()


def test_it_can_fail_no_build() -> None:
    with pytest.raises(ConfigError, match="fail_on"):
        loads('[gate]\nfail_on = ["same code"]', "t.toml")
