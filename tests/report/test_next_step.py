from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.model.policy import Outcome
from benchgate.model.run import Source
from benchgate.model.verdict import ConfirmationCost, Decision, GateSettings, Reason, Row, Verdict
from benchgate.report.headline import next_steps

if TYPE_CHECKING:
    from collections.abc import Sequence


def verdict_of(rows: Sequence[Row], reason: Reason | None = None) -> Verdict:
    return Verdict(
        decision=Decision.PASS,
        exit_code=0,
        reason=reason,
        summary="",
        base=Source("b" * 40),
        head=Source("a" * 40),
        settings=GateSettings(),
        rows=tuple(rows),
        duration_s=60.0,
    )


def row(name: str, rounds: int | None, statistic: str = "p25") -> Row:
    return Row(name, Outcome.INCONCLUSIVE, statistic=statistic, rounds_needed=rounds)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [row("a[n=1]", 7), row("a[n=1]", 3)],
            (
                "1 undecided benchmark needs more rounds: benchgate check --until-decided "
                "--filter 'a[n=1]', about 14 s more than this check"
            ),
        ),
        (
            [Row("a[n=1]", Outcome.NOT_TESTED, statistic="p25", launches=(4, 4))],
            "1 undecided benchmark needs more rounds: benchgate check --budget 2m",
        ),
        (
            [Row("a[n=1]", Outcome.UNCHANGED), row("a[n=1]", 7, "p95")],
            (
                "1 undecided benchmark needs more rounds: benchgate check --until-decided "
                "--filter 'a[n=1]', about 14 s more than this check"
            ),
        ),
        (
            [row(name, 7) for name in "abcd"],
            "4 undecided benchmarks need more rounds: benchgate check --until-decided",
        ),
        (
            [replace(row("a[n=1]", None), unconfirmed=ConfirmationCost(12, 24.0)), row("b", 40)],
            "2 undecided benchmarks need more rounds: benchgate check --budget 2m",
        ),
    ],
)
def test_what_decides_open_rows_is_a_command(rows: list[Row], expected: str) -> None:
    assert next_steps(verdict_of(rows), {"a[n=1]": 2.0}, 10) == (expected,)


def test_a_first_run_says_that_the_benchmarks_must_be_committed() -> None:
    first = verdict_of([Row("a", Outcome.NEW)], Reason.FIRST_RUN)
    assert next_steps(first, {}, 10) == (
        "the base has no benchmarks. The next change is compared with this commit",
    )
    (step,) = next_steps(replace(first, head=Source("a" * 40, untracked=1)), {}, 10)
    assert "Commit these" in step


def test_rows_that_no_round_decides_leave_nothing_to_do() -> None:
    tail = replace(row("b", 7, "p95"), outcome=Outcome.NOT_SETTLED)
    rows = [row("a", None), tail, Row("c", Outcome.UNCHANGED)]
    assert next_steps(verdict_of(rows), {}, 10) == ()


def test_a_benchmark_that_one_metric_shows_to_be_slower_is_not_open() -> None:
    rows = [Row("a", Outcome.REGRESSED, metric="throughput"), row("a", 7)]

    assert next_steps(verdict_of(rows), {"a": 2.0}, 5) == ()
