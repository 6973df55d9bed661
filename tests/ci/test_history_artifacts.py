from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from tests.ci.test_stored_artifacts import leave
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.scene import HELLO, TOKEN, zip_of
from tests.results import arm, as_file

from benchgate.ci.stored_artifacts import read_runs
from benchgate.errors import GitHubError, UsageError
from benchgate.gate.stored import OFF_BRANCH
from benchgate.history.record import RunRecord
from benchgate.model.result import Result, SkippedResult

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.server import GitHubServer

__all__ = ["github"]

FIRST, SECOND = "1" * 40, "2" * 40


def found(server: GitHubServer) -> tuple[list[RunRecord], list[SkippedResult]]:
    every = list(read_runs(client_of(server, TOKEN), HELLO.full_name))
    records = [one for one in every if isinstance(one, RunRecord)]
    return records, [one for one in every if isinstance(one, SkippedResult)]


def test_the_results_of_the_default_branch_are_read(github: GitHubServer) -> None:
    run_id = leave(github, FIRST, 1)
    leave(github, SECOND, 2)
    records, skipped = found(github)
    assert [(one.sha, one.ref) for one in records] == [(SECOND, "main"), (FIRST, "main")]
    assert records[1].url.endswith(f"/octo-org/hello/actions/runs/{run_id}")
    assert [one.benchmark for one in records[0].measured] == ["a"]
    assert skipped == []


def test_what_cannot_be_trusted_or_read_is_skipped(github: GitHubServer) -> None:
    leave(github, FIRST, 1)
    leave(github, "c" * 40, 2, is_merged=False)
    leave(github, "d" * 40, 3, data=zip_of({"result.json": b"{}"}))
    leave(github, SECOND, 4, run={"event": "pull_request"})
    leave(github, "e" * 40, 5, name="benchgate-baseline.default.linux-x86_64.2of8")
    records, skipped = found(github)
    assert [one.sha for one in records] == [FIRST]
    assert [one.reason.partition(": ")[0] for one in skipped][1:] == [OFF_BRANCH]
    assert len(skipped) == 2


def test_a_hostile_archive_writes_nothing_and_is_skipped(
    github: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    good = as_file(Result(arm({"a": 1e-3})))
    leave(github, FIRST, 1, data=zip_of({"../result.json.gz": good}))
    leave(github, FIRST, 2, data=zip_of({"/result.json.gz": good}))
    leave(github, SECOND, 3, data=zip_of({"result.json": bytes(64 << 20)}))
    leave(github, SECOND, 4, data=zip_of({"result.json.gz": gzip.compress(bytes(300 << 20))}))
    records, skipped = found(github)
    assert records == []
    assert len(skipped) == 4
    assert list(tmp_path.rglob("*")) == [here]


def test_a_repository_without_results_says_so(github: GitHubServer) -> None:
    with pytest.raises(UsageError, match="no job of main in octo-org/hello left a result"):
        found(github)


def test_github_that_refuses_ends_it(github: GitHubServer) -> None:
    leave(github, FIRST, 1)
    github.faults.always("GET /repos/octo-org/hello", Fault(status=404))
    with pytest.raises(GitHubError):
        found(github)


def test_runs_that_were_not_asked_are_counted(github: GitHubServer) -> None:
    for number in range(2, 8):
        leave(github, SECOND, number, name="coverage", run={"path": "coverage.yml"})
    with pytest.raises(UsageError) as ended:
        found(github)
    assert ended.value.details == (
        "3 runs of coverage.yml were not searched: its 3 newer runs left no result"
    )
    leave(github, FIRST, 1)
    records, skipped = found(github)
    assert [one.sha for one in records] == [FIRST]
    assert [one.what for one in skipped] == ["3 runs of coverage.yml"]
