from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contract.conftest import github
from tests.jobs import job_of, pull_request, push

from benchgate.ci.base import ComparisonBase, compare_with
from benchgate.config.load import load
from benchgate.errors import BaselineError, UsageError
from benchgate.github.runner import MergeGroupEvent
from benchgate.model.run import BenchmarkFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.contract.server import GitHubServer

    from benchgate.git.repository import Git
    from benchgate.github.runner import Event

    Commit = Callable[[Git, Mapping[str, str]], str]

__all__ = ["github"]


def compared(
    server: GitHubServer, git: Git, event: Event, *, ref: str = "refs/heads/main"
) -> ComparisonBase:
    job = job_of(server, git, event, sha=git.head_sha(), ref=ref)
    return compare_with(job.plan, load(git.root, git.root), job, git.root)


def test_a_push_is_compared_with_what_was_before(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    files = {"benchgate.toml": '[gate]\nmargin = "3%"\n', "bench_a.py": ""}
    before = commit(repo, files)
    commit(repo, {"benchgate.toml": '[gate]\nmargin = "30%"\n'})
    found = compared(github, repo, push(before))
    assert found.base
    assert found.base.sha == before
    assert found.config.gate.margin == pytest.approx(0.03)
    assert found.files is BenchmarkFiles.BASE


def test_what_was_pushed_to_main_is_kept_where_what_was_before_is_gone(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    commit(repo, {"a": "1"})
    found = compared(github, repo, push("f" * 40))
    assert found.base is None
    (warning,) = found.warnings
    assert warning.startswith("the base was not measured: the base commit ffffffffffff")


def test_on_another_branch_that_is_an_error(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    commit(repo, {"a": "1"})
    ref = "refs/heads/topic"
    with pytest.raises(BaselineError, match="ffffffffffff"):
        compared(github, repo, push("f" * 40, ref), ref=ref)


def test_the_base_is_not_the_head_itself_under_another_name(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    """actions/checkout has moved `main` to what was pushed."""
    before = commit(repo, {"benchgate.toml": '[baseline]\nagainst = "main"\n'})
    commit(repo, {"a": "2"})
    found = compared(github, repo, push(before))
    assert (found.base, found.why) == (None, "main is the head itself")
    assert found.warnings == ("nothing is compared: main is the head itself",)


def test_a_named_base_takes_the_place_of_the_events(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    first = commit(repo, {"benchgate.toml": '[baseline]\nagainst = "v1"\n'})
    repo.run("tag", "v1")
    before = commit(repo, {"a": "2"})
    commit(repo, {"a": "3"})
    found = compared(github, repo, push(before))
    assert found.base
    assert found.base.sha == first


def test_a_change_that_brings_benchgate_lends_its_benchmarks_to_the_base(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    before = commit(repo, {"a": "1"})
    commit(repo, {"benchgate.toml": '[build]\ncommand = "make"\n', "bench_a.py": ""})
    found = compared(github, repo, push(before))
    assert found.files is BenchmarkFiles.HEAD
    assert found.config.base is None  # so the head's [build] prepares the base, too


def test_a_change_cannot_replace_the_benchmarks_of_the_base(
    github: GitHubServer, repo: Git, commit: Commit
) -> None:
    before = commit(repo, {"benchgate.toml": "", "perf/bench_a.py": ""})
    repo.run("rm", "--quiet", "-r", "perf", "benchgate.toml")
    files = {"benchgate.toml": '[[benchmark]]\npython = "other"\n', "other/bench_b.py": ""}
    commit(repo, files)
    assert compared(github, repo, push(before)).files is BenchmarkFiles.BASE


@pytest.mark.parametrize("kind", ["pull request", "merge group"])
def test_a_checkout_of_the_base_is_no_change(
    github: GitHubServer, repo: Git, commit: Commit, kind: str
) -> None:
    base = commit(repo, {"a": "1"})
    event = pull_request("f" * 40, base) if kind == "pull request" else MergeGroupEvent("main")
    with pytest.raises(UsageError, match="holds no change to measure") as raised:
        compared(github, repo, event)
    assert "actions/checkout" in raised.value.hint
