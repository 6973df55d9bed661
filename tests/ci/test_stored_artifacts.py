from __future__ import annotations

import gzip
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import (
    ARTIFACTS_KEPT,
    START,
    Artifact,
    Commit,
    Comparison,
    Token,
)
from tests.contract.scene import FORK, HELLO, TOKEN, zip_of
from tests.jobs import job_of, known_run, pull_request
from tests.results import MEMBER, arm, as_archive, as_file

from benchgate.ci.stored_artifacts import environment_key, read_result_of, read_stored
from benchgate.errors import FormatError
from benchgate.gate.stored import OFF_BRANCH
from benchgate.git.repository import Git
from benchgate.github.artifacts import list_artifacts
from benchgate.model.environment import Environment
from benchgate.model.result import Result, by_reason
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from tests.contract.server import GitHubServer

    from benchgate.gate.stored import StoredResults

__all__ = ["github"]

NAME = "benchgate-baseline.default.linux-x86_64"
HEAD = "7" * 40
NEWEST = "8" * 40


@pytest.fixture
def history(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> tuple[Git, list[str]]:
    """Commits 0 to 4 of main; what was merged into it between 2 and 3 is commit 5."""
    shas = [commit(repo, {"a": str(number)}) for number in range(3)]
    repo.run("checkout", "--quiet", "-b", "topic")
    topic = commit(repo, {"b": "1"})
    repo.run("checkout", "--quiet", "main")
    repo.run("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
    shas.append(repo.head_sha())
    return repo, [*shas, commit(repo, {"a": "4"}), topic]


def leave(
    server: GitHubServer,
    sha: str,
    hours: int,
    *,
    data: bytes | None = None,
    run: Mapping[str, Any] | None = None,
    is_merged: bool = True,
    **more: Any,  # noqa: ANN401 - any field
) -> int:
    """Have a run of main leave a baseline; give its id."""
    run_id, at = server.state.new_id(), START + timedelta(hours=hours)
    server.state.put(known_run(sha, **{"id": run_id, "created_at": at, **(run or {})}))
    server.state.put(Commit(repository=HELLO.full_name, sha=NEWEST, newest_of="main"))
    left = sha if is_merged else "0" * 40
    of: dict[str, Any] = {"repository": HELLO.full_name, "base": NEWEST, "head": sha}
    server.state.put(Comparison(**of, merge_base=left))
    archive = as_archive(Result(arm({"a": 1e-3}, source=Source(sha)))) if data is None else data
    kept = {
        "id": server.state.new_id(),
        "run_id": run_id,
        "name": NAME,
        "data": archive,
        "created_at": at,
        "expires_at": at + ARTIFACTS_KEPT,
    }
    server.state.put(Artifact(**{**kept, **more}))
    return run_id


def found(
    server: GitHubServer, git: Git, base: str | None, *, limit: int = 10, token: Token = TOKEN
) -> StoredResults:
    event = pull_request(HEAD, "6" * 40)
    job = job_of(server, git, event, token=token, here=Environment(), sha=HEAD)
    return read_stored(job, name=NAME, base=base, limit=limit)


def commits(of: StoredResults) -> list[str | None]:
    return [one.run.source.sha for one in of.earlier]


def test_the_base_comes_first_and_then_what_was_main_before_it(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    run_ids = [leave(github, shas[number], hours) for hours, number in enumerate((3, 0, 4, 1, 2))]
    got = found(github, git, shas[3])
    # Commit 4 is no ancestor of the base; it is newer than all that are.
    assert commits(got) == [shas[number] for number in (3, 2, 1, 0, 4)]
    assert [one.why.partition(" (")[0] for one in got.earlier] == [
        "the base commit's own run",
        "the run of an ancestor of the base, 1 commit before it",
        "the run of an ancestor of the base, 2 commits before it",
        "the run of an ancestor of the base, 3 commits before it",
        "a run of main that is not a known ancestor of the head",
    ]
    assert got.earlier[0].why.endswith(f"(push, run {run_ids[0]})")
    assert (got.skipped, got.warnings) == ((), ())
    # What the file says of its time is not believed.
    assert [one.run.started for one in got.earlier][:2] == [
        "2026-01-05T12:00:00Z",
        "2026-01-05T16:00:00Z",
    ]


def test_what_a_merge_brought_is_no_line_of_main(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    leave(github, shas[5], 9)  # it came into main by the merge
    leave(github, shas[0], 1)
    got = found(github, git, shas[4])
    assert commits(got) == [shas[0], shas[5]]
    assert "not a known ancestor" in got.earlier[1].why


def test_a_tag_that_is_called_as_the_branch_leaves_no_baseline(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    leave(github, "c" * 40, 9, is_merged=False)  # GitHub tells of its run as of one of main
    assert found(github, git, shas[4]).is_first
    leave(github, shas[0], 1)
    leave(github, NEWEST, 2)
    got = found(github, git, shas[4])
    assert commits(got) == [shas[0], NEWEST]
    assert [one.reason for one in got.skipped] == [OFF_BRANCH]
    assert OFF_BRANCH.startswith("its commit is not part of the default branch, ")
    assert len(github.asked("GET /repos/*/zip")) == 2
    assert len(github.asked("GET /repos/*/commits/*")) == 2


def test_a_commit_that_is_gone_is_no_part_of_the_branch(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    leave(github, "c" * 40, 1)
    github.faults.always("GET /repos/*/compare/*", Fault(status=404))
    assert [one.reason for one in found(github, git, shas[4]).skipped] == [OFF_BRANCH]


def test_a_shallow_clone_knows_the_base_alone(
    github: GitHubServer, history: tuple[Git, list[str]], tmp_path: Path
) -> None:
    origin, shas = history
    root = tmp_path / "clone"
    origin.run("clone", "--quiet", "--depth=1", f"file://{origin.root}", str(root))
    leave(github, shas[4], 1)
    leave(github, shas[3], 2)
    leave(github, shas[0], 3)
    # The base first, although it is the oldest; then the newest.
    assert commits(found(github, Git(root), shas[4])) == [shas[4], shas[0], shas[3]]


def test_a_base_that_is_not_here_is_preferred_all_the_same(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    elsewhere = "e" * 40
    leave(github, elsewhere, 1)
    leave(github, shas[4], 2)
    assert commits(found(github, git, elsewhere)) == [elsewhere, shas[4]]


def test_without_a_base_the_newest_come_first(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    for hours, number in enumerate((2, 4, 1)):
        leave(github, shas[number], hours)
    assert commits(found(github, git, None)) == [shas[1], shas[4], shas[2]]


def test_no_more_are_downloaded_than_are_wanted(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    for number in range(5):
        leave(github, shas[number], number)
    assert commits(found(github, git, shas[2], limit=2)) == [shas[2], shas[1]]
    assert len(github.asked("GET /repos/*/zip")) == 2
    (listing,) = github.asked("GET /repos/*/actions/artifacts")
    assert listing.query["name"] == NAME


def test_nothing_there_is_nothing_to_tell(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    got = found(github, git, shas[4])
    assert got.is_empty
    assert (got.source, got.warnings) == ("artifact", ())


def test_what_may_not_be_believed_is_left_out_with_its_reason(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    sha = shas[4]
    wrong = as_archive(Result(arm({"a": 1e-3}, source=Source("f" * 40))))
    torn = as_archive(Result(arm({"a": 1e-3}, source=Source(sha), complete=False)))
    leave(github, sha, 1, run={"head_repository": FORK.full_name})
    leave(github, sha, 2, run={"event": "pull_request"})
    leave(github, sha, 3, run={"head_branch": "topic"})
    leave(github, sha, 4, expires_at=START)
    leave(github, sha, 5, data=b"no zip")
    leave(github, sha, 6, data=zip_of({MEMBER: as_file(Result(arm({})))[:40]}))
    leave(github, sha, 7, data=wrong)
    leave(github, sha, 8, data=torn)
    leave(github, HEAD, 9)
    leave(github, sha, 10, name="benchgate-result.default.linux-x86_64")
    kept = leave(github, sha, 11)
    got = found(github, git, sha)
    assert [one.name.rpartition(" ")[2] for one in got.earlier] == [str(kept)]
    assert {one.reason.rpartition(": ")[2] for one in got.skipped} == {
        f"it measured {'f' * 40}, but its run was for {sha}",
        "it has expired",
        "it measured the head's own commit",
        "its commit came from another repository, such as a fork",
        "its measurement was interrupted",
        "its run was for a pull request",
        "its run was of topic, not of main",
        "its zip archive is damaged or cut off",
        "the gzip data is cut off",
    }


def flood(server: GitHubServer, count: int = 300) -> None:
    """Have a fork's pull requests leave artifacts of the name, all newer than the baselines."""
    of_fork = {"head_repository": FORK.full_name, "event": "pull_request"}
    for number in range(count):
        leave(server, "c" * 40, 100 + number, data=b"poison", run=of_fork)


def test_strangers_cannot_crowd_out_the_default_branch(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    for number in range(5):
        leave(github, shas[number], number)
    flood(github)
    got = found(github, git, shas[3])
    assert commits(got) == [shas[number] for number in (3, 2, 1, 0, 4)]
    shown = by_reason(got.skipped)
    assert [(one.what, one.reason.partition(";")[0]) for one in shown] == [
        ("300 results", "its commit came from another repository, such as a fork")
    ]
    assert got.warnings == ()
    # Three events, three pages of the name, five runs and what they left.
    assert len(github.requests) < 30


def test_strangers_do_not_end_a_first_run(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    flood(github, 3)
    leave(github, "c" * 40, 1, run={"event": "pull_request"})
    assert found(github, history[0], history[1][4]).is_first


def test_the_runs_of_a_busy_branch_are_asked_within_bounds(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    kept = leave(github, shas[4], 1)
    for number in range(60):  # of other workflows, which leave nothing
        path = f".github/workflows/{number % 3}.yml"
        run = known_run(shas[4], id=github.state.new_id(), path=path)
        github.state.put(run)
    flood(github)
    got = found(github, git, shas[4])
    assert [one.name.rpartition(" ")[2] for one in got.earlier] == [str(kept)]
    # Three of each other workflow, and two of this one: the scene has one of its own.
    assert len(github.asked("GET /repos/*/runs/*/artifacts")) == 3 * 3 + 2


def test_a_github_that_fails_in_between_costs_no_more_than_what_is_missing(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    for number in range(3):
        leave(github, shas[number], number)
    flood(github, 299)  # so that the newest of main is still in the list
    github.faults.always("GET /repos/*/runs/*/artifacts", Fault(status=503))
    got = found(github, git, shas[2])
    assert commits(got) == [shas[2]]
    assert got.warnings[0].startswith("not all stored results were searched: GET /repos/")


@pytest.mark.parametrize(
    ("fault", "token", "words"),
    [
        (Fault(status=503), TOKEN, "503"),
        (Fault(drop_connection=True), TOKEN, "GET /repos/octo-org/hello/actions/runs"),
        (None, Token("ghs_none", {"contents": "read"}), "actions: read"),
    ],
)
def test_a_github_that_does_not_answer_is_a_warning(
    github: GitHubServer,
    history: tuple[Git, list[str]],
    fault: Fault | None,
    token: Token,
    words: str,
) -> None:
    git, shas = history
    github.state.put(token)
    leave(github, shas[4], 1)
    if fault:
        github.faults.always("*", fault)
    got = found(github, git, shas[4], token=token)
    assert got.is_empty
    (warning,) = got.warnings
    assert warning.startswith("no stored results: ")
    assert words in warning


def test_one_that_cannot_be_downloaded_hides_no_other(
    github: GitHubServer, history: tuple[Git, list[str]]
) -> None:
    git, shas = history
    for number in range(3):
        leave(github, shas[number], number)
    github.script("GET /repos/*/zip", [Fault(status=410)])
    got = found(github, git, shas[2])
    assert commits(got) == [shas[1], shas[0]]
    (skipped,) = got.skipped
    assert "410" in skipped.reason


def test_a_result_of_any_run_can_be_read(github: GitHubServer) -> None:
    result = Result(arm({"a": 1e-3}, source=Source("f" * 40), complete=False))
    run_id = leave(github, HEAD, 1, data=as_archive(result), run={"event": "pull_request"})
    client = client_of(github, TOKEN)
    (artifact,) = list_artifacts(client, HELLO.full_name, run_id=run_id)
    read = read_result_of(client, HELLO.full_name, artifact)
    assert (read.head.source.sha, read.head.complete) == ("f" * 40, False)


@pytest.mark.parametrize("member", ["result.json", "result.json.gz"])
@pytest.mark.parametrize("is_packed", [True, False])
def test_a_result_is_read_whatever_its_name_says_of_its_form(
    github: GitHubServer, member: str, *, is_packed: bool
) -> None:
    packed = as_file(Result(arm({"a": 1e-3})))
    run_id = leave(
        github, HEAD, 1, data=zip_of({member: packed if is_packed else gzip.decompress(packed)})
    )
    client = client_of(github, TOKEN)
    (artifact,) = list_artifacts(client, HELLO.full_name, run_id=run_id)
    assert len(read_result_of(client, HELLO.full_name, artifact).head.benchmarks) == 1


def test_what_expands_without_end_is_refused(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchgate.ci.stored_artifacts.MOST_BYTES", 100)
    run_id = leave(github, HEAD, 1)
    client = client_of(github, TOKEN)
    (artifact,) = list_artifacts(client, HELLO.full_name, run_id=run_id)
    with pytest.raises(FormatError, match="is larger than the limit of 100 bytes"):
        read_result_of(client, HELLO.full_name, artifact)


@pytest.mark.parametrize(
    ("runner_os", "machine", "key"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("macOS", "arm64", "macos-arm64"),
        ("Linux", "aarch64", "linux-aarch64"),
    ],
)
def test_machines_that_never_compare_share_no_name(runner_os: str, machine: str, key: str) -> None:
    assert environment_key(runner_os, machine) == key
