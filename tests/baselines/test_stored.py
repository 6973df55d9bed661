from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.results import of_series, series_of

from benchgate.gate.stored import (
    EarlierResult,
    StoredResults,
    choose_stored,
    fit_for,
    in_short,
    newest_first,
)
from benchgate.model.environment import Environment
from benchgate.model.result import Result, SkippedResult
from benchgate.model.run import CANARY_ID, BenchmarkResult, Run, Source

HERE = Environment(os="Debian", cpu_model="A", cpu_count=2)
HEAD = Run(Source("head"), "2026-02-01T00:00:00Z", HERE, ())


def run(day: int, **changes: Any) -> Run:  # noqa: ANN401 - fields of a run
    made = Run(Source(f"sha{day}"), f"2026-01-{day:02}T00:00:00Z", HERE, (), seed=day)
    return replace(made, **changes)


def named(*runs: Run) -> list[EarlierResult]:
    return [EarlierResult(f"{i}.json", Result(one)) for i, one in enumerate(runs)]


def days(runs: tuple[Run, ...]) -> list[int]:
    return [int(one.started[8:10]) for one in runs]


def test_the_newest_is_the_base_in_whichever_order_they_come() -> None:
    order = [3, 11, 1, 7, 2, 9, 5, 4, 8, 6, 10]
    found = choose_stored(newest_first(named(*map(run, order))), HEAD)
    assert days(found.runs) == sorted(order, reverse=True)
    assert found.base.head.source == Source("sha11", why="the newest of 11 earlier runs")
    assert found.warnings == ()


def test_fractions_of_a_second_count_too() -> None:
    early = run(1, started="2026-01-01T00:00:00Z")
    late = run(2, started="2026-01-01T00:00:00.5Z")
    assert choose_stored(newest_first(named(early, late)), HEAD).runs == (late, early)


def test_the_order_given_is_kept_and_the_reason_of_the_first_is_told() -> None:
    preferred = replace(named(run(3))[0], why="the base commit's own run")
    found = choose_stored([preferred, *named(run(9), run(1))], HEAD)
    assert days(found.runs) == [3, 9, 1]
    assert found.base.head.source.why == "the base commit's own run, and one of 3 earlier runs"
    assert choose_stored([preferred], HEAD).base.head.source.why == "the base commit's own run"


def test_too_few_are_said_to_advise_only() -> None:
    found = choose_stored(named(run(1), run(2), run(3)), HEAD)
    assert len(found.runs) == 3
    known = "advisory: only 3 of the 10 earlier runs that show how much runs differ"
    assert found.warnings == (f"{known}; slower times alone do not fail the build",)


def test_ten_earlier_runs_are_enough() -> None:
    found = choose_stored(named(*map(run, range(1, 11))), HEAD)
    assert len(found.runs) == 10
    assert found.warnings == ()


def test_what_does_not_count_is_named_with_its_reason() -> None:
    other = replace(HERE, cpu_model="B", cpu_count=4)
    given = named(
        run(9),
        run(2, environment=other),
        run(3, complete=False),
        run(4, suite="nightly"),
        run(9),
        HEAD,
    )
    found = choose_stored(given, HEAD)
    assert days(found.runs) == [9]
    assert found.skipped == (
        SkippedResult("2.json", "it was interrupted"),
        SkippedResult("3.json", "it measured the suite 'nightly', but the head is 'default'"),
        SkippedResult("4.json", "it is the same run as 0.json"),
        SkippedResult("5.json", "it is the head's own run"),
        SkippedResult("1.json", "another machine: CPU: 'B' and 'A'; cores: '4' and '2'"),
    )
    assert found.warnings[0].startswith("5 of 6 stored results are left out: 1 because it was")
    assert found.warnings[0].endswith("; 2 for other reasons")


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ("", []),
        ("ab", ["0 is left out: a", "1 is left out: b"]),
        ("aaa", ["0 is left out: a", "1 is left out: a", "2 is left out: a"]),
        ("aaaa", ["4 of 9 stored results are left out: 4 because a"]),
        ("abba", ["4 of 9 stored results are left out: 2 because a; 2 because b"]),
        (
            "abbcde",
            [
                (
                    "6 of 9 stored results are left out: 2 because b; 1 because a; 1 because c; "
                    "2 for other reasons"
                )
            ],
        ),
    ],
)
def test_many_are_counted_and_a_few_are_named(reasons: str, expected: list[str]) -> None:
    skipped = [SkippedResult(str(i), reason) for i, reason in enumerate(reasons)]
    assert list(in_short(skipped, 9)) == expected


def test_where_none_counts_the_first_of_another_machine_is_compared_alone() -> None:
    other = replace(HERE, cpu_model="B")
    given = named(run(3, complete=False), run(2, environment=other), run(1, environment=other))
    found = choose_stored(given, HEAD)
    assert found.runs == ()
    assert found.base.head.source == Source("sha2")
    assert [one.what for one in found.skipped] == ["0.json", "2.json"]
    assert found.warnings[-2:] == (
        "no earlier run qualifies: compared only with 1.json",
        "measured on different machines: CPU: 'B' and 'A'",
    )
    found = choose_stored(named(run(3, complete=False), run(2, suite="nightly")), HEAD)
    assert (found.runs, found.base.head.source) == ((), Source("sha3"))


def test_a_single_one_is_compared_whatever_it_is() -> None:
    for one in (run(1), run(1, complete=False), run(1, suite="nightly"), HEAD):
        found = choose_stored(named(one), HEAD)
        interrupted = "0.json was interrupted: it may lack rounds and benchmarks"
        warnings = () if one.complete else (interrupted,)
        assert (found.base.head, found.runs, found.warnings) == (one, (one,), warnings)
    other = run(1, environment=replace(HERE, os="Alpine"))
    found = choose_stored(named(other), HEAD)
    assert (found.base.head, found.runs) == (other, ())
    assert found.warnings == ("measured on different machines: OS: 'Alpine' and 'Debian'",)


def bench(id_: str, workload: str = "w") -> BenchmarkResult:
    return replace(of_series(id_, series_of([1.0])), workload=workload)


@pytest.mark.parametrize(
    ("earlier", "aliases", "is_fit"),
    [
        ([bench("a")], {}, True),
        ([bench("a"), bench("z")], {}, True),
        ([bench("a", "other")], {}, False),
        ([bench("z")], {}, False),
        ([bench("z")], {"z": "a"}, True),
        ([bench("z", "other")], {"z": "a"}, False),
        ([bench("a", "other"), bench("z")], {"z": "a"}, False),  # a name in use is not taken over
        ([bench(CANARY_ID)], {}, False),
        ([], {}, False),
    ],
)
def test_a_run_of_other_work_is_no_baseline(
    earlier: list[BenchmarkResult], aliases: dict[str, str], *, is_fit: bool
) -> None:
    head = replace(HEAD, benchmarks=(bench("a"), bench("b"), bench(CANARY_ID)))
    given = StoredResults("directory", tuple(named(run(1, benchmarks=tuple(earlier)))))
    found = fit_for(given, head, aliases)
    assert bool(found.earlier) is is_fit
    reasons = [one.reason for one in found.skipped]
    other = "it measured none of the head's benchmarks, or different work under the same names"
    assert reasons == ([] if is_fit else [other])


def test_what_is_unfit_is_told_beside_what_was_known() -> None:
    known = StoredResults(
        "artifact", tuple(named(run(1), run(2, complete=False))), (SkippedResult("x", "y"),), ("z",)
    )
    found = fit_for(known, HEAD, {})
    assert days(tuple(one.run for one in found.earlier)) == [1]
    assert found.skipped == (SkippedResult("x", "y"), SkippedResult("1.json", "it was interrupted"))
    assert found.warnings == ("z", "1.json is left out: it was interrupted")
    assert not found.is_empty
    assert not StoredResults("artifact", skipped=(SkippedResult("x", "y"),)).is_empty
    assert StoredResults("artifact").is_empty
