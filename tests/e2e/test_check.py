"""`benchgate check` from the repository to the verdict, and what can be done with its files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from benchgate.model.codec import RESULT, VERDICT
from benchgate.session.benchmark_sets import EDITED

if TYPE_CHECKING:
    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

# One row: eight rounds reach p = 1/256.
ROUNDS = ("--rounds", "8")
ONE_ROUND = ("--rounds", "1")
TWO_KINDS = """\
[[benchmark]]
python = "benchmarks"
tags = ["functions"]

[[benchmark]]
name = "cli/version"
command = "python3 -c 'import toy'"
tags = ["programs"]
"""


def verdict_of(done: Done) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads(done.out)
    return verdict


def comparable(verdict: dict[str, Any]) -> dict[str, Any]:
    """All but the time and the place."""
    return {key: value for key, value in verdict.items() if key not in {"duration_s", "warnings"}}


def test_three_times_the_work_is_a_regression(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(
        *(toy.root, "check", "--json", "-", "--markdown", "../comment.md"),
        *("--output", "../result.json.gz"),
    )
    done.check(3, "found 1 benchmark", "round 1 of about 10 (screen)", "(confirm)")
    verdict = verdict_of(done)
    (row,) = verdict["rows"]
    assert (row["benchmark"], row["outcome"]) == ("toy/work", "regressed")
    assert row["ratio"] > 1.5
    assert row["interval"][0] <= row["ratio"] <= row["interval"][1]
    assert verdict["decision"] == "fail"
    jsonschema.validate(verdict, VERDICT.json_schema())
    assert "toy/work" in (toy.root.parent / "comment.md").read_text()

    shown = benchgate(toy.root, "show", "../result.json.gz")
    shown.check(0)
    assert "toy/work" in shown.out
    result = json.loads(gzip.decompress((toy.root.parent / "result.json.gz").read_bytes()))
    jsonschema.validate(result, RESULT.json_schema())
    again = benchgate(toy.root, "compare", "../result.json.gz", "--json", "-")
    again.check(3)
    assert comparable(verdict_of(again)) == comparable(verdict)


@pytest.mark.parametrize("output", ["../result.json.gz", "/dev/null"])
def test_the_last_check_is_the_last_one_wherever_else_it_goes(
    benchgate: Program, toy: Project, output: str
) -> None:
    toy.slow_down()
    benchgate(toy.root, "check", *ONE_ROUND).check(4)
    benchgate(toy.root, "check", "--rounds", "2", "--output", output).check(4)
    last = benchgate(toy.root, "compare", "--json", "-")
    assert verdict_of(last)["rows"][0]["launches"] == [2, 2]


def test_what_was_measured_until_all_was_decided_is_judged_as_such_again(
    benchgate: Program, toy: Project
) -> None:
    toy.configure("rounds = 3\n")
    arguments = ("--until-decided", "--budget", "10s", "--json", "-", "--output", "../result.json")
    verdict = verdict_of(benchgate(toy.root, "check", *arguments))
    (row,) = verdict["rows"]
    assert row["outcome"] != "not tested"
    assert min(row["launches"]) > 3
    result = json.loads((toy.root.parent / "result.json").read_text())
    assert result["head"]["until_decided"]
    again = benchgate(toy.root, "compare", "../result.json", "--json", "-")
    assert comparable(verdict_of(again)) == comparable(verdict)


def test_a_warning_of_too_few_rounds_counts_what_is_compared(
    benchgate: Program, toy: Project
) -> None:
    """The canaries are none of it."""
    toy.slow_down()
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(4)
    (warning,) = (w for w in verdict_of(done)["warnings"] if w.startswith("too few rounds"))
    assert "fewer cannot rule out chance for 1 row at" in warning
    assert verdict_of(done)["summary"].startswith("no verdict: too few rounds to decide; ")


def test_less_work_is_an_improvement(benchgate: Program, toy: Project) -> None:
    fast = toy.git.head_sha()
    toy.slow_down()
    toy.commit()
    toy.git.run("checkout", "--quiet", fast)
    done = benchgate(toy.root, "check", "--against", "main", "--json", "-", *ROUNDS)
    done.check(0)
    verdict = verdict_of(done)
    assert verdict["base"]["why"] == "main, named by --against"
    assert [row["outcome"] for row in verdict["rows"]] == ["improved"]


def test_the_same_code_does_not_fail(benchgate: Program, toy: Project) -> None:
    toy.write({"README": "changed"})
    done = benchgate(toy.root, "check", "--json", "-")
    assert "Traceback" not in done.err
    verdict = verdict_of(done)
    assert verdict["decision"] != "fail", done.out
    assert "regressed" not in [row["outcome"] for row in verdict["rows"]]
    assert done.code == verdict["exit_code"]


def test_the_version_of_the_base_decides_about_a_benchmark_that_is_edited(
    benchgate: Program, toy: Project
) -> None:
    toy.slow_down()
    toy.write({"benchmarks/bench_toy.py": "import toy\n\n\ndef bench_work():\n    toy.work, 1\n"})
    done = benchgate(toy.root, "check", "--json", "-")
    done.check(3)
    row = next(row for row in verdict_of(done)["rows"] if row["benchmark"] == "toy/work")
    assert row["outcome"] == "regressed"
    assert EDITED in row["notes"]
