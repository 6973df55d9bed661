from __future__ import annotations

from dataclasses import replace

from tests.results import arm

from benchgate.history.record import record_of


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
