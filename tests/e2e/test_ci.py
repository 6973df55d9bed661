"""`benchgate ci` in jobs of a stand-in for GitHub: the events, what is kept, and what fails."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.contract.faults import Fault
from tests.contract.records import START, Artifact, Comparison, Run
from tests.contract.scene import FORKS_TOKEN, HELLO, SCENE
from tests.contract.server import GitHubServer
from tests.done import without_load
from tests.e2e.hosted import Hosted, merge_group, pull_request, push, workflow_run

from benchgate.ci.stored_artifacts import MEMBERS
from benchgate.files.reading import expand
from benchgate.github.artifacts import read_member
from benchgate.model.codec import decode_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

ZEROS = "0" * 40
SCENARIO = '''\
name = "t"
[load]
duration = "100ms"
warmup = "0s"
[setup]
files = ["schema.sql"]
queries = ["""
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO t SELECT i, i FROM n
"""]
[[step]]
name = "find"
query = "SELECT b FROM t WHERE a = 77"
'''
BASELINE = "benchgate-baseline.default.linux-x86_64"
RESULT = "benchgate-result.default.linux-x86_64"


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    """As a GitHub Enterprise Server, whose API is below its own address."""
    with GitHubServer(*SCENE, prefix="/api/v3") as server:
        yield server


@pytest.fixture
def hosted(toy: Project, github: GitHubServer, benchgate: Program, tmp_path: Path) -> Hosted:
    """The project on GitHub; eight rounds reach p = 1/256, and chance stays inside of 50 %."""
    text = (toy.root / "benchgate.toml").read_text()
    text = text.replace("[gate]\n", '[gate]\nmargin = "50%"\n').replace(
        "[measure]\n", "[measure]\nrounds = 8\n"
    )
    toy.write({"benchgate.toml": text})
    toy.commit()
    toy.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    (tmp_path / "jobs").mkdir()
    return Hosted(toy, github, benchgate, tmp_path / "jobs")


def test_a_push_is_compared_with_what_was_before(hosted: Hosted) -> None:
    before = hosted.origin.git.head_sha()
    hosted.origin.slow_down()
    job = hosted.run(push(before, hosted.origin.commit()))
    job.done.check(3)
    assert job.outputs["verdict"] == "fail"
    assert job.outputs["regressions"] == "1"
    assert BASELINE in hosted.artifacts()  # main is as slow as that now
    assert "::error file=src/toy/__init__.py,line=1,title=toy/work slower::" in job.done.out


def test_a_pull_request_has_one_comment_that_is_kept_up_to_date(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    head, merge = hosted.topic(base, slower=True)
    hosted.open_pull_request(base, head)
    failed = hosted.run(pull_request(base, head, merge))
    failed.done.check(3, "first parent of the merge commit", "created a comment")
    _, comment = hosted.comments()
    assert comment.splitlines()[0].startswith("### \N{CROSS MARK} Slower: ")
    assert failed.outputs["comment-url"].startswith("https://github.com/octo-org/hello/")
    assert (failed.outputs["regressions"], failed.outputs["result-name"]) == ("1", RESULT)
    assert "baseline-name" not in failed.outputs
    assert "Slower: " in failed.summary

    head, merge = hosted.topic(base)
    hosted.open_pull_request(base, head)
    passed = hosted.run(pull_request(base, head, merge))
    passed.done.check(0, "updated the comment")
    assert passed.outputs["comment-url"] == failed.outputs["comment-url"]
    _, comment = hosted.comments()
    assert "regressed" not in comment
    assert passed.outputs["verdict"] == "pass"


def test_a_pull_request_is_judged_by_a_scenario(hosted: Hosted) -> None:
    table, index = "CREATE TABLE t (a, b);\n", "CREATE INDEX by_a ON t (a);\n"
    hosted.origin.write({"load/t.toml": SCENARIO, "schema.sql": table + index})
    text = (hosted.origin.root / "benchgate.toml").read_text()
    scenario = text.replace('python = "benchmarks"', 'scenario = "load/t.toml"')
    scenario = scenario.replace("rounds = 8", "rounds = 11")  # it is tested by three metrics
    hosted.origin.write({"benchgate.toml": scenario})
    base = hosted.origin.commit()
    head, merge = hosted.topic(base, {"schema.sql": table})
    hosted.open_pull_request(base, head)

    job = hosted.run(pull_request(base, head, merge), "ci", "--filter", "t/find")

    job.done.check(3)
    assert "t/find" in job.summary
    assert "::error file=load/t.toml,line=11,title=t/find slower::" in job.done.out


def test_what_is_kept_of_a_configuration_judges_again_and_holds_no_secret(hosted: Hosted) -> None:
    text = (hosted.origin.root / "benchgate.toml").read_text()
    hosted.origin.write({"benchgate.toml": ""})
    base = hosted.origin.commit()
    build = '[build]\ncommand = "true"\nenv = { PGPASSWORD = "postgres" }\n'
    lax = text.replace("50%", "900%") + build
    head, merge = hosted.topic(base, {"benchgate.toml": lax}, slower=True)
    hosted.open_pull_request(base, head)
    job = hosted.run(pull_request(base, head, merge))
    job.done.check(3)
    (artifact,) = [a for a in hosted.server.state.all(Artifact) if a.run_id == job.run_id]
    kept = expand(read_member(artifact.data, MEMBERS, "it"), "it")
    assert b"900%" in kept
    assert b"postgres" not in kept
    host = hosted.server.api_url.removesuffix("/api/v3")
    url = f"{host}/octo-org/hello/actions/runs/{job.run_id}"
    hosted.program.variables |= {"GITHUB_TOKEN": hosted.program.variables["BENCHGATE_TOKEN"]}
    again = hosted.program(hosted.folder, "check", "--run", url)
    again.check(3)
    assert again.out.split("\n\n")[0] in job.done.out


def test_a_fork_is_judged_by_a_job_that_may_comment(hosted: Hosted) -> None:
    """It cannot loosen its own gate."""
    base = hosted.origin.git.head_sha()
    text = (hosted.origin.root / "benchgate.toml").read_text()
    lax = {"benchgate.toml": text.replace("50%", "900%")}
    head, merge = hosted.topic(base, lax, slower=True)
    hosted.open_pull_request(base, head, fork=True)
    event = pull_request(base, head, merge, fork=True)
    job = hosted.run(event, token=FORKS_TOKEN)
    job.done.check(3, "no comment from this job: the pull request is from a fork")
    assert hosted.comments() == ["Me too"]
    assert without_load(job.warnings) == []

    second = hosted.run(workflow_run(event, job, base))
    second.done.check(0)
    _, comment = hosted.comments()
    assert comment.splitlines()[0].startswith("### \N{CROSS MARK} Slower: ")
    assert "review it before you rely on them" in comment
    assert f"run={job.run_id} attempt=1" in comment.splitlines()[-1]
    assert second.outputs["verdict"] == "fail"
    for told in (job.summary, comment):
        assert "gate.margin" in told
        assert "900 %" in told
    assert BASELINE not in hosted.artifacts()


def test_a_merge_group_is_gated_and_leaves_no_baseline(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    _, merge = hosted.topic(base, slower=True)
    hosted.server.state.put(
        Comparison(
            repository=HELLO.full_name, base="main", head=merge, merge_base=base, behind_by=0
        )
    )
    job = hosted.run(merge_group(merge))
    job.done.check(3, "merge base with main: the whole group")
    assert BASELINE not in hosted.artifacts()
    assert RESULT in hosted.artifacts()


def test_an_api_that_is_down_changes_no_verdict(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    head, merge = hosted.topic(base, slower=True)
    hosted.open_pull_request(base, head)
    hosted.server.faults.always("*", Fault(drop_connection=True))
    job = hosted.run(pull_request(base, head, merge), BENCHGATE_GITHUB_TIMEOUT="1s")
    job.done.check(3)
    assert job.outputs["verdict"] == "fail"
    assert any(warning.startswith("no comment: GET /user") for warning in job.warnings)
    assert "No stored results" in job.summary


def test_the_first_run_on_main_leaves_a_baseline(hosted: Hosted) -> None:
    """Once it has expired, it is named and not missed."""
    first = hosted.origin.git.head_sha()
    job = hosted.run(push(ZEROS, first))
    job.done.check(0, "base: this is the first push of main", "kept as baseline")
    assert job.outputs["verdict"] == "no verdict"
    assert "First run of 1 benchmark" in job.done.out
    assert job.outputs["baseline-name"] == BASELINE
    assert sorted(hosted.artifacts()) == sorted(["benchgate-baseline", BASELINE, RESULT])
    assert "First run of 1 benchmark" in job.summary

    hosted.server.clock.advance(100 * 24 * 3600)
    hosted.origin.write({"README": "changed"})
    job = hosted.run(push(first, hosted.origin.commit()))
    job.done.check(0, "is not used: it has expired")
    assert job.outputs["verdict"] == "pass"


def test_a_broken_head_is_told_on_the_pull_request(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    text = (hosted.origin.root / "benchgate.toml").read_text()
    broken = {"benchgate.toml": text + '\n[build]\ncommand = "false"\n'}
    head, merge = hosted.topic(base, broken)
    hosted.open_pull_request(base, head)
    job = hosted.run(pull_request(base, head, merge))
    assert job.done.code in {5, 6}
    _, comment = hosted.comments()
    assert "No verdict" in comment.splitlines()[0]
    assert "result-name" not in job.outputs


def test_what_benchmarks_print_is_not_obeyed(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    hosted.origin.write(
        {
            "benchmarks/bench_toy.py": "import os, sys\nimport toy\n\n\ndef bench_work():\n"
            "    os.write(1, b'::error::obeyed\\n')\n    toy.work()\n"
            "    assert 'BENCHGATE_TOKEN' not in os.environ\n"
            "    assert 'GITHUB_OUTPUT' not in os.environ\n"
        }
    )
    job = hosted.run(push(base, hosted.origin.commit()))
    lines = job.done.out.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("::stop-commands::"))
    token = lines[begin].removeprefix("::stop-commands::")
    end = lines.index(f"::{token}::")
    obeyed = [*lines[:begin], *lines[end + 1 :]]
    assert not [line for line in obeyed if "obeyed" in line]
    assert "AssertionError" not in job.done.out


def test_outside_of_a_job_it_says_what_to_use(benchgate: Program, toy: Project) -> None:
    benchgate.variables = {"GITHUB_EVENT_NAME": ""}
    benchgate(toy.root, "ci").check(2, "this is not a job of GitHub Actions", "benchgate check")


def test_parts_of_a_suite_are_joined_by_one_job_that_comments(hosted: Hosted) -> None:
    other = "def bench_sum():\n    return sum(range(2000))\n"
    hosted.origin.write({"benchmarks/bench_other.py": other})
    base = hosted.origin.commit()
    head, merge = hosted.topic(base, slower=True)
    hosted.open_pull_request(base, head)
    event = pull_request(base, head, merge)
    folder = hosted.folder / "parts"
    # Half of alpha is left to each of the two.
    parts = [hosted.run(event, "ci", "-v", "--shard", f"{n}/2", "--alpha", "0.1") for n in (1, 2)]
    assert sorted(part.done.code for part in parts) == [0, 3]
    for number, part in enumerate(parts, start=1):
        assert part.outputs["result-name"] == f"{RESULT}.{number}of2"
        assert "the job that joins all shards comments" in part.done.err
        (folder / str(number)).mkdir(parents=True)
        shutil.copy(part.outputs["result"], folder / str(number))
    assert hosted.comments() == ["Me too"]
    joined = hosted.run(event, "ci", "-v", "--merge", str(folder), "--alpha", "0.1")
    joined.done.check(3, "created a comment")
    _, comment = hosted.comments()
    assert "toy/work" in comment
    assert "1 of 2 benchmarks runs no code that changed" in comment
    assert joined.outputs["result-name"] == RESULT
    shutil.rmtree(folder / "2")
    lost = hosted.run(event, "ci", "--merge", str(folder))
    lost.done.check(2, "there is no result of shard 2")


def repeat_baseline(hosted: Hosted, times: int) -> None:
    """Leave what the last run left again and again, as runs that do not differ at all would."""
    last = hosted.server.state.all(Artifact)[-1]
    assert last.name == BASELINE
    run = hosted.server.state.need(Run, last.run_id)
    for number in range(1, times):
        id_, at = hosted.server.state.new_id(), START + timedelta(minutes=number)
        hosted.server.state.put(replace(run, id=id_, created_at=at))
        hosted.server.state.put(replace(last, id=id_ + 1, run_id=id_, created_at=at))


def test_stored_runs_settle_what_they_show_to_be_unchanged(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    hosted.run(push(ZEROS, base)).done.check(0)
    repeat_baseline(hosted, 10)
    head, merge = hosted.topic(base)
    hosted.open_pull_request(base, head)
    # A machine may be a quarter slower for a while: that alone is to make nothing a suspect.
    margin = ("ci", "--margin", "150%")
    clean = hosted.run(pull_request(base, head, merge), *margin)
    clean.done.check(0)
    assert "10 earlier runs" in clean.summary
    assert "side by side" not in clean.summary

    head, merge = hosted.topic(base, slower=True)
    hosted.open_pull_request(base, head)
    slower = hosted.run(pull_request(base, head, merge), *margin)
    slower.done.check(3)
    (artifact,) = [a for a in hosted.server.state.all(Artifact) if a.run_id == slower.run_id]
    result = decode_result(expand(read_member(artifact.data, MEMBERS, "it"), "it"), "it")
    assert result.base is not None
    assert result.screening is not None
    assert len(result.screening.earlier) == 10
    host = hosted.server.api_url.removesuffix("/api/v3")
    url = f"{host}/octo-org/hello/actions/runs/{slower.run_id}"
    hosted.program.variables |= {"GITHUB_TOKEN": hosted.program.variables["BENCHGATE_TOKEN"]}
    again = hosted.program(hosted.folder, "check", "--run", url, "--json", "-")
    again.check(3)
    verdict = json.loads(again.out)
    assert verdict["rows"][0]["margin"] == 1.5
    assert verdict["settings"]["policy"] == "base"
    assert verdict["base"]["sha"] == base
    assert verdict["summary"] in slower.done.out
