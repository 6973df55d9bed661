"""`benchgate check` by results of earlier runs: the head alone is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.done import without_load

if TYPE_CHECKING:
    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

ROUNDS = ("--rounds", "6")
QUIET = ("-q", "--json", "-")
TWO = """\
[[benchmark]]
name = "one"
command = "python3 -c 'import toy'"

[[benchmark]]
name = "two"
command = "python3 -c 'import toy'"
tags = ["other"]
"""


def verdict_of(done: Done) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads(done.out)
    return verdict


def outcomes(verdict: dict[str, Any]) -> dict[str, str]:
    return {row["benchmark"]: row["outcome"] for row in verdict["rows"]}


def test_the_first_run_becomes_the_baseline_of_the_next(benchgate: Program, toy: Project) -> None:
    folder = toy.root.parent / "results"
    folder.mkdir()
    arguments = ("check", "--baseline", f"dir:{folder}", *ROUNDS)
    first = benchgate(toy.root, *arguments, "--output", folder / "1.json.gz")
    first.check(0)
    said = " ".join(first.out.split())
    assert "First run of 1 benchmark: there is nothing to compare with yet" in said
    assert f"first run: {folder / '1.json.gz'} becomes the baseline of the next run" in said
    assert "side by side" not in said

    same = benchgate(toy.root, *arguments, *QUIET, "--output", folder / "2.json.gz")
    same.check(0)
    verdict = verdict_of(same)
    assert (verdict["base_source"], verdict["base"]["sha"]) == (
        "directory",
        toy.git.head_sha(),
    )
    (row,) = verdict["rows"]
    assert (row["tier"], row["advisory"], row["launches"]) == ("stored", True, [6, 6])

    toy.slow_down()
    slow = benchgate(toy.root, *arguments, *QUIET)
    slow.check(0)  # two earlier runs advise
    verdict = verdict_of(slow)
    assert verdict["decision"] == "no verdict"
    assert outcomes(verdict) == {"toy/work": "regressed"}
    assert verdict["head"]["dirty"]
    assert verdict["warnings"][0].startswith("advisory: only 2 of the 10 earlier runs")

    toy.configure("[baseline]\nadvisory_fails = true\n")
    assert benchgate(toy.root, *arguments, *QUIET).code == 3
    assert sorted(path.name for path in folder.iterdir()) == ["1.json.gz", "2.json.gz"]


def test_a_file_is_a_baseline_too(benchgate: Program, toy: Project) -> None:
    arguments = ("check", "--baseline", "file:../base.json", *ROUNDS)
    first = benchgate(toy.root, *arguments, *QUIET)
    first.check(0)
    base = "../base.json"
    how = f"--output {base} makes this run the baseline of the next"
    (warning,) = without_load(verdict_of(first)["warnings"])
    assert warning == f"first run: there is no result in {base} yet; {how}"
    benchgate(toy.root, "run", "-q", *ROUNDS, "--output", base).check(0)
    again = benchgate(toy.root, *arguments, *QUIET)
    again.check(0)
    assert verdict_of(again)["base_source"] == "file"
    (toy.root / base).write_text("{}")
    benchgate(toy.root, *arguments).check(2, "base.json: is neither a result of benchgate")


def test_what_is_there_but_of_no_use_is_no_pass(benchgate: Program, toy: Project) -> None:
    toy.write({".benchgate/torn.json": '{"schema": 3'})
    done = benchgate(toy.root, "check", "--baseline", "dir:", "--rounds", "1", *QUIET)
    done.check(4)
    verdict = verdict_of(done)
    assert [one["what"] for one in verdict["skipped"]] == [".benchgate/torn.json"]
    assert without_load(verdict["warnings"]) == [
        ".benchgate/torn.json is left out: the file is cut off: it ends at line 1 column 12",
        ".benchgate holds no result to compare with",
    ]


@pytest.mark.parametrize(
    ("baseline", "code"), [(("--baseline", "dir:"), 0), (("--against", "HEAD"), 4)]
)
def test_a_rule_that_matches_nothing_is_an_error_unless_a_part_is_measured(
    benchgate: Program, toy: Project, baseline: tuple[str, str], code: int
) -> None:
    toy.configure('[[rule]]\nbenchmark = "other/*"\nmargin = "5%"\n')
    arguments = ("check", "--all", *baseline, "--rounds", "1", *QUIET)
    wrong = 'benchgate.toml:12: rule[0].benchmark = "other/*": matches no benchmark'
    benchgate(toy.root, *arguments).check(2, wrong)
    benchgate(toy.root, *arguments, "--filter", "*").check(code)


def test_a_required_baseline_is_asked_for_before_anything_is_measured(
    benchgate: Program, toy: Project
) -> None:
    toy.configure('[baseline]\nsource = "directory"\nrequired = true\n')
    toy.write({".benchgate/torn.json": "{}"})
    done = benchgate(toy.root, "check")
    done.check(
        6,
        ".benchgate holds no result to compare with, and benchgate.toml:",
        "torn.json: holds no `schema`",
        "benchgate run --output .benchgate/NAME.json.gz",
    )
    assert "round" not in done.err


def test_what_was_not_asked_for_is_not_missing(benchgate: Program, toy: Project) -> None:
    toy.configure("", benchmarks=TWO)
    base = toy.root.parent / "base.json"
    benchgate(toy.root, "run", "-q", "--rounds", "1", "--output", base).check(0)
    arguments = ("check", "--baseline", f"file:{base}", "--rounds", "1", *QUIET)
    for chosen in (("--filter", "t*"), ("--tag", "other")):
        verdict = verdict_of(benchgate(toy.root, *arguments, *chosen))
        assert list(outcomes(verdict)) == ["two"]
    toy.configure("", benchmarks=TWO.split("\n\n", maxsplit=1)[0] + "\n")
    verdict = verdict_of(benchgate(toy.root, *arguments, "--filter", "*o*"))
    assert outcomes(verdict).keys() == {"one", "two"}
    assert outcomes(verdict)["two"] == "missing"


def test_a_benchmark_that_fails_fails_also_a_first_run(benchgate: Program, toy: Project) -> None:
    toy.configure("", benchmarks='[[benchmark]]\nname = "bad"\ncommand = "false"\n')
    benchgate(toy.root, "check", "--baseline", "dir:../none", "--rounds", "1").check(5)


def test_results_of_another_compiler_are_left_out(benchgate: Program, toy: Project) -> None:
    toy.configure('[build]\ntoolchains = { cc = "cat cc.txt" }\n')
    results = toy.root.parent / "results"
    results.mkdir()
    for number in (1, 2):
        toy.write({"cc.txt": f"cc {number}\n"})
        output = results / f"{number}.json"
        benchgate(toy.root, "run", "-q", "--rounds", "1", "--output", output).check(0)
    rounds = ("--rounds", "1")
    done = benchgate(toy.root, "check", "--baseline", f"dir:{results}", *rounds, *QUIET)
    assert [(one["what"], one["reason"]) for one in verdict_of(done)["skipped"]] == [
        (str(results / "1.json"), "another machine: cc: 'cc 1' and 'cc 2'")
    ]
    alone = f"file:{results / '1.json'}"
    done = benchgate(toy.root, "check", "--baseline", alone, *rounds, *QUIET)
    assert "measured with different tools: cc: 'cc 1' and 'cc 2'" in verdict_of(done)["warnings"]
