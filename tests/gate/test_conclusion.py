from __future__ import annotations

from dataclasses import replace

import pytest

from benchgate.gate.conclusion import Conclusion, VerdictTerms, conclude
from benchgate.gate.verdict import benchmarks_needed
from benchgate.model.policy import Outcome, Waiver
from benchgate.model.row import ConfirmationCost, Row
from benchgate.model.verdict import Decision, GateSettings, Reason, compared_benchmarks

PASS, FAIL, NONE = Decision.PASS, Decision.FAIL, Decision.NO_VERDICT
ALL = ("regressed", "failed", "missing", "inconclusive", "incomparable")
DEFAULT = ("regressed", "failed")
OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def rows(*outcomes: str, advisory: bool = False) -> list[Row]:
    """One benchmark for each outcome."""
    return [
        Row(f"b{i}", OUTCOMES[outcome], advisory=advisory) for i, outcome in enumerate(outcomes)
    ]


def decided(some: list[Row], terms: VerdictTerms) -> tuple[Decision, int]:
    """The decision and its code; there is a reason exactly if there is no verdict."""
    in_base = len({row.benchmark for row in some if row.outcome is not Outcome.NEW})
    needed = benchmarks_needed(some, terms.min_compared, in_base)
    found = conclude(some, replace(terms, min_compared=needed))
    assert (found.reason is not None) is (found.decision is NONE)
    return found.decision, found.exit_code


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["unchanged"], DEFAULT, (PASS, 0)),
        (["improved"], DEFAULT, (PASS, 0)),
        (["waived"], DEFAULT, (PASS, 0)),
        (["unchanged", "inconclusive", "not tested"], DEFAULT, (PASS, 0)),
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
        (["unchanged", "improved"], ("improved",), (FAIL, 3)),
        (["failed", "improved"], (*DEFAULT, "improved"), (FAIL, 5)),
        # noise alone shows nothing, and fails nothing
        (["inconclusive"], DEFAULT, (NONE, 0)),
        (["inconclusive", "not tested", "new"], DEFAULT, (NONE, 0)),
        (["inconclusive", "incomparable"], DEFAULT, (NONE, 0)),
        (["inconclusive", "waived"], DEFAULT, (PASS, 0)),
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
    assert decided(rows(*outcomes), VerdictTerms(fail_on, 0)) == expected


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
    assert decided(rows(*outcomes), VerdictTerms(DEFAULT, min_compared)) == expected


@pytest.mark.parametrize(
    ("advisory", "advisory_fails", "expected"),
    [
        (["unchanged"], False, (PASS, 0)),
        (["regressed"], False, (NONE, 0)),
        (["regressed"], True, (FAIL, 3)),
        (["inconclusive"], False, (NONE, 0)),
    ],
)
def test_advisory_rows_fail_a_build_only_where_that_is_asked_for(
    advisory: list[str],
    advisory_fails: bool,  # noqa: FBT001 - a column of the table
    expected: tuple[Decision, int],
) -> None:
    found = decided(rows(*advisory, advisory=True), VerdictTerms(DEFAULT, 0, advisory_fails))
    assert found == expected


def test_an_advisory_improvement_is_no_pass_if_improvements_fail() -> None:
    both_ways = ("regressed", "improved")
    assert decided(rows("improved", advisory=True), VerdictTerms(both_ways, 0)) == (NONE, 0)
    assert decided(rows("improved", advisory=True), VerdictTerms(DEFAULT, 0)) == (PASS, 0)
    fails = VerdictTerms(both_ways, 0, advisory_fails=True)
    assert decided(rows("improved", advisory=True), fails) == (FAIL, 3)


def test_a_benchmark_counts_once_however_many_rows_were_compared() -> None:
    tail = Row("a", Outcome.NOT_TESTED, statistic="p95")
    both = [Row("a", Outcome.UNCHANGED, statistic="p25"), tail]
    assert compared_benchmarks([*both, Row("b", Outcome.NOT_TESTED)]) == {"a"}
    assert compared_benchmarks([]) == set()


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["unchanged", "inconclusive"], DEFAULT, (NONE, 4)),
        (["inconclusive", "failed"], DEFAULT, (FAIL, 5)),
        (["inconclusive"], ("failed",), (NONE, 0)),
    ],
)
def test_a_regression_in_doubt_is_no_pass(
    outcomes: list[str], fail_on: tuple[str, ...], expected: tuple[Decision, int]
) -> None:
    assert decided(rows(*outcomes), VerdictTerms(fail_on, 0, doubted=True)) == expected


def test_a_disturbed_run_without_a_regression_is_neither_a_pass_nor_a_failure() -> None:
    terms = VerdictTerms(DEFAULT, 0, disturbed=True)
    assert decided(rows("unchanged", "inconclusive"), terms) == (NONE, 0)
    assert decided(rows("unchanged", "failed"), terms) == (FAIL, 5)


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
    assert decided(rows(*outcomes), VerdictTerms(fail_on, 0, first_run=True)) == expected


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "expected"),
    [
        (["unchanged"], DEFAULT, (NONE, 4)),
        (["unchanged", "improved"], (), (NONE, 4)),
        (["inconclusive", "not tested"], DEFAULT, (NONE, 4)),
        (["new"], DEFAULT, (NONE, 4)),
        ([], DEFAULT, (NONE, 4)),
        # what was seen stays seen
        (["regressed", "inconclusive"], DEFAULT, (FAIL, 3)),
        (["failed", "not tested"], DEFAULT, (FAIL, 5)),
        (["missing", "not tested"], ALL, (FAIL, 4)),
        # unless it is to fail nothing
        (["regressed", "unchanged"], (), (NONE, 4)),
    ],
)
def test_an_interrupted_measurement_never_passes(
    outcomes: list[str], fail_on: tuple[str, ...], expected: tuple[Decision, int]
) -> None:
    assert decided(rows(*outcomes), VerdictTerms(fail_on, 0, complete=False)) == expected
    first = VerdictTerms(fail_on, 0, complete=False, first_run=True, empty_shard=True)
    assert decided(rows(*outcomes), first) == expected


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        # (typical, tail) of one benchmark
        (("unchanged", "inconclusive"), (PASS, 0)),
        (("unchanged", "not settled"), (PASS, 0)),
        (("not settled", "unchanged"), (PASS, 0)),
        (("inconclusive", "not settled"), (NONE, 0)),
        (("not tested", "not settled"), (NONE, 0)),
        (("inconclusive", "unchanged"), (NONE, 0)),
        (("not tested", "unchanged"), (NONE, 0)),
        (("inconclusive", "not tested"), (NONE, 0)),
        (("inconclusive", "regressed"), (FAIL, 3)),
        ((None, "unchanged"), (PASS, 0)),
        ((None, "inconclusive"), (NONE, 0)),
    ],
)
def test_a_tail_does_not_speak_for_the_typical_value(
    statistics: tuple[str | None, str], expected: tuple[Decision, int]
) -> None:
    pair = zip(("p25", "p95"), statistics, strict=True)
    some = [Row("a", OUTCOMES[x], "time", statistic) for statistic, x in pair if x]
    assert decided(some, VerdictTerms(DEFAULT, 1)) == expected


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        (("unchanged", "not settled"), (PASS, 0)),
        (("unchanged", "inconclusive"), (NONE, 4)),
        (("inconclusive", "not settled"), (NONE, 4)),
        (("not tested", "not settled"), (NONE, 4)),
    ],
)
def test_nothing_that_must_be_settled_may_stay_open(
    statistics: tuple[str, str], expected: tuple[Decision, int]
) -> None:
    pair = zip(("p25", "p95"), statistics, strict=True)
    some = [Row("a", Outcome(x), "time", statistic) for statistic, x in pair]
    assert decided(some, VerdictTerms(ALL, 1)) == expected


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (Row("b", Outcome.NOT_TESTED, "time", "p25", launches=(5, 5)), 4),
        (Row("b", Outcome.NOT_TESTED, "time", "p95", launches=(5, 5)), 0),
        (Row("b", Outcome.NOT_TESTED, "cpu_time", "p25", launches=(5, 5), decides=False), 0),
        (Row("b", Outcome.NOT_TESTED, "time", "p25", launches=(1, 1), advisory=True), 0),
        # A metric that this machine cannot measure.
        (Row("b", Outcome.NOT_TESTED, "instructions"), 0),
    ],
)
def test_too_few_rounds_for_a_test_leave_a_row_open(row: Row, code: int) -> None:
    assert decided([*rows("unchanged"), row], VerdictTerms(("inconclusive",), 1))[1] == code
    assert decided([*rows("unchanged"), row], VerdictTerms(DEFAULT, 1)) == (PASS, 0)


def test_one_metric_that_is_known_is_enough() -> None:
    some = [
        Row("a", Outcome.INCONCLUSIVE, "time", "p25"),
        Row("a", Outcome.UNCHANGED, "allocations", "exact"),
        Row("b", Outcome.INCONCLUSIVE, "time", "p25"),
    ]
    assert decided(some, VerdictTerms(DEFAULT, 2)) == (PASS, 0)


@pytest.mark.parametrize(
    ("some", "terms", "reason"),
    [
        (rows("unchanged"), VerdictTerms(ALL, 0, complete=False), Reason.INTERRUPTED),
        (rows("inconclusive"), VerdictTerms(ALL, 0), Reason.LEFT_OPEN),
        (rows("new"), VerdictTerms(DEFAULT, 0, first_run=True), Reason.FIRST_RUN),
        (rows("new"), VerdictTerms(DEFAULT, 1), Reason.NOTHING_COMPARED),
        (rows(), VerdictTerms(DEFAULT, 0, empty_shard=True), Reason.NOTHING_COMPARED),
        (rows("unchanged", "new"), VerdictTerms(DEFAULT, 2), Reason.TOO_FEW_COMPARED),
        (rows("unchanged"), VerdictTerms(DEFAULT, 0, doubted=True), Reason.DISTURBED),
        (rows("regressed", advisory=True), VerdictTerms(DEFAULT, 0), Reason.ADVISORY),
        (rows("inconclusive"), VerdictTerms(DEFAULT, 0), Reason.UNDECIDED),
    ],
)
def test_the_reason_is_the_first_that_holds(
    some: list[Row], terms: VerdictTerms, reason: Reason
) -> None:
    assert conclude(some, terms).reason is reason


def test_a_shard_without_benchmarks_fails_nothing() -> None:
    assert decided([], VerdictTerms(DEFAULT, 0, empty_shard=True)) == (NONE, 0)


@pytest.mark.parametrize(
    ("outcomes", "min_compared", "expected"),
    [
        (["unchanged", "base failed"], 2, (PASS, 0)),
        (["unchanged", "base failed", "not tested"], 3, (NONE, 4)),
        (["base failed"], 1, (NONE, 5)),
        (["base failed", "new"], 1, (NONE, 5)),
        (["base failed", "missing"], 2, (NONE, 5)),
        (["base failed", "failed"], 2, (FAIL, 5)),
        (["base failed", "regressed"], 2, (FAIL, 3)),
    ],
)
def test_what_fails_on_the_base_alone_fails_nothing_and_is_no_pass(
    outcomes: list[str], min_compared: int, expected: tuple[Decision, int]
) -> None:
    assert decided(rows(*outcomes), VerdictTerms(DEFAULT, min_compared)) == expected


def test_a_suspect_that_was_neither_confirmed_nor_cleared_is_no_pass() -> None:
    suspect = replace(rows("inconclusive")[0], unconfirmed=ConfirmationCost(8, 80.0))
    found = [suspect, *rows("unchanged", "unchanged")[1:]]
    assert conclude(found, VerdictTerms(DEFAULT, 0)) == Conclusion(NONE, 4, Reason.UNCONFIRMED)
    assert conclude(found, VerdictTerms((), 0)) == Conclusion(NONE, 0, Reason.UNCONFIRMED)
    # A reason that fails no build does not hide it.
    disturbed = VerdictTerms(DEFAULT, 0, disturbed=True)
    looks_slower = [*found, *rows("regressed", advisory=True)]
    assert conclude(looks_slower, disturbed) == Conclusion(NONE, 4, Reason.UNCONFIRMED)
    assert decided(found, VerdictTerms(ALL, 0)) == (NONE, 4)
    assert decided([*found, *rows("failed")], VerdictTerms(DEFAULT, 0)) == (FAIL, 5)


@pytest.mark.parametrize(
    ("outcomes", "wanted", "code"),
    [
        # Of four, one fails on the base: three can be compared, and the change left them out.
        (["base failed", "missing", "missing", "missing"], 1, 5),
        (["base failed", "base failed", "incomparable", "missing"], 2, 5),
        (["base failed", "unchanged", "unchanged", "missing"], 2, 0),
        (["base failed", "base failed", "unchanged", "unchanged"], 3, 0),
        (["base failed", "base failed", "unchanged", "missing"], 3, 4),
        (["base failed", "base failed"], 1, 5),
    ],
)
def test_an_excuse_lowers_the_number_only_as_far_as_it_must(
    outcomes: list[str], wanted: int, code: int
) -> None:
    rows = [Row(f"b{i}", Outcome(one), statistic="p25") for i, one in enumerate(outcomes)]
    assert decided(rows, VerdictTerms(DEFAULT, wanted))[1] == code


@pytest.mark.parametrize(
    ("outcomes", "wanted", "in_base", "needed"),
    [
        ([], None, 3, 3),
        (["base failed", "unchanged", "unchanged"], None, 3, 2),
        (["base failed", "unchanged", "unchanged"], 2, 3, 2),
        (["base failed", "base failed", "unchanged"], 2, 3, 1),
        # The rows of a base that nobody finished need not be there.
        (["unchanged"], None, 3, 3),
        # A number that the base never reaches stays out of reach.
        (["unchanged", "new"], 5, 1, 5),
        (["base failed", "unchanged"], 5, 2, 4),
        (["base failed"], 0, 1, 0),
    ],
)
def test_so_many_are_needed(
    outcomes: list[str], wanted: int | None, in_base: int, needed: int
) -> None:
    assert benchmarks_needed(rows(*outcomes), wanted, in_base) == needed


def test_an_accepted_removal_of_everything_fails_nothing_and_is_no_pass() -> None:
    allowed = Waiver(Outcome.MISSING, None, "2030-01-01", "gone")
    removed = replace(rows("waived")[0], waiver=allowed)
    added = replace(rows("new")[0], benchmark="other")
    for some in ([removed], [removed, added]):
        assert decided(some, VerdictTerms(DEFAULT, 1)) == (NONE, 0)
    assert decided([removed, *rows("missing", "missing")[1:]], VerdictTerms(DEFAULT, 2)) == (
        NONE,
        4,
    )


@pytest.mark.parametrize("fail_on", [(), DEFAULT, ALL])
@pytest.mark.parametrize("advisory_fails", [True, False])
@pytest.mark.parametrize("advisory", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_row_that_is_to_blame(
    outcome: str, fail_on: tuple[str, ...], *, advisory: bool, advisory_fails: bool
) -> None:
    (row,) = rows(outcome, advisory=advisory)
    kept = conclude(
        [*rows("unchanged"), replace(row, benchmark="other")],
        VerdictTerms(fail_on, 0, advisory_fails),
    )
    to_blame = GateSettings(fail_on=fail_on, advisory_fails=advisory_fails).fails(row)
    assert to_blame is (kept.exit_code != 0)
