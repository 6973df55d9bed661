from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.results import verdict_of

from benchgate.config import loads
from benchgate.errors import ConfigError
from benchgate.model.calls import Edit
from benchgate.model.notes import TOO_FEW
from benchgate.model.policy import Outcome
from benchgate.model.row import Cause, ConfirmationCost, Explanation, Row
from benchgate.model.run import Source
from benchgate.model.verdict import Decision, GateSettings, Reason, StepKind, Verdict
from benchgate.report.next_steps import CheckCommand, Situation, next_steps, sentence, waivers

if TYPE_CHECKING:
    from collections.abc import Mapping

SLOWER = Row(
    "a", Outcome.REGRESSED, "time", ratio=1.3, interval=(1.2, 1.4), location="benchmarks/b.py:1"
)
TRACE = """ValueError: boom
Traceback (most recent call last):
  File "benchmarks/bench_a.py", line 37, in bench_a
    work()
  File "src/a.py", line 11, in work
    raise ValueError("boom")
  File "/usr/lib/python3.12/json/decoder.py", line 5, in decode"""


PASSED = verdict_of(
    decision=Decision.PASS,
    exit_code=0,
    base=Source("b" * 40),
    head=Source("a" * 40),
    started="2026-01-01T00:00:00Z",
    duration_s=60.0,
)


def failed(*rows: Row, code: int = 3) -> Verdict:
    head = Source("a" * 40, changed_files=("src/a b.py",))
    return replace(PASSED, rows=rows, decision=Decision.FAIL, exit_code=code, head=head)


def open_(reason: Reason, *rows: Row, code: int = 4) -> Verdict:
    return replace(PASSED, rows=rows, reason=reason, decision=Decision.NO_VERDICT, exit_code=code)


def said(verdict: Verdict, rounds_s: Mapping[str, float], least: int) -> tuple[str, ...]:
    return tuple(
        map(sentence, next_steps(verdict, Situation(rounds_s=rounds_s, least_rounds=least)))
    )


def found(verdict: Verdict, *, has_page: bool = False) -> list[tuple[str, str | None, str | None]]:
    """The kind of each step, its command and what it edits."""
    at = Situation(rounds_s={}, least_rounds=10, has_page=has_page)
    steps = next_steps(verdict, at)
    return [(step.kind.value, step.command, step.edit) for step in steps]


def row(name: str, rounds: int | None, statistic: str = "p25") -> Row:
    return Row(name, Outcome.INCONCLUSIVE, statistic=statistic, rounds_needed=rounds)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [row("a[n=1]", 7), row("a[n=1]", 3)],
            (
                "1 undecided benchmark needs more rounds (about 14 s more than this check): "
                "benchgate check --until-decided --filter 'a[n=1]'"
            ),
        ),
        (
            [Row("a[n=1]", Outcome.NOT_TESTED, statistic="p25", launches=(4, 4))],
            "1 undecided benchmark needs more rounds: benchgate check --budget 2m",
        ),
        (
            [Row("a[n=1]", Outcome.UNCHANGED), row("a[n=1]", 7, "p95")],
            (
                "1 undecided benchmark needs more rounds (about 14 s more than this check): "
                "benchgate check --until-decided --filter 'a[n=1]'"
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
        (
            [row("a[n=1]", 7), Row("b", Outcome.NOT_TESTED, "time", "p25")],
            (
                "the budget had no time for 1 of 2 undecided benchmarks: "
                "benchgate check --until-decided"
            ),
        ),
    ],
)
def test_what_decides_open_rows_is_a_command(rows: list[Row], expected: str) -> None:
    assert said(replace(PASSED, rows=tuple(rows)), {"a[n=1]": 2.0}, 10) == (expected,)


def test_a_first_run_says_that_the_benchmarks_must_be_committed() -> None:
    first = replace(PASSED, rows=(Row("a", Outcome.NEW),), reason=Reason.FIRST_RUN)
    assert said(first, {}, 10) == (
        "the base has no benchmarks. The next change is compared with this commit: benchgate check",
    )
    (step,) = said(replace(first, head=Source("a" * 40, untracked=1)), {}, 10)
    assert "Commit these" in step


def test_rows_that_no_round_decides_leave_nothing_to_do() -> None:
    tail = replace(row("b", 7, "p95"), outcome=Outcome.NOT_SETTLED)
    rows = [row("a", None), tail, Row("c", Outcome.UNCHANGED)]
    assert said(replace(PASSED, rows=tuple(rows)), {}, 10) == ()


def test_a_benchmark_that_one_metric_shows_to_be_slower_is_not_open() -> None:
    rows = [Row("a", Outcome.REGRESSED, metric="throughput"), row("a", 7)]

    assert said(replace(PASSED, rows=tuple(rows)), {"a": 2.0}, 5) == ()


def test_after_a_regression_come_the_cause_the_diff_and_the_command_that_shows_a_fix() -> None:
    cause = Cause(
        "work",
        "src/a b.py:7",
        is_own=True,
        edit=Edit.EDITED,
        callee="",
        calls=(1.0, 2.0),
        amount=1,
    )
    slower = replace(SLOWER, explanation=Explanation((cause,)))

    assert found(failed(slower, row("b", 7)), has_page=True) == [
        ("fix", None, "src/a b.py:7"),
        ("look", "git diff bbbbbbb -- 'src/a b.py'", None),
        ("look", "benchgate report", None),
        ("measure", "benchgate check --filter a", None),
        ("accept", None, "benchgate.toml"),
    ]


@pytest.mark.parametrize(
    ("row", "waived"),
    [
        (SLOWER, 'benchmark = "a"\nceiling = "40%"'),
        (Row("a", Outcome.MISSING), 'benchmark = "a"\noutcome = "missing"'),
        (Row("a", Outcome.INCOMPARABLE), 'benchmark = "a"\noutcome = "incomparable"'),
    ],
)
@pytest.mark.parametrize(
    ("file", "table"), [("benchgate.toml", "waive"), ("pyproject.toml", "tool.benchgate.waive")]
)
def test_what_accepts_it_is_a_valid_table(row: Row, waived: str, file: str, table: str) -> None:
    verdict = failed(row) if row is SLOWER else open_(Reason.TOO_FEW_COMPARED, row)
    *_, step = next_steps(verdict, Situation(config=file, waive=table))

    assert (step.kind, step.edit) == (StepKind.ACCEPT, file)
    assert step.text is not None
    assert waived in step.text
    with pytest.raises(ConfigError, match="reason"):
        loads(step.text, file)  # it needs a person
    loads(step.text.replace('""', '"it checks more"'), file)


@pytest.mark.parametrize(
    "id_", ["bench/\U0001f680", 'a"b\\c', "a\x7f", "\N{GREEK SMALL LETTER MU}"]
)
@pytest.mark.parametrize("outcome", [Outcome.REGRESSED, Outcome.MISSING])
def test_a_waiver_of_any_id_is_toml(id_: str, outcome: Outcome) -> None:
    slower = replace(SLOWER, benchmark=id_, outcome=outcome)
    text = waivers([(slower,)], "2026-01-31")
    assert tomllib.loads(text)["waive"][0]["benchmark"] == id_


@pytest.mark.parametrize("place", ["/etc/passwd:1", "../other/a.py:3", "src/../../a.py:3"])
def test_a_program_edits_nothing_outside_of_the_tree(place: str) -> None:
    crash = Row("a", Outcome.FAILED, error="boom", location=place)
    assert next_steps(failed(crash, code=5), Situation())[0].edit is None


def test_a_crash_has_the_place_that_raised_it() -> None:
    crash = Row("a", Outcome.FAILED, error=TRACE, location="benchmarks/bench_a.py:36")
    verdict = failed(crash, replace(crash, benchmark="b"), code=5)
    first, *_, last = next_steps(verdict, Situation())

    assert (first.kind, first.edit) == (StepKind.FIX, "src/a.py:11")
    assert first.why == "a and 1 more crashed: ValueError: boom"
    assert last.command == "benchgate check --filter a --filter b"

    elsewhere = replace(crash, error="exited with code 1\nno traceback")
    assert next_steps(failed(elsewhere, code=5), Situation())[0].edit == "benchmarks/bench_a.py:36"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (replace(PASSED, rows=(Row("a", Outcome.UNCHANGED),)), []),
        (
            open_(Reason.TOO_FEW_COMPARED, Row("a", Outcome.MISSING)),
            [("fix", None, "benchgate.toml"), ("accept", None, "benchgate.toml")],
        ),
        (
            open_(Reason.TOO_FEW_COMPARED, Row("a", Outcome.UNCHANGED)),
            [("accept", None, "benchgate.toml")],
        ),
        (
            open_(Reason.NOTHING_COMPARED, Row("a", Outcome.INCOMPARABLE, location="b.py:1")),
            [("look", None, "b.py:1"), ("accept", None, "benchgate.toml")],
        ),
        (
            open_(Reason.NOTHING_COMPARED, Row("a", Outcome.BASE_FAILED, error=TRACE), code=5),
            [("commit", None, None)],
        ),
        (open_(Reason.DISTURBED, SLOWER), [("measure", "benchgate check", None)]),
        (
            open_(Reason.ADVISORY, replace(SLOWER, advisory=True), code=0),
            [("measure", "benchgate check --baseline git", None)],
        ),
        (
            open_(Reason.NOTHING_COMPARED, Row("a", Outcome.NOT_TESTED, notes=(TOO_FEW,))),
            [("measure", "benchgate check --until-decided --filter a", None)],
        ),
        (open_(Reason.UNDECIDED, row("a", None), code=0), [("look", "benchgate doctor", None)]),
        (
            failed(replace(SLOWER, outcome=Outcome.OVER_LIMIT)),
            [
                ("look", "git diff bbbbbbb -- 'src/a b.py'", None),
                ("measure", "benchgate check --filter a", None),
                ("accept", None, "benchgate.toml"),
            ],
        ),
    ],
)
def test_each_outcome_has_its_steps(
    verdict: Verdict, expected: list[tuple[str, str | None, str | None]]
) -> None:
    assert found(verdict) == expected


def test_if_the_sides_have_no_benchmark_in_common_those_of_the_head_may_run_on_both() -> None:
    verdict = open_(Reason.NOTHING_COMPARED, Row("x/a", Outcome.MISSING), Row("a", Outcome.NEW))
    check = CheckCommand((("--against", "--against v1"),))
    first, *_ = next_steps(verdict, Situation(check, rounds_s={}))
    assert sentence(first) == (
        "to run the benchmarks of the head on both sides: "
        "benchgate check --against v1 --benchmarks head"
    )
    check = CheckCommand((("--benchmarks", "--benchmarks own"),))
    first, *_ = next_steps(verdict, Situation(check, rounds_s={}))
    assert first.kind is StepKind.FIX


def test_a_command_has_the_options_that_were_given_but_for_those_that_it_replaces() -> None:
    check = CheckCommand(
        (
            ("--against", "--against 'v 1'"),
            ("--filter", "--filter 'a*' --filter b"),
            ("--tag", "--tag x"),
            ("--continue", "--continue "),
            ("--rounds", "--rounds 3"),
            ("--json", "--json -"),
        )
    )
    always = "benchgate check --against 'v 1'"
    assert check.again(ids=["a b"]) == f"{always} --rounds 3 --json - --filter 'a b'"
    assert (
        check.again(ids="abcd") == f"{always} --filter 'a*' --filter b --tag x --rounds 3 --json -"
    )
    assert (
        check.again("--until-decided", ids="a") == f"{always} --json - --until-decided --filter a"
    )
    # Any benchmark may have changed the files, and the new version is not chosen by its own id.
    assert check.again(ids=["a", "benchgate/files"]) == check.again()
    assert check.again(ids=["a", "a (new version)"]) == check.again(ids=["a"])
    assert check.again("--against c", ids="a") == (
        "benchgate check --rounds 3 --json - --against c --filter a"
    )


def test_the_waiver_names_every_outcome_that_it_can_need() -> None:
    rows = [
        Row("a", Outcome.INCOMPARABLE, "B/op", launches=(5, 0), notes=("only on the base",)),
        Row("a", Outcome.REGRESSED, "time", "p25", "s", ratio=1.5),
        Row("b", Outcome.MISSING),
        Row("b", Outcome.MISSING, statistic="p95"),
    ]
    verdict = Verdict(
        decision=Decision.NO_VERDICT,
        exit_code=4,
        summary="",
        base=Source("a" * 40),
        head=Source("b" * 40),
        settings=GateSettings(),
        rows=tuple(rows),
        reason=Reason.TOO_FEW_COMPARED,
    )
    steps = next_steps(verdict, Situation())
    assert any(one.why.startswith("removed: b. Bring it back") for one in steps)
    accept = next(one for one in steps if one.kind is StepKind.ACCEPT)
    which = 'outcome = "missing" or outcome = "incomparable" or ceiling'
    assert f"a [[waive]] in benchgate.toml with {which}, until and reason" in accept.why
    assert accept.text is not None
    for entry in ('outcome = "incomparable"', 'ceiling = "50%"', 'outcome = "missing"'):
        assert accept.text.count(entry) == 1


def test_how_to_measure_what_was_not_measured() -> None:
    row = Row("a", Outcome.SAME_CODE)
    why, all_ = said(replace(PASSED, rows=(row,)), {}, 5)
    assert why == "why 1 benchmark was not measured: benchgate affected"
    assert all_ == "to measure everything: benchgate check --all"
    assert next_steps(replace(PASSED, rows=(row,)), Situation()) == ()  # nothing can be measured
