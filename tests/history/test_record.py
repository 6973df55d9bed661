from __future__ import annotations

from dataclasses import replace

from tests.results import arm, bench

from benchgate.history.record import record_of, why_not_kept
from benchgate.model.run import NEW_VERSION, BenchmarkFiles, BenchmarkResult, Status, Tier


def test_what_other_counters_counted_is_other_work() -> None:
    run = arm({"a": 1.0})
    (one,) = run.benchmarks
    works = set()
    for counter in ("", "perf", "valgrind"):
        series = tuple(replace(each, counter=counter) for each in one.series)
        record = record_of(replace(run, benchmarks=(replace(one, series=series),)))
        works |= {each.workload for each in record.measured}
    assert works == {
        one.workload,
        f"{one.workload}, counted by perf",
        f"{one.workload}, counted by valgrind",
    }


def test_new_versions_are_not_recorded() -> None:
    run = arm({"a": 1.0})
    version = bench(
        f"a{NEW_VERSION}", 2.0, files=BenchmarkFiles.HEAD, new_version_of="a", error="x"
    )
    assert record_of(replace(run, benchmarks=(*run.benchmarks, version))) == record_of(run)


def test_what_was_not_measured_has_no_value_and_did_not_fail() -> None:
    run = arm({"a": 1.0})
    same = BenchmarkResult("b", "w", Tier.LOCKSTEP, status=Status.SAME_CODE)
    record = record_of(replace(run, benchmarks=(*run.benchmarks, same)))
    assert record == record_of(run)
    assert record.failed == 0
    nothing = replace(run, benchmarks=(same,))
    assert why_not_kept(nothing, record_of(nothing)) == "no benchmark in it was measured"
