from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.loads import load_launch, load_result, measured_step
from tests.results import bench as of_tests

from benchgate.baselines.unverified import KnownBenchmarks, SanitizedResult, cleaned
from benchgate.config import loads
from benchgate.gate.judging import judge_runs
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import OWN, TIME, Metric
from benchgate.model.policy import ConfigTables, Outcome, Policy
from benchgate.model.result import Result, Screening, Shard, StoredRun
from benchgate.model.run import (
    CANARY_ID,
    CHANGED_FILES_ID,
    NEW_VERSION,
    BenchmarkFiles,
    BenchmarkResult,
    Run,
    Series,
    Source,
    Status,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "approved by security"
HEAD, BASE = Source("a" * 40), Source("b" * 40)


def marked(value: Any) -> Any:  # noqa: ANN401 - any part of the model
    """The same with a text of the stranger's in every field that holds one, or might."""
    if type(value) is str:
        return MARK
    if isinstance(value, tuple):
        return tuple(marked(item) for item in value)
    if isinstance(value, dict):
        return {MARK: MARK}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    new = {field.name: marked(getattr(value, field.name)) for field in fields(value)}
    optional = {one.name for one in fields(value) if one.type in {"Name", "Text", "Text | None"}}
    return replace(value, **{name: MARK if name in optional else x for name, x in new.items()})


def texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any part of the model
    """Every plain text in it; an enumeration holds none of a stranger's."""
    if type(value) is str:
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from texts(getattr(value, field.name))


def bench(id_: str, *metrics: Metric, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    launch = Launch(0, 1, np.array([1.0]), np.array([2.0]))
    series = tuple(Series(metric, 3, (launch,)) for metric in metrics or (TIME,))
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, series, **more)


def arm(*benchmarks: BenchmarkResult, **more: Any) -> Run:  # noqa: ANN401 - any field
    machine = Environment(cpu_count=4, toolchains={"x": "y"})
    return Run(Source(), "2026-01-01T00:00:00Z", machine, benchmarks, **more)


def whole() -> Result:
    """Every field that there is, with something in it."""
    load = load_result(load_launch(), server={"x": "x"})
    failed = bench("x", status=Status.FAILED, error="x", notes=("x",), load=load)
    run = arm(failed, suite="x", seed=7, screen_rounds=5, complete=False, is_mixed=True)
    stored = Screening(run, (StoredRun("x", "x", run),), (), ("x",))
    policy = Policy(ConfigTables("x", {"x": "x"}, {"x": 1}), ConfigTables("x", {"x": ["x"]}, {}))
    plain = Result(run, run, 2.0, ("x",), Shard(1, 2, ("x",)), (), stored, policy, tool="x")
    return replace(plain, shards=(plain, plain))


def with_own_version(run: Run) -> tuple[BenchmarkResult, ...]:
    (version,) = run.benchmarks
    return version, replace(version, id=f"{version.id}'", new_version_of=None)


def test_no_text_of_a_stranger_passes_not_even_in_a_field_of_tomorrow() -> None:
    strange = marked(whole())
    # The time is checked before, and has one form alone.
    times = {"started": "2026-01-01T00:00:00Z"}
    parts = tuple(
        replace(
            part,
            head=replace(part.head, **times, benchmarks=with_own_version(part.head)),
            base=replace(part.base, **times, benchmarks=with_own_version(part.base)),
        )
        for part in (strange, *strange.shards)
    )
    clean = cleaned(replace(parts[0], shards=parts[1:]), KnownBenchmarks(), HEAD, BASE)
    assert MARK in set(texts(strange))
    assert MARK not in set(texts(clean.result)) | set(clean.names.values())
    (one,) = clean.result.head.benchmarks
    assert (one.id, one.status) == ("unnamed benchmark 1", Status.FAILED)


def test_numbers_pass() -> None:
    given = whole()
    clean = cleaned(given, KnownBenchmarks(frozenset({"x"})), HEAD, BASE).result
    assert clean.base is not None
    for arm_, source in ((clean.head, HEAD), (clean.base, BASE)):
        assert arm_.source == source
        assert (arm_.seed, arm_.screen_rounds, arm_.complete, arm_.is_mixed) == (7, 5, False, True)
        assert arm_.environment == Environment(cpu_count=4)
        (one,) = arm_.benchmarks
        assert (one.id, one.tier, one.location, one.notes) == ("x", Tier.LOCKSTEP, None, ())
        assert one.load is None
        (series,) = one.series
        (launch,) = series.launches
        assert (series.metric, series.loops, launch.round, launch.order) == (TIME, 3, 0, 1)
        assert (launch.samples.tolist(), launch.warmup.tolist()) == ([1.0], [2.0])
    assert (clean.shard, clean.duration_s, len(clean.shards)) == (Shard(1, 2, ("x",)), 2.0, 2)
    assert (clean.screening, clean.policy, clean.warnings) == (None, None, ())


@pytest.mark.parametrize(
    ("counter", "kept"), [("valgrind", "valgrind"), ("perf", "perf"), (MARK, "")]
)
def test_only_a_counter_that_there_is_passes(counter: str, kept: str) -> None:
    given = whole()
    (one,) = given.head.benchmarks
    counted = replace(one, series=tuple(replace(each, counter=counter) for each in one.series))
    strange = replace(given, head=replace(given.head, benchmarks=(counted,)))
    clean = cleaned(strange, KnownBenchmarks(frozenset({"x"})), HEAD, BASE).result
    assert {each.counter for one in clean.head.benchmarks for each in one.series} == {kept}


def test_other_work_is_still_other_work() -> None:
    head = replace(bench("x"), workload="another")
    clean = cleaned(Result(arm(head), arm(bench("x"))), KnownBenchmarks(), HEAD, BASE).result
    assert clean.base is not None
    assert clean.head.benchmarks[0].workload != clean.base.benchmarks[0].workload


@pytest.mark.parametrize(
    "metric",
    [Metric(MARK, "s"), Metric("time", MARK), replace(TIME, unit="B"), Metric("p99", "s")],
)
def test_metrics_are_our_own_or_none(metric: Metric) -> None:
    given = bench("x", metric, *(one for one in OWN.values() if one.name != metric.name))
    (one,) = cleaned(
        Result(arm(given), arm()), KnownBenchmarks(), HEAD, BASE
    ).result.head.benchmarks
    kept = [series.metric for series in one.series]
    assert kept == [known for known in OWN.values() if known.name != metric.name]


def test_a_name_of_ours_is_not_taken_by_a_number() -> None:
    known = KnownBenchmarks(frozenset({"unnamed benchmark 1"}))
    given = Result(arm(bench("unnamed benchmark 1"), bench("x")), arm())
    names = cleaned(given, known, HEAD, BASE).names
    assert names == {"unnamed benchmark 1": "unnamed benchmark 1", "x": "unnamed benchmark 2"}


@pytest.mark.parametrize(
    ("id_", "is_known"),
    [
        ("cli", True),
        (CANARY_ID, True),
        ("parse/large", True),
        ("parse/large[n=1000]", True),
        ("parse/large[n=-1.5e3,how=utf-8]", True),
        ("parse/small", False),
        ("parse/largest", False),
        ("parse/large[n=merge this]", False),
        ("parse/large[n=1][n=2]", False),
        ("parse/large[n=1]x", False),
        ("parse/large[]", False),
        ("parse/large[n]", False),
        (f"parse/large[n={'1' * 50}]", False),
        ("parse/large[" + ",".join(["n=1"] * 40) + "]", False),
        ("parse/l\u0430rge", False),  # a Cyrillic letter
        ("parse/large\n", False),
        ("", False),
    ],
)
def test_names_are_those_of_the_base(id_: str, *, is_known: bool) -> None:
    known = KnownBenchmarks(frozenset({"cli"}), frozenset({"parse/large"}))
    assert known.knows(id_) is is_known


def test_what_was_left_out_is_put_into_the_base() -> None:
    known = KnownBenchmarks(frozenset({"a", "b", "c"}), expected=frozenset({"a", "b", "c"}))
    clean = cleaned(Result(arm(bench("a"), bench("b")), arm(bench("a"))), known, HEAD, BASE)
    assert clean.result.base is not None
    added = [one for one in clean.result.base.benchmarks if one.notes]
    assert [(one.id, one.series) for one in added] == [("b", ()), ("c", ())]
    assert added[0].workload == clean.result.head.benchmarks[1].workload
    assert "did not measure 2 benchmarks on the base" in clean.warnings[0]


@pytest.mark.parametrize("head_fails", [False, True])
def test_a_failure_on_the_base_excuses_nothing_if_only_the_fork_says_so(
    *, head_fails: bool
) -> None:
    failed = replace(bench("b"), status=Status.FAILED, error=MARK, series=())
    result = Result(arm(bench("a"), failed if head_fails else bench("b")), arm(bench("a"), failed))
    known = KnownBenchmarks(frozenset({"a", "b"}))
    clean = cleaned(result, known, HEAD, BASE)
    outcomes = {row.outcome for row in judge_runs(clean.result, loads("", "x.toml")).judgment.rows}
    assert Outcome.BASE_FAILED not in outcomes
    assert Outcome.FAILED in outcomes or not head_fails
    assert "this run says that 1 benchmark fails on the base" in clean.warnings[0]
    ours = replace(known, broken=frozenset({"b"}))
    clean = cleaned(result, ours, HEAD, BASE)
    outcomes = {row.outcome for row in judge_runs(clean.result, loads("", "x.toml")).judgment.rows}
    assert Outcome.BASE_FAILED in outcomes
    assert clean.warnings == ()


def outcomes_in(clean: SanitizedResult) -> dict[str, Outcome]:
    config = loads('[gate]\nstatistics = ["p25"]', "x.toml")
    judged = judge_runs(clean.result, config).judgment
    return {row.benchmark: row.outcome for row in judged.rows}


def test_only_what_the_default_branch_does_not_measure_is_new() -> None:
    def side(ms: float) -> Run:
        known, new = (replace(of_tests(id_, ms), files=BenchmarkFiles.HEAD) for id_ in "ab")
        return arm(known, new, files=BenchmarkFiles.BASE)

    known = KnownBenchmarks(frozenset({"a", "b"}), expected=frozenset({"a"}))
    clean = cleaned(Result(side(2), side(1)), known, HEAD, BASE)
    assert outcomes_in(clean) == {"a": Outcome.REGRESSED, "b": Outcome.NEW}
    assert clean.warnings == ()


def test_what_is_new_may_fail_on_the_base_and_nobody_else_has_to_say_so() -> None:
    failed = replace(bench("b"), status=Status.FAILED, error=MARK, series=())
    a = replace(of_tests("a", 1), files=BenchmarkFiles.BASE)
    head, base = (
        arm(a, replace(b, files=BenchmarkFiles.HEAD), files=BenchmarkFiles.BASE)
        for b in (bench("b"), failed)
    )
    clean = cleaned(Result(head, base), KnownBenchmarks(frozenset({"a", "b"})), HEAD, BASE)
    assert outcomes_in(clean)["b"] is Outcome.NEW
    assert clean.warnings == ()


def test_that_a_benchmark_changed_together_with_the_code_excuses_nothing() -> None:
    base, head = of_tests("a", 1), replace(of_tests("a", 2), workload="another")
    files = {"files": BenchmarkFiles.BASE}
    clean = cleaned(Result(arm(head, **files), arm(base, **files)), KnownBenchmarks(), HEAD, BASE)
    (row,) = judge_runs(clean.result, loads("", "x.toml")).judgment.rows
    assert (row.outcome, row.changed_together) == (Outcome.INCOMPARABLE, False)


def test_new_versions_do_not_pass() -> None:
    version = replace(bench(f"a{NEW_VERSION}"), new_version_of="a")
    side = arm(bench("a"), version)
    clean = cleaned(Result(side, side), KnownBenchmarks(), HEAD, BASE)
    assert clean.names == {"a": "unnamed benchmark 1"}
    assert len(clean.result.head.benchmarks) == 1


def test_files_that_were_changed_fail_in_words_of_our_own() -> None:
    spoiled = BenchmarkResult(
        CHANGED_FILES_ID, "", Tier.LOCKSTEP, status=Status.FAILED, error=f"changed: {MARK}"
    )
    result = Result(arm(bench("a"), spoiled), arm(bench("a"), spoiled))
    found = cleaned(result, KnownBenchmarks(frozenset({"a"})), HEAD, BASE).result
    (told,) = (one for one in found.head.benchmarks if one.id == CHANGED_FILES_ID)
    assert told.status is Status.FAILED
    assert "files changed while" in (told.error or "")
    assert MARK not in list(texts(found))


def test_a_step_of_a_scenario_is_judged_without_what_it_recorded() -> None:
    rng = np.random.default_rng(1)
    base = measured_step(rng, rounds=20, failing=1, server={MARK: MARK})
    head = measured_step(rng, 1.3, rounds=20, failing=1, server={MARK: MARK})
    known = KnownBenchmarks(frozenset({head.id}))
    found = cleaned(Result(arm(head), arm(base)), known, HEAD, BASE).result
    assert found.head.benchmarks[0].load is None
    rows = judge_runs(found, loads("", "benchgate.toml")).judgment.rows
    regressed = {row.metric for row in rows if row.outcome is Outcome.REGRESSED}
    assert {"throughput", "time_p50"} <= regressed
    assert MARK not in {note for row in rows for note in row.notes}


def test_that_the_code_is_the_same_counts_and_only_the_fork_says_so() -> None:
    same = BenchmarkResult("a", "w", Tier.LOCKSTEP, status=Status.SAME_CODE, notes=("x",))
    known = KnownBenchmarks(ids=frozenset({"a"}), expected=frozenset({"a"}))
    clean = cleaned(Result(arm(same), arm(same)), known, HEAD, BASE)
    (row,) = judge_runs(clean.result, loads("", "t")).judgment.rows
    assert (row.outcome, row.notes) == (Outcome.SAME_CODE, ())
    (warning,) = clean.warnings
    assert warning.startswith("only this run says that 1 benchmark runs no code that changed: ")
    one_sided = cleaned(Result(arm(same), arm(bench("a"))), known, HEAD, BASE)
    (row,) = judge_runs(one_sided.result, loads("", "t")).judgment.rows
    assert row.outcome is Outcome.NOT_TESTED
