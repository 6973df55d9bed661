from __future__ import annotations

from dataclasses import replace

from tests.results import arm, bench

from benchgate.history.record import record_of
from benchgate.model.run import NEW_VERSION, BenchmarkFiles


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
