"""What did not run with the benchmark files that decide is shown, and fails no build."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loads import load_launch, load_result
from tests.results import arm, bench, series_of

from benchgate.config import loads
from benchgate.gate.judging import judge_runs
from benchgate.gate.other_files import TOGETHER
from benchgate.gate.pair_rows import OTHER_FILES
from benchgate.gate.verdict import judge
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.load import Loop
from benchgate.model.metrics import ERROR_RATIO, THROUGHPUT, Kind, Metric
from benchgate.model.policy import Outcome
from benchgate.model.result import Result, Shard
from benchgate.model.run import (
    CANARY_ID,
    NEW_VERSION,
    BenchmarkFiles,
    BenchmarkResult,
    Status,
    Tier,
)
from benchgate.model.verdict import VERDICT, Decision, Reason, Verdict
from benchgate.report.headline import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.model.row import Row

BASE, HEAD, OWN = BenchmarkFiles
MS = 1e-3
P25 = '[gate]\nstatistics = ["p25"]\n'


def old(id_: str, value_s: float, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    return bench(id_, value_s, files=BASE, **more)


def new(id_: str, value_s: float, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    return bench(id_, value_s, files=HEAD, **more)


def own(id_: str, value_s: float, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    return replace(bench(id_, value_s, files=OWN, **more), workload=f"{value_s}")


def version(of: str, value_s: float, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    return bench(f"{of}{NEW_VERSION}", value_s, files=HEAD, new_version_of=of, **more)


def failed(id_: str, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    return bench(id_, 1, rounds=0, status=Status.FAILED, error="no such thing\nmore", **more)


def measured(
    base: Sequence[BenchmarkResult],
    head: Sequence[BenchmarkResult],
    files: BenchmarkFiles = BASE,
    **more: Any,  # noqa: ANN401 - any field of the result
) -> Result:
    runs = [arm({}, benchmarks=tuple(one), files=files) for one in (base, head)]
    return Result(head=runs[1], base=runs[0], **more)


def judged(
    base: Sequence[BenchmarkResult],
    head: Sequence[BenchmarkResult],
    toml: str = "",
    files: BenchmarkFiles = BASE,
) -> Verdict:
    config = loads(P25 + toml, "benchgate.toml")
    return judge(measured(base, head, files), config)


def rows_of(verdict: Verdict, id_: str) -> list[Row]:
    return [row for row in verdict.rows if row.benchmark == id_]


def test_a_new_benchmark_that_is_ten_times_slower_passes_and_shows_its_change() -> None:
    found = judged([old("a", MS), new("b", MS)], [old("a", MS), new("b", 10 * MS)])
    assert (found.decision, found.exit_code, found.compared) == (Decision.PASS, 0, 1)
    (row,) = rows_of(found, "b")
    assert row.outcome is Outcome.NEW
    assert (row.base, row.ratio) == pytest.approx((MS, 10), rel=1e-3)
    assert row.interval == pytest.approx((10, 10), rel=1e-3)
    assert (row.p, row.p_adjusted, row.launches) == (None, None, (12, 12))
    assert row.notes == ()
    assert not row.changed_together


def test_what_is_new_changes_nothing_about_the_others() -> None:
    few = judged([old("a", MS)], [old("a", 2 * MS)])
    many = [new(f"b{n}", MS) for n in range(50)]
    found = judged([old("a", MS), *many], [old("a", 2 * MS), *many])
    assert rows_of(found, "a") == rows_of(few, "a")
    assert found.settings == few.settings
    assert (found.decision, found.exit_code) == (Decision.FAIL, 3)


def test_what_is_new_needs_no_rounds_and_is_no_benchmark_of_the_base() -> None:
    config = loads(P25, "benchgate.toml")
    side = [old("a", MS, rounds=4), new("b", MS, rounds=4)]
    result = measured(side, side)
    result = replace(result, head=replace(result.head, screen_rounds=5))
    found = judge_runs(result, config)
    assert {need.benchmark for need in found.needs} == {"a"}
    assert found.judgment.base_benchmarks == 1
    assert [one.pair.id for one in found.judgment.evidence] == ["a"]


def test_with_the_files_of_the_head_for_everything_nothing_is_new() -> None:
    found = judged([new("a", MS)], [new("a", 2 * MS)], files=HEAD)
    assert rows_of(found, "a")[0].outcome is Outcome.REGRESSED


@pytest.mark.parametrize("base", [[], [failed("b", files=HEAD)], [failed("g", files=HEAD)]])
def test_what_does_not_run_on_the_base_is_new_with_the_values_of_the_head(
    base: list[BenchmarkResult],
) -> None:
    note = "it does not run on the base: no such thing"
    found = judged([old("a", MS), *base], [old("a", MS), new("b", MS, notes=(note,))])
    (row,) = rows_of(found, "b")
    assert (row.outcome, row.base, row.notes) == (Outcome.NEW, None, (note,))
    assert row.head == pytest.approx(MS)
    assert (found.decision, len(found.rows)) == (Decision.PASS, 2)


def test_the_file_of_new_benchmarks_that_fails_on_the_base_stands_for_none_of_them() -> None:
    found = judged([old("a", MS), failed("g", files=HEAD)], [old("a", MS), new("g/b", MS)])
    assert [row.outcome for row in rows_of(found, "g/b")] == [Outcome.NEW]
    assert not rows_of(found, "g")


@pytest.mark.parametrize("base", [[], [failed("b", files=HEAD)], [new("b", MS)]])
def test_what_is_new_and_crashes_is_new_and_fails_no_build(base: list[BenchmarkResult]) -> None:
    sides = [old("a", MS), *base], [old("a", MS), failed("b", files=HEAD)]
    found = judged(*sides)
    (row,) = rows_of(found, "b")
    assert (row.outcome, row.notes[0]) == (Outcome.NEW, "crashes on the head")
    assert (row.error or "").startswith("no such thing")
    assert (found.decision, found.exit_code) == (Decision.PASS, 0)
    assert headline(found) == "Nothing got slower; b is new and crashes"
    asked = judged(*sides, 'fail_on = ["new"]')
    assert (asked.decision, asked.exit_code) == (Decision.FAIL, 5)
    assert headline(asked) == "b is new and crashes"
    plain = judged([old("a", MS), new("b", MS)], [old("a", MS), new("b", MS)], 'fail_on = ["new"]')
    assert plain.decision is Decision.PASS


def test_of_a_base_that_has_nothing_a_crash_fails() -> None:
    found = judged([], [failed("b", files=HEAD)])
    assert (found.decision, found.exit_code) == (Decision.FAIL, 5)


def test_one_cold_run_is_no_value_of_what_was_removed() -> None:
    (row,) = rows_of(judged([old("a", MS), old("b", MS, rounds=1)], [old("a", MS)]), "b")
    assert (row.outcome, row.base) == (Outcome.MISSING, None)


def test_what_only_the_base_has_of_the_heads_files_is_not_missing() -> None:
    found = judged([old("a", MS), new("b", MS)], [old("a", MS)])
    assert [row.benchmark for row in found.rows] == ["a"]
    assert found.decision is Decision.PASS


def test_a_metric_that_a_new_benchmark_lacks_on_one_side_is_new_too() -> None:
    bare = replace(new("b", MS), series=())
    found = judged([old("a", MS), bare], [old("a", MS), new("b", MS)])
    (row,) = rows_of(found, "b")
    assert (row.outcome, row.notes) == (Outcome.NEW, ("time was measured only on the head",))
    assert found.decision is Decision.PASS


def test_too_few_rounds_of_a_new_benchmark_show_values_without_an_interval() -> None:
    b = new("b", MS, rounds=1)
    (row,) = rows_of(judged([old("a", MS), b], [old("a", MS), b]), "b")
    assert (row.outcome, row.notes) == (Outcome.NEW, ())
    assert (row.base, row.head) == pytest.approx((MS, MS))


def test_exact_metrics_of_a_new_benchmark_are_new() -> None:
    metric = Metric("instructions", "", kind=Kind.EXACT)

    def counted(one: BenchmarkResult, value: float) -> BenchmarkResult:
        return replace(one, series=(*one.series, series_of([value] * 12, metric=metric)))

    toml = 'metrics = ["time", "instructions"]\n'
    before, after = counted(new("b", MS), 100.0), counted(new("b", MS), 300.0)
    found = judged([old("a", MS), before], [old("a", MS), after], toml)
    row = next(row for row in rows_of(found, "b") if row.metric == "instructions")
    assert (row.outcome, row.base, row.head, row.ratio) == (Outcome.NEW, 100, 300, 3)
    shown = judged([old("a", MS), before], [old("a", MS), after])
    assert [row.metric for row in rows_of(shown, "b")] == ["time"]
    assert "instructions" not in headline(shown)


def test_a_new_benchmark_may_be_over_a_limit() -> None:
    toml = '[[limit]]\nbenchmark = "b"\nmetric = "time"\nstatistic = "p25"\nmax = "2ms"\n'
    found = judged([old("a", MS), new("b", MS)], [old("a", MS), new("b", 10 * MS)], toml)
    outcomes = {row.outcome for row in rows_of(found, "b")}
    assert outcomes == {Outcome.NEW, Outcome.OVER_LIMIT}
    assert found.decision is Decision.FAIL


def test_a_benchmark_that_changed_together_with_the_code_shows_its_change_and_passes() -> None:
    why = f"{TOGETHER}: the base's version does not run on the head (no such thing)"
    b = own("b", MS / 10, notes=(why,))
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), b])
    assert (found.decision, found.exit_code, found.compared) == (Decision.PASS, 0, 1)
    assert found.settings.min_compared == 1
    (row,) = rows_of(found, "b")
    assert (row.outcome, row.changed_together) == (Outcome.INCOMPARABLE, True)
    assert (row.base, row.ratio) == pytest.approx((MS, 0.1), rel=1e-3)
    assert row.interval
    assert row.notes == (why,)


WAIVED = """
[[waive]]
benchmark = "b"
{what}
until = 2030-01-01
reason = "it does more"
"""


@pytest.mark.parametrize(
    ("toml", "code"),
    [
        ("", 4),
        ("fail_on = []", 0),
        (WAIVED.format(what='outcome = "incomparable"'), 0),
        (WAIVED.format(what='ceiling = "110%"'), 0),
        (WAIVED.format(what='ceiling = "90%"'), 4),
    ],
)
def test_what_surely_got_worse_together_with_the_code_is_no_pass(toml: str, code: int) -> None:
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), own("b", 2 * MS)], toml)
    assert found.exit_code == code
    if code or "fail_on" in toml:
        assert found.reason is Reason.WORSE_TOGETHER
        said = "No verdict: b (+100 %) looks slower, and changed together with the code"
        assert headline(found) == said
    else:
        assert found.decision is Decision.PASS


def test_what_may_have_stayed_within_the_margin_together_with_the_code_passes() -> None:
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), own("b", 1.019 * MS)])
    assert found.decision is Decision.PASS


def test_its_rows_say_what_happened_even_if_the_result_does_not() -> None:
    loops = replace(own("b", MS).series[0], loops=7)
    other = replace(own("b", 2 * MS, notes=("not pinned",)), series=(loops,))
    (row,) = rows_of(judged([old("a", MS), own("b", MS)], [old("a", MS), other]), "b")
    assert row.notes == (TOGETHER, "not pinned")
    assert row.ratio


def test_fail_on_may_name_what_changed_together() -> None:
    toml = 'fail_on = ["regressed", "failed", "incomparable"]\n'
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), own("b", MS)], toml)
    assert (found.decision, found.reason) == (Decision.NO_VERDICT, Reason.LEFT_OPEN)
    assert found.exit_code == 4


def test_what_changed_together_hides_no_regression_of_another_benchmark() -> None:
    found = judged([old("a", MS), own("b", MS)], [old("a", 2 * MS), own("b", MS / 10)])
    assert (found.decision, found.exit_code) == (Decision.FAIL, 3)
    assert rows_of(found, "a") == rows_of(judged([old("a", MS)], [old("a", 2 * MS)]), "a")


def test_there_is_no_verdict_if_every_benchmark_changed_together() -> None:
    found = judged([own("a", MS), own("b", MS)], [own("a", MS), own("b", MS)])
    assert (found.decision, found.reason) == (Decision.NO_VERDICT, Reason.NOTHING_COMPARED)
    assert found.exit_code == 4


def test_nor_if_a_base_that_fails_is_all_there_is_besides() -> None:
    found = judged([own("a", MS), failed("b")], [own("a", MS), old("b", MS)])
    assert (found.decision, found.reason) == (Decision.NO_VERDICT, Reason.NOTHING_COMPARED)
    assert found.exit_code == 5


def test_a_benchmark_that_changed_together_may_be_waived() -> None:
    waive = (
        '[[waive]]\nbenchmark = "a"\noutcome = "incomparable"\nuntil = 2026-02-01\nreason = "new"\n'
    )
    found = judged([own("a", MS)], [own("a", MS)], waive)
    assert (found.decision, found.reason) == (Decision.NO_VERDICT, Reason.NOTHING_COMPARED)
    assert found.exit_code == 0


def test_a_limit_does_not_make_it_count_as_one_that_must_be_compared() -> None:
    toml = '[[limit]]\nbenchmark = "b"\nmetric = "time"\nstatistic = "p25"\nmax = "2ms"\n'
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), own("b", MS)], toml)
    assert found.decision is Decision.PASS
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), own("b", 3 * MS)], toml)
    assert found.decision is Decision.FAIL


def test_what_changed_together_and_fails_on_the_head_fails() -> None:
    found = judged([old("a", MS), own("b", MS)], [old("a", MS), failed("b", files=OWN)])
    assert found.decision is Decision.FAIL


@pytest.mark.parametrize(
    ("before", "after"), [(BASE, HEAD), (HEAD, BASE), (OWN, HEAD), (BASE, OWN), (OWN, BASE)]
)
def test_sides_that_ran_different_files_are_not_compared_and_not_excused(
    before: BenchmarkFiles, after: BenchmarkFiles
) -> None:
    base, head = bench("b", MS, files=before), bench("b", 10 * MS, files=after)
    found = judged([old("a", MS), base], [old("a", MS), head])
    (row,) = rows_of(found, "b")
    assert (row.outcome, row.changed_together) == (Outcome.INCOMPARABLE, False)
    assert row.notes == (OTHER_FILES,)
    if before is not HEAD:
        assert (found.decision, found.reason) == (Decision.NO_VERDICT, Reason.TOO_FEW_COMPARED)


def test_runs_that_do_not_agree_on_the_files_are_compared_by_those_of_each_benchmark() -> None:
    config = loads(P25, "benchgate.toml")
    result = measured([bench("a", MS)], [old("a", 2 * MS)])
    assert result.base
    result = replace(result, base=replace(result.base, files=OWN))
    found = judge(result, config)
    assert [row.notes for row in found.rows] == [(OTHER_FILES,)]
    assert found.decision is Decision.NO_VERDICT


def test_the_canary_runs_with_no_files() -> None:
    a = old("a", MS)
    found = judged([a, bench(CANARY_ID, MS)], [a, bench(CANARY_ID, 2 * MS)])
    assert found.reason is Reason.DISTURBED
    assert [row.benchmark for row in found.rows] == ["a"]


def test_a_new_version_is_a_note_on_the_rows_of_its_benchmark() -> None:
    edited = "the pull request edits this benchmark; its new version counts after the merge"
    a = old("a", MS, notes=(edited,))
    found = judged([a, version("a", 2 * MS), old("b", MS)], [a, version("a", 3 * MS), old("b", MS)])
    (row,) = rows_of(found, "a")
    assert row.outcome is Outcome.UNCHANGED
    assert row.notes == (edited, "its new version: 2.000 ms -> 3.000 ms (+50.0 %)")
    assert {row.benchmark for row in found.rows} == {"a", "b"}
    assert found.decision is Decision.PASS


def test_each_statistic_has_its_own_figures_of_the_new_version() -> None:
    series = series_of([MS * (1 + n * 1e-6) for n in range(12)], samples=100)
    slow = replace(
        series,
        launches=tuple(
            replace(x, samples=np.where(np.arange(100) > 90, 9 * MS, x.samples))
            for x in series.launches
        ),
    )
    a = replace(old("a", MS), series=(series,))
    base = [a, replace(version("a", MS), series=(series,))]
    head = [a, replace(version("a", MS), series=(slow,))]
    config = loads("", "benchgate.toml")
    found = judge(measured(base, head), config)
    notes = {row.statistic: [n for n in row.notes if "new version" in n] for row in found.rows}
    assert notes == {
        "p25": ["its new version: 1.000 ms -> 1.000 ms (0.00 %)"],
        "p95": ["its new version: 1.000 ms -> 9.000 ms (+800.0 %)"],
    }


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (None, version("a", MS), "its new version does not run on the base; on the head: 1.000 ms"),
        (
            failed(f"a{NEW_VERSION}", new_version_of="a"),
            version("a", MS),
            "its new version does not run on the base; on the head: 1.000 ms",
        ),
        (
            None,
            version("a", MS, rounds=0),
            "its new version does not run on the base",
        ),
        (
            version("a", MS),
            failed(f"a{NEW_VERSION}", new_version_of="a"),
            "its new version fails: no such thing",
        ),
    ],
)
def test_a_new_version_that_fails_says_so_and_fails_no_build(
    before: BenchmarkResult | None, after: BenchmarkResult, note: str
) -> None:
    found = judged([old("a", MS), *([before] if before else [])], [old("a", MS), after])
    assert [row.notes for row in found.rows] == [(note,)]
    assert found.decision is Decision.PASS


def test_a_benchmark_that_fails_tells_of_its_new_version_as_well() -> None:
    side = [failed("a", files=BASE), version("a", MS)]
    (row,) = judged(side, side).rows
    assert "its new version: 1.000 ms -> 1.000 ms (0.00 %)" in row.notes


def test_the_rules_of_a_benchmark_are_those_of_its_new_version() -> None:
    toml = '[[rule]]\nbenchmark = "a"\nstatistics = ["min"]\n'
    (row,) = judged([old("a", MS), version("a", MS)], [old("a", MS), version("a", MS)], toml).rows
    assert row.statistic == "min"
    assert row.notes == ("its new version: 1.000 ms -> 1.000 ms (0.00 %)",)


def test_new_versions_are_not_counted_in_shards() -> None:
    config = loads(P25, "benchgate.toml")
    side = [old("a", MS), version("a", 2 * MS)]
    part = measured(side, side, shard=Shard(1, 2, ("a", "b")))
    found = judge_runs(part, config)
    assert found.warnings[0].startswith("shard 1 of 2: 1 of 2 benchmarks")
    assert [row.benchmark for row in found.judgment.rows] == ["a"]


def under_load(step: str, files: BenchmarkFiles, ops: float) -> BenchmarkResult:
    load = replace(load_result(load_launch()), loop=Loop.CLOSED, step=step)
    rates = series_of([ops * (1 + n * 1e-6) for n in range(12)], metric=THROUGHPUT)
    series = (rates, series_of([0.0] * 12, metric=ERROR_RATIO))
    return BenchmarkResult(f"s/{step}", "w", Tier.INTERLEAVED, series, load=load, files=files)


def test_a_new_step_has_no_share_in_the_throughput_of_its_scenario() -> None:
    known = [under_load("x", BASE, 100.0), under_load("y", BASE, 50.0)]
    without = judged(known, known)
    found = judged([*known, under_load("z", HEAD, 20.0)], [*known, under_load("z", HEAD, 10.0)])
    assert rows_of(found, "s") == rows_of(without, "s")
    assert {row.outcome for row in rows_of(found, "s/z")} == {Outcome.NEW}
    assert found.decision is without.decision


def test_the_steps_of_a_new_scenario_share_a_throughput_that_is_new() -> None:
    steps = [under_load("x", HEAD, 100.0), under_load("y", HEAD, 50.0)]
    found = judged([old("a", MS), *steps], [old("a", MS), *steps])
    (row,) = rows_of(found, "s")
    assert row.outcome is Outcome.NEW
    assert row.base == pytest.approx(150, rel=1e-3)
    assert found.decision is Decision.PASS


def test_a_result_file_gives_the_same_verdict() -> None:
    base = [old("a", MS), new("b", MS), own("c", MS), version("a", MS)]
    head = [old("a", MS), new("b", 2 * MS), own("c", 2 * MS), version("a", 3 * MS)]
    config = loads(P25, "benchgate.toml")
    result = measured(base, head)
    read = decode_result(encode_result(result, str), "result.json")
    found, again = (judge(one, config) for one in (result, read))
    assert found == again
    assert VERDICT.read(VERDICT.write(found, str), "verdict.json") == found
    assert found.files is BASE


KINDS: Mapping[str, Callable[[str, float], tuple[BenchmarkResult, BenchmarkResult]]] = {
    "new": lambda id_, ratio: (new(id_, MS), new(id_, ratio * MS)),
    "does not run on the base": lambda id_, _: (failed(id_, files=HEAD), new(id_, MS)),
    "together": lambda id_, ratio: (own(id_, MS), own(id_, ratio * MS)),
    "version": lambda _, ratio: (version("a", MS), version("a", ratio * MS)),
}
RATIOS = st.sampled_from([0.1, 1.0, 1.05, 10.0])


@settings(deadline=None, max_examples=60)
@given(
    ratios=st.dictionaries(st.sampled_from("abc"), RATIOS, min_size=1),
    shown=st.dictionaries(
        st.sampled_from("xyz"), st.tuples(st.sampled_from(sorted(KINDS)), RATIOS)
    ),
    toml=st.sampled_from(["", "min_compared = 1\n", 'rule = "classical"\n']),
    screens=st.booleans(),
)
def test_whatever_is_only_shown_the_rest_is_judged_as_without_it(
    ratios: dict[str, float], shown: dict[str, tuple[str, float]], toml: str, *, screens: bool
) -> None:
    config = loads(P25 + toml, "benchgate.toml")

    def verdict_on(*pairs: tuple[BenchmarkResult, BenchmarkResult]) -> Verdict:
        result = measured([one for one, _ in pairs], [one for _, one in pairs])
        if screens:
            result = replace(result, head=replace(result.head, screen_rounds=5))
        return judge(result, config)

    judged_ = [(old(id_, MS), old(id_, ratio * MS)) for id_, ratio in ratios.items()]
    versions = [one for one in shown.items() if one[1][0] == "version"][:1]
    others = [one for one in shown.items() if one[1][0] != "version"]
    more = [KINDS[kind](id_, ratio) for id_, (kind, ratio) in (*others, *versions)]
    without, found = verdict_on(*judged_), verdict_on(*judged_, *more)
    rows = [replace(row, notes=()) for row in found.rows if row.benchmark in ratios]
    assert rows == [replace(row, notes=()) for row in without.rows]
    assert found.compared == without.compared
    if not any(row.is_worse_together for row in found.rows):
        assert (found.decision, found.reason) == (without.decision, without.reason)
        assert found.exit_code == without.exit_code
    outcomes = {row.outcome for row in found.rows if row.benchmark not in ratios}
    assert outcomes <= {Outcome.NEW, Outcome.INCOMPARABLE}
