from __future__ import annotations

from dataclasses import replace

from benchgate.config import loads
from benchgate.measure.arm import ArmName
from benchgate.model.policy import Outcome
from benchgate.model.row import ConfirmationCost, Row
from benchgate.session.measuring import budget_ended
from benchgate.session.unlike import unlike_arms, unlike_packages


def test_what_the_rounds_decided_is_not_said_to_be_open() -> None:
    rows = [
        Row("sort", Outcome.REGRESSED, statistic="p25"),
        Row("sort", Outcome.NOT_TESTED, statistic="p95"),
        Row("parse", Outcome.INCONCLUSIVE, statistic="p25"),
        Row("parse", Outcome.UNCHANGED, statistic="p95"),
    ]
    assert budget_ended(4.0, ["sort", "parse"], rows, {}, least_rounds=0) == (
        "the budget of 4.0 s ended before 1 benchmark could be decided: parse",
    )
    assert budget_ended(4.0, ["sort"], rows, {}, least_rounds=0) == ()


def test_a_tail_that_should_be_settled_is_open_too() -> None:
    rows = [
        Row("sort", Outcome.UNCHANGED, statistic="p25"),
        Row("sort", Outcome.INCONCLUSIVE, statistic="p95", rounds_needed=7),
    ]
    (warning,) = budget_ended(60.0, ["sort"], rows, {"sort": 10.0}, least_rounds=10)
    assert warning.endswith(": sort; a budget of 3m would be long enough")
    rows[1] = replace(rows[1], outcome=Outcome.NOT_SETTLED)
    assert budget_ended(60.0, ["sort"], rows, {"sort": 10.0}, least_rounds=10) == ()


def test_five_of_the_open_ones_are_named() -> None:
    (warning,) = budget_ended(0.1, [f"b{i}" for i in range(7)], [], {}, least_rounds=10)
    assert warning.endswith(
        "ended before 7 benchmarks could be decided: b0, b1, b2, b3, b4 and 2 more"
    )


def test_a_budget_that_is_long_enough_is_named_if_it_is_known() -> None:
    rows = [
        Row("sort", Outcome.INCONCLUSIVE, statistic="p25", rounds_needed=7),
        Row("parse", Outcome.INCONCLUSIVE, unconfirmed=ConfirmationCost(12, 24.0)),
    ]
    (warning,) = budget_ended(
        60.0, ["sort", "parse"], rows, {"sort": 10.0, "parse": 2.0}, least_rounds=10
    )
    assert warning.endswith(": sort, parse; a budget of 3m would be long enough")
    (warning,) = budget_ended(60.0, ["sort", "more"], rows, {"sort": 10.0}, least_rounds=10)
    assert warning.endswith(": sort, more")


def test_a_suite_is_run_once_for_all_that_is_open_in_it() -> None:
    rows = [
        Row("sort", Outcome.INCONCLUSIVE, statistic="p25", rounds_needed=7),
        Row("parse", Outcome.INCONCLUSIVE, unconfirmed=ConfirmationCost(12, 24.0)),
    ]
    suites = {"sort": "suite: all", "parse": "suite: all"}
    (warning,) = budget_ended(
        60.0, ["sort", "parse"], rows, {"suite: all": 10.0}, suites, least_rounds=10
    )
    assert warning.endswith(": sort, parse; a budget of 4m would be long enough")


def test_tools_of_other_versions_are_told() -> None:
    base = {"python": "cpython 3.12.1", "rustc": "rustc 1.75.0", "cc": "12.2", "same": "1"}
    head = {"python": "cpython 3.13.0", "rustc": "rustc 1.76.0", "cc": "13.1", "same": "1"}
    versions = {ArmName.BASE: {**base, "old": "1"}, ArmName.HEAD: {**head, "new": "1"}}
    assert unlike_arms(loads("", "benchgate.toml"), versions) == (
        "the base uses cc 12.2, the head cc 13.1: this may cause a difference",
        "the base uses cpython 3.12.1, the head cpython 3.13.0: this may cause a difference",
        "the base uses rustc 1.75.0, the head rustc 1.76.0: this may cause a difference",
    )


def test_packages_of_other_versions_are_told() -> None:
    both = ("version = 3.12.1", "rich-13.dist-info")
    base = (*both, "markupsafe-2.1.5.dist-info", "old-1.0.dist-info")
    head = (*both, "markupsafe-3.0.2.dist-info", "a_b-1-py3.11.egg-info")
    (warning,) = unlike_packages(base, head)
    assert warning == (
        "the base has other packages (a_b none, here 1; markupsafe 2.1.5, here 3.0.2; "
        "old 1.0, here none): this may cause a difference"
    )
    assert unlike_packages(base, base) == ()


def test_of_many_packages_the_first_are_named() -> None:
    head = [f"p{number}-1.dist-info" for number in range(7)]
    (warning,) = unlike_packages((), head)
    assert "p4 none, here 1; and 2 more)" in warning
