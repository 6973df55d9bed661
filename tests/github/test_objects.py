from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from benchgate.errors import GitHubError
from benchgate.github.objects import Artifact, Comment, CommitComparison, PullRequest, WorkflowRun

PATH = "/repos/octo-org/hello/actions/artifacts"
SHA = "328faa0536e6fef19753d9d91dc96a9931694ce3"
REPOSITORY = {"id": 1296269, "full_name": "octo-org/hello", "private": False}
ARTIFACT: dict[str, Any] = {
    "id": 11,
    "node_id": "MDg6QXJ0aWZhY3QxMQ==",
    "name": "Rails",
    "size_in_bytes": 556,
    "expired": False,
    "created_at": "2020-01-10T14:59:22Z",
    "digest": "sha256:cfc3236bdad15b5898bca8408945c9e19e1917da8704adc20eaa618444290a8c",
    "workflow_run": {
        "id": 2332938,
        "repository_id": 1296269,
        "head_repository_id": 1296269,
        "head_branch": "main",
        "head_sha": SHA,
    },
}


def test_an_artifact() -> None:
    artifact = Artifact.read(ARTIFACT, PATH)
    assert artifact.created_at == datetime(2020, 1, 10, 14, 59, 22, tzinfo=UTC)
    assert artifact.workflow_run is not None
    assert artifact.workflow_run.head_sha == SHA


def test_what_may_be_absent() -> None:
    least = {key: ARTIFACT[key] for key in ("id", "name", "size_in_bytes", "expired")}
    artifact = Artifact.read({**least, "created_at": None, "workflow_run": None}, PATH)
    assert (artifact.digest, artifact.workflow_run, artifact.created_at) == (None, None, None)
    run = WorkflowRun.read(
        {
            "id": 30433642,
            "event": "push",
            "status": "queued",
            "conclusion": None,
            "path": ".github/workflows/build.yml@main",
            "html_url": "https://github.com/octo-org/hello/actions/runs/30433642",
            "created_at": "2011-04-14T16:00:49Z",
            "head_branch": None,
            "head_sha": SHA,
            "repository": REPOSITORY,
            "head_repository": None,
        },
        PATH,
    )
    assert (run.run_attempt, run.head_repository) == (1, None)
    side = {"ref": "topic", "sha": SHA, "repo": None}
    pull = PullRequest.read(
        {"number": 7, "state": "open", "html_url": "", "head": side, "base": side}, PATH
    )
    assert pull.head.repo is None
    times = {"created_at": "2011-04-14T16:00:49Z", "updated_at": "2011-04-14T16:00:49Z"}
    assert Comment.read({"id": 1, "html_url": "", "user": None, **times}, PATH).body == ""


def test_a_comparison() -> None:
    compared = CommitComparison.read(
        {
            "status": "diverged",
            "ahead_by": 2,
            "behind_by": 1,
            "merge_base_commit": {"sha": SHA, "commit": {}},
            "files": [],
        },
        PATH,
    )
    assert compared.merge_base_commit.sha == SHA


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"id": "11"}, 'id: "11" is not a whole number'),
        ({"name": None}, "name: null is not a text"),
        ({"expired": 0}, "expired: 0 is not true or false"),
        ({"workflow_run": {"head_sha": "--upload-pack=x"}}, "is not the hash of a commit"),
    ],
)
def test_answers_of_another_form_are_refused(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(GitHubError) as raised:
        Artifact.read(ARTIFACT | changed, PATH)
    assert raised.value.message.startswith(f"the answer of {PATH} does not match GitHub's API: ")
    assert fault in raised.value.message


def test_what_is_missing_is_named() -> None:
    with pytest.raises(GitHubError, match='"name" is missing'):
        Artifact.read({key: value for key, value in ARTIFACT.items() if key != "name"}, PATH)
