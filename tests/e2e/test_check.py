"""`benchgate check` from the repository to the verdict, and what can be done with its files."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from benchgate.model.result import RESULT
from benchgate.model.verdict import VERDICT
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
    left_out = {"duration_s", "warnings", "next"}  # `compare` says nothing of what to do next
    return {key: value for key, value in verdict.items() if key not in left_out}


def test_three_times_the_work_is_a_regression(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(
        *(toy.root, "check", "--json", "-", "--markdown", "../comment.md"),
        *("--output", "../result.json.gz"),
    )
    done.check(3, "1 benchmark: 5 rounds each", "slower  ", "toy/work")
    steps = [line for line in done.err.splitlines() if line.startswith("hint: ")]
    assert re.fullmatch(r"hint: what changed: git diff [0-9a-f]{7} -- \S+", steps[0])
    assert steps[1] == "hint: the evidence as a page: benchgate report"
    assert re.fullmatch(
        "hint: after a fix: benchgate check .* --json - .* --filter toy/work", steps[2]
    )
    assert steps[3].startswith("hint: to accept it: a [[waive]] in benchgate.toml with ")
    assert len(steps) == 4
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
    arguments = (
        "--all",
        "--until-decided",
        "--budget",
        "10s",
        "--json",
        "-",
        "--output",
        "../result.json",
    )
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
    """The canaries are none of it, nor is what is only shown."""
    toy.slow_down()
    file = "benchmarks/bench_toy.py"
    edited = (toy.root / file).read_text().replace("    toy", "    pass\n    toy")
    toy.write({file: f"{edited}\n\ndef bench_new():\n    toy.work()\n"})
    done = benchgate(toy.root, "check", "--json", "-", *ONE_ROUND)
    done.check(4)
    (warning,) = (w for w in verdict_of(done)["warnings"] if w.startswith("too few rounds"))
    assert "fewer cannot rule out chance for 1 row at" in warning
    assert verdict_of(done)["summary"].startswith("No verdict: too few rounds to decide")


def test_less_work_is_an_improvement(benchgate: Program, toy: Project) -> None:
    fast = toy.git.head_sha()
    toy.slow_down()
    toy.commit()
    toy.git.run("checkout", "--quiet", fast)
    done = benchgate(toy.root, "check", "--against", "main", "--json", "-", *ROUNDS)
    done.check(0)
    verdict = verdict_of(done)
    assert verdict["base"]["why"] == "main"
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


def test_commands_and_builds_run_in_each_arm(benchgate: Program, toy: Project) -> None:
    toy.configure(
        '[build]\ncommand = "cp version {env}"\nshell = true\n',
        benchmarks='[[benchmark]]\nname = "cli"\nshell = true\n'
        'command = "sleep $(cat {env}); cat {env} version"\n',
    )
    toy.write({"version": "0.01"})
    toy.commit()
    toy.write({"version": "0.1"})
    done = benchgate(toy.root, "check", "--json", "-", *ROUNDS)
    done.check(3, "building the base", "building the head")
    (row,) = verdict_of(done)["rows"]
    assert (row["benchmark"], row["outcome"], row["tier"]) == ("cli", "regressed", "interleaved")
    assert row["base"] >= 0.01
    assert row["head_median"] >= 0.1


def test_the_classical_rule_decides_where_it_is_asked_to(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "check", "--json", "-", "--rule", "classical", *ROUNDS)
    done.check(3)
    verdict = verdict_of(done)
    assert verdict["settings"]["rule"] == "classical"
    assert verdict["rows"][0]["classical"]["result"] == "slower"


def test_a_budget_that_ends_early_names_what_is_open(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "check", "--json", "-", "--budget", "100ms")
    done.check(4)
    assert any(
        "the budget of 0.1 s ended before 1 benchmark could be decided: toy/work" in w
        for w in verdict_of(done)["warnings"]
    )


def test_choosing_by_glob_and_tag(benchgate: Program, toy: Project) -> None:
    rule = '[[rule]]\nbenchmark = "cli/verison"\nmargin = "5%"\n'
    toy.configure("", benchmarks=TWO_KINDS + rule)
    toy.commit()
    for options in (("--filter", "cli/*"), ("--tag", "programs")):
        done = benchgate(toy.root, "check", "--json", "-", *options, *ONE_ROUND)
        verdict = verdict_of(done)
        assert {row["benchmark"] for row in verdict["rows"]} == {"cli/version"}
    # Of a part, nobody knows whether the rule matches something else.
    whole = benchgate(toy.root, "check", *ONE_ROUND)
    whole.check(2, "rule", "matches no benchmark; did you mean 'cli/version'?")


def test_a_choice_that_matches_nothing(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "check", "--filter", "toy/wrok")
    done.check(2, "no benchmark matches toy/wrok", "did you mean 'toy/work'?")
    done = benchgate(toy.root, "check", "--tag", "fast")
    done.check(2, "no benchmark matches --tag fast", "hint:")


def test_a_seed_repeats_the_choices(benchgate: Program, toy: Project) -> None:
    toy.write({"benchmarks/bench_other.py": "def bench_it():\n    sum(range(500))\n"})
    toy.configure("", benchmarks=TWO_KINDS)
    toy.commit()
    orders = []
    for name in ("a.json", "b.json"):
        path = toy.root.parent / name
        done = benchgate(
            toy.root, "check", "--all", "--seed", "7", "--rounds", "3", "--output", path
        )
        assert done.code in {0, 4}
        result = json.loads(path.read_text())
        orders.append(
            [
                benchmark["series"][0]["launches"]["order"]
                for benchmark in result["head"]["benchmarks"]
            ]
        )
        assert result["head"]["seed"] == 7
    assert orders[0] == orders[1]


def test_terminal_output_is_plain_in_a_pipe(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    benchgate.variables["NO_COLOR"] = "1"
    done = benchgate(toy.root, "check", *ROUNDS)
    done.check(3)
    assert "Slower: " in done.out.splitlines()[0]
    assert "\x1b" not in done.out + done.err
    assert all(line == line.rstrip() for line in done.out.splitlines())


def test_quiet_says_nothing_but_the_verdict(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "check", "-q", *ONE_ROUND)
    done.check(4)
    assert done.err == ""
    assert "No verdict" in done.out


def test_two_runs_compared(benchgate: Program, toy: Project) -> None:
    benchgate(toy.root, "run", "--rounds", "8", "--output", "../before.json").check(0)
    toy.slow_down()
    benchgate(toy.root, "run", "--rounds", "8", "--output", "../after.json.gz").check(0)
    done = benchgate(toy.root, "compare", "../before.json", "../after.json.gz", "--json", "-")
    verdict = verdict_of(done)
    (row,) = verdict["rows"]
    assert (row["outcome"], row["tier"], row["test"]) == ("regressed", "stored", "mann-whitney")
    assert verdict["decision"] == "no verdict"  # alone it fails nothing
    assert done.code == 0


def test_run_outside_of_a_repository(benchgate: Program, toy: Project) -> None:
    folder = toy.root.parent / "plain"
    (toy.root / "src").rename(folder.with_name("moved"))
    folder.mkdir()
    folder.with_name("moved").rename(folder / "src")
    (toy.root / "benchmarks").rename(folder / "benchmarks")
    (toy.root / "benchgate.toml").rename(folder / "benchgate.toml")
    done = benchgate(folder, "run", *ONE_ROUND, "--output", "result.json")
    done.check(0)
    assert "toy/work" in done.out
    assert json.loads((folder / "result.json").read_text())["head"]["source"]["sha"] is None


def test_a_failed_benchmark_of_a_run(benchgate: Program, toy: Project) -> None:
    toy.write({"src/toy/__init__.py": "def work():\n    raise RuntimeError('stop')\n"})
    done = benchgate(toy.root, "run", *ONE_ROUND)
    done.check(5)
    assert "RuntimeError: stop" in done.out


def test_one_result_with_one_arm_cannot_be_compared(benchgate: Program, toy: Project) -> None:
    benchgate(toy.root, "run", *ONE_ROUND, "--output", "../one.json").check(0)
    benchgate(toy.root, "compare", "../one.json").check(2, "holds only one side", "hint:")


def test_a_self_check_tells_what_can_be_seen(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "doctor", "--self-check", "--rounds", "12")
    assert "Traceback" not in done.err
    assert done.code in {0, 4}, done.out  # 4 where the canary doubts it; 3 would be a false alarm
    for fact in ("timer", "pinning", "counters", "noise", "can see"):
        assert fact in done.out
    assert "self-check: 12 rounds of the working tree against itself" in done.err
    assert "1 benchmark: 12 rounds each" in done.err
    assert "This machine " in done.out
    assert re.search(r"^toy/work +[\d.]+ % +[\d.]+ %", done.out, re.MULTILINE)


def test_a_self_check_of_what_fails(benchgate: Program, toy: Project) -> None:
    toy.write({"src/toy/__init__.py": "def work():\n    raise RuntimeError('stop')\n"})
    done = benchgate(toy.root, "doctor", "--self-check", "--rounds", "10", "-q")
    done.check(5)
    assert "Nothing can be said about this machine" in done.out
    assert "toy/work crashed: RuntimeError: stop" in done.out
