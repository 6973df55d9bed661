"""Reads pull requests and commits from GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from benchgate.github.models import Commit, Comparison, PullRequest

if TYPE_CHECKING:
    from benchgate.github.client import Client
    from benchgate.github.events import WorkflowRun


def find_pull_requests(
    client: Client, repository: str, run: WorkflowRun
) -> tuple[PullRequest, ...]:
    """The open pull requests whose head a run measured; none if that is another by now.

    Nothing that the run itself says is trusted: branch, commit and repository must be what
    GitHub knows of the pull request. One head may be for several branches.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    head = run.head_repository
    if head is None or run.head_branch is None:
        return ()
    path = f"/repos/{repository}/pulls"
    owner = head.full_name.partition("/")[0]
    params = {"state": "open", "head": f"{owner}:{run.head_branch}"}
    pulls = (PullRequest.read(item, path) for item in client.pages(path, params))
    return tuple(
        pull
        for pull in pulls
        if pull.head.repo is not None
        and pull.head.repo.id == head.id
        and pull.head.sha == run.head_sha
        and pull.state == "open"
    )


def read_pull_request(client: Client, repository: str, number: int) -> PullRequest:
    """What GitHub knows of a pull request.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    path = f"/repos/{repository}/pulls/{number}"
    return PullRequest.read(client.get(path), path)


def merge_base(client: Client, repository: str, base: str, head: str) -> str:
    """The commit that the history of a head left that of a base at.

    Args:
        base: a commit, or the name of a branch.
        head: likewise.

    Raises:
        GitHubError: GitHub refuses, does not answer, or knows no common history.
    """
    path = f"/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
    return Comparison.read(client.get(path), path).merge_base_commit.sha


def commit_of(client: Client, repository: str, name: str) -> str:
    """The commit that a branch, tag or hash names.

    Raises:
        GitHubError: GitHub refuses, does not answer, or knows no such commit.
    """
    path = f"/repos/{repository}/commits/{quote(name, safe='')}"
    return Commit.read(client.get(path), path).sha
