"""Pull requests and commits, as GitHub knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from benchgate.github.models import Comparison, PullRequest

if TYPE_CHECKING:
    from benchgate.github.client import Client
    from benchgate.github.events import WorkflowRun


def find_pull_request(client: Client, repository: str, run: WorkflowRun) -> PullRequest | None:
    """The open pull request whose head a run measured; None where its head is another by now.

    Nothing that the run itself says is believed: branch, commit and repository must be what
    GitHub knows of the pull request.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    head = run.head_repository
    if head is None or run.head_branch is None:
        return None
    path = f"/repos/{repository}/pulls"
    owner = head.full_name.partition("/")[0]
    params = {"state": "open", "head": f"{owner}:{run.head_branch}"}
    for item in client.pages(path, params):
        pull = PullRequest.read(item, path)
        is_same = pull.head.repo is not None and pull.head.repo.id == head.id
        if is_same and pull.head.sha == run.head_sha and pull.state == "open":
            return pull
    return None


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
