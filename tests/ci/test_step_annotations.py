from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.report.conftest import changed, samples, tail, verdict

from benchgate.ci.step import benchmark_annotations
from benchgate.github.annotations import Annotation
from benchgate.model.calls import Edit
from benchgate.model.policy import Outcome
from benchgate.model.row import Cause, Explanation, Row
from benchgate.model.verdict import Decision
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.model.verdict import Verdict

__all__ = ["samples"]


def test_what_regressed_or_failed_is_annotated(samples: Mapping[str, Verdict]) -> None:
    assert benchmark_annotations(view_verdict(samples["fail"])) == [
        Annotation(
            "typical (p25): +14.6 % (95 % interval +12.3 to +16.9 %), 12.30 → 14.10 ms; "
            "confirmed in 12 of 12 rounds",
            "parse/large slower",
        )
    ]
    assert benchmark_annotations(view_verdict(samples["failed"])) == [
        Annotation(
            "ValueError: the fixture is gone", "db/insert crashed", "benchmarks/bench_db.py:10"
        )
    ]


def test_what_did_not_is_not(samples: Mapping[str, Verdict]) -> None:
    for state in ("pass", "waived", "missing-and-new", "inconclusive", "nothing", "first-run"):
        assert benchmark_annotations(view_verdict(samples[state])) == []


def test_a_benchmark_has_one_annotation_of_several_lines() -> None:
    slow = changed("parse", Outcome.REGRESSED, 1.146, location="bench_parse.py:3")
    other = Row("a", Outcome.FAILED)
    rows = (slow, tail(slow, Outcome.REGRESSED, location="bench_parse.py:3"), other)

    failed, regressed = benchmark_annotations(view_verdict(verdict(Decision.FAIL, *rows)))

    assert (failed.title, failed.message) == ("a crashed", "it did not run")
    assert (regressed.title, regressed.location) == ("parse slower", "bench_parse.py:3")
    *lines, where = regressed.message.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["typical (p25)", "tail (p95)"]
    assert where.startswith("The benchmark is defined here.")


def test_it_stands_at_the_function_that_the_change_comes_from() -> None:
    cause = Cause(
        "parse_line",
        "src/logs.py:41",
        is_own=True,
        edit=Edit.EDITED,
        callee="re.compile",
        calls=(0.0, 1.0),
        amount=1e-3,
    )
    slow = changed("parse", Outcome.REGRESSED, 1.146, location="bench_parse.py:3")
    row = replace(slow, explanation=Explanation((cause,)))
    (found,) = benchmark_annotations(view_verdict(verdict(Decision.FAIL, row)))
    assert found.location == "src/logs.py:41"
    assert found.message.splitlines()[-1].startswith(
        "parse_line (edited, src/logs.py:41) now calls re.compile once per iteration: "
    )
    foreign = replace(row, explanation=Explanation((replace(cause, is_own=False),)))
    (found,) = benchmark_annotations(view_verdict(verdict(Decision.FAIL, foreign)))
    assert found.location == "bench_parse.py:3"


def test_a_row_without_numbers_is_its_note() -> None:
    row = Row("a", Outcome.REGRESSED, notes=("from 0 to 12",))
    assert (
        benchmark_annotations(view_verdict(verdict(Decision.FAIL, row)))[0].message
        == "from 0 to 12"
    )


def test_a_long_name_is_cut_in_the_middle() -> None:
    row = replace(changed("x" * 5000, Outcome.REGRESSED, 1.2))
    title = benchmark_annotations(view_verdict(verdict(Decision.FAIL, row)))[0].title
    assert len(title) == len("slower") + 201
