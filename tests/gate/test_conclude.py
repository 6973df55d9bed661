from __future__ import annotations

import pytest

from benchgate.gate.conclude import compared_benchmarks, conclude
from benchgate.model.verdict import Decision, Outcome, Row

PASS, FAIL, NONE = Decision.PASS, Decision.FAIL, Decision.NO_VERDICT
ALL = ("regressed", "failed", "missing", "inconclusive", "incomparable")
DEFAULT = ("regressed", "failed")
OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def rows(*outcomes: str, advisory: bool = False) -> list[Row]:
    """One benchmark for each outcome."""
    return [
        Row(f"b{i}", OUTCOMES[outcome], advisory=advisory) for i, outcome in enumerate(outcomes)
    ]


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["unchanged"], DEFAULT, (PASS, 0)),
        (["improved"], DEFAULT, (PASS, 0)),
        (["waived"], DEFAULT, (PASS, 0)),
        (["inconclusive"], DEFAULT, (PASS, 0)),
        (["unchanged", "new"], DEFAULT, (PASS, 0)),
        (["unchanged", "missing"], DEFAULT, (PASS, 0)),
        (["unchanged", "incomparable"], DEFAULT, (PASS, 0)),
        (["unchanged", "regressed"], DEFAULT, (FAIL, 3)),
        (["unchanged", "failed"], DEFAULT, (FAIL, 5)),
        (["failed", "regressed"], DEFAULT, (FAIL, 3)),
        (["failed"], DEFAULT, (FAIL, 5)),
        # what is not in the list fails nothing
        (["regressed"], (), (PASS, 0)),
        (["unchanged", "failed"], (), (PASS, 0)),
        (["regressed", "failed"], ("failed",), (FAIL, 5)),
        # what the policy adds
        (["unchanged", "missing"], ALL, (FAIL, 4)),
        (["unchanged", "incomparable"], ALL, (NONE, 4)),
        (["unchanged", "inconclusive"], ALL, (NONE, 4)),
        (["missing", "inconclusive"], ALL, (FAIL, 4)),
        (["missing", "failed"], ALL, (FAIL, 5)),
        (["missing", "failed", "regressed", "inconclusive"], ALL, (FAIL, 3)),
        # never vacuous, whatever the policy
        ([], DEFAULT, (NONE, 4)),
        ([], (), (NONE, 4)),
        (["new"], DEFAULT, (NONE, 4)),
        (["missing"], DEFAULT, (NONE, 4)),
        (["not tested"], DEFAULT, (NONE, 4)),
        (["incomparable"], DEFAULT, (NONE, 4)),
        (["failed"], (), (NONE, 4)),
    ],
)
def test_the_decision_follows_the_rows_and_the_policy(
    outcomes: list[str], fail_on: tuple[str, ...], expected: tuple[Decision, int]
) -> None:
    found = conclude(rows(*outcomes), fail_on=fail_on, min_compared=0, advisory_fails=False)
    assert found == expected


@pytest.mark.parametrize(
    ("outcomes", "min_compared", "expected"),
    [
        (["unchanged", "unchanged"], 2, (PASS, 0)),
        (["unchanged", "missing"], 2, (NONE, 4)),
        (["unchanged", "not tested"], 2, (NONE, 4)),
        (["unchanged", "not tested"], 1, (PASS, 0)),
        (["regressed", "missing"], 2, (FAIL, 3)),
        (["improved", "inconclusive", "waived"], 3, (PASS, 0)),
    ],
)
def test_so_many_benchmarks_must_have_been_compared(
    outcomes: list[str], min_compared: int, expected: tuple[Decision, int]
) -> None:
    found = conclude(
        rows(*outcomes), fail_on=DEFAULT, min_compared=min_compared, advisory_fails=False
    )
    assert found == expected


@pytest.mark.parametrize(
    ("advisory", "advisory_fails", "expected"),
    [
        (["unchanged"], False, (PASS, 0)),
        (["regressed"], False, (NONE, 0)),
        (["regressed"], True, (FAIL, 3)),
        (["inconclusive"], False, (PASS, 0)),
    ],
)
def test_advisory_rows_fail_a_build_only_where_that_is_asked_for(
    advisory: list[str],
    advisory_fails: bool,  # noqa: FBT001 - a column of the table
    expected: tuple[Decision, int],
) -> None:
    found = conclude(
        rows(*advisory, advisory=True),
        fail_on=DEFAULT,
        min_compared=0,
        advisory_fails=advisory_fails,
    )
    assert found == expected


def test_a_benchmark_counts_once_however_many_rows_were_compared() -> None:
    tail = Row("a", Outcome.NOT_TESTED, statistic="p95")
    both = [Row("a", Outcome.UNCHANGED, statistic="p25"), tail]
    assert compared_benchmarks([*both, Row("b", Outcome.NOT_TESTED)]) == 1
    assert compared_benchmarks([]) == 0


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["unchanged", "inconclusive"], DEFAULT, (NONE, 4)),
        (["inconclusive", "failed"], DEFAULT, (FAIL, 5)),
        (["inconclusive"], ("failed",), (PASS, 0)),
    ],
)
def test_a_regression_in_doubt_is_no_pass(
    outcomes: list[str], fail_on: tuple[str, ...], expected: tuple[Decision, int]
) -> None:
    found = conclude(
        rows(*outcomes), fail_on=fail_on, min_compared=0, advisory_fails=False, doubted=True
    )
    assert found == expected


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["new"], DEFAULT, (NONE, 0)),
        (["new", "not tested"], ALL, (NONE, 0)),
        (["new", "failed"], DEFAULT, (FAIL, 5)),
        (["new", "failed"], (), (NONE, 0)),
        (["failed"], (), (NONE, 4)),
        ([], DEFAULT, (NONE, 4)),
    ],
)
def test_a_first_run_fails_only_where_a_benchmark_does(
    outcomes: list[str], fail_on: tuple[str, ...], expected: tuple[Decision, int]
) -> None:
    found = conclude(
        rows(*outcomes), fail_on=fail_on, min_compared=0, advisory_fails=False, first_run=True
    )
    assert found == expected
