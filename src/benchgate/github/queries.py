"""Asks GitHub about pull requests, commits, people and runs.

Every function that takes a client raises a GitHubError if GitHub refuses, does not answer, or does
not have what is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.errors import UsageError
from benchgate.github.exchange import harmless
from benchgate.github.objects import (
    Commit,
    CommitComparison,
    IssueEvent,
    Permission,
    PullRequest,
    Review,
    WorkflowRun,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from benchgate.github.client import Client
    from benchgate.github.events import WorkflowRunEvent
    from benchgate.github.objects import User


MOST_ASKED: Final = 10
"""Most people that are checked: finding out who has write access takes a request each."""

_PERSON = "User"
_MAY_WRITE = frozenset({"admin", "write"})
_LABELLING = frozenset({"labeled", "unlabeled"})
_RUN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[\w.-]+(?::[0-9]{1,5})?)"
    r"/(?P<repository>[A-Za-z0-9][\w-]*/(?!\.{1,2}/)[\w.-]+)/actions/runs/(?P<run>[0-9]{1,18})"
    r"(?:/attempts/(?P<attempt>[0-9]{1,9}))?(?:/job/[0-9]{1,18})?/?(?:[?#].*)?",
    re.ASCII,
)
_FORM = "It looks like https://github.com/OWNER/REPOSITORY/actions/runs/1234567890."


def find_pull_requests(
    client: Client, repository: str, run: WorkflowRunEvent
) -> tuple[PullRequest, ...]:
    """Find the open pull requests whose current head a run measured; maybe none.

    Nothing that the run itself says is trusted: branch, commit and repository must be those that
    GitHub knows of the pull request. Several pull requests may have the same head.
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
    """Get a pull request from GitHub."""
    path = f"/repos/{repository}/pulls/{number}"
    return PullRequest.read(client.get(path), path)


def merge_base(client: Client, repository: str, base: str, head: str) -> str:
    """Find the merge base of two commits or branches."""
    path = f"/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
    return CommitComparison.read(client.get(path), path).merge_base_commit.sha


def commit_of(client: Client, repository: str, name: str) -> str:
    """Find the commit that a branch, tag or hash names."""
    path = f"/repos/{repository}/commits/{quote(name, safe='')}"
    return Commit.read(client.get(path), path).sha


def approver(client: Client, repository: str, pull: PullRequest) -> str | None:
    """The login of a person with write access who has approved the head; None if nobody has.

    Only the latest review of each reviewer counts, and only if it is of exactly this commit.
    Neither the author of the pull request nor an app counts. Anybody can approve a public pull
    request, so benchgate asks about reviewers first who belong to the repository.
    """
    path = f"/repos/{repository}/pulls/{pull.number}/reviews"
    last: dict[str, Review] = {}
    for item in client.pages(path):
        review = Review.read(item, path)
        if review.user and review.decides:
            last[review.user.login.lower()] = review
    approved = [one for one in last.values() if one.approves and one.commit_id == pull.head.sha]
    approved.sort(key=lambda one: not one.is_of_the_house)
    return _first_who_may(client, repository, (one.user for one in approved), pull.user)


def labeler(
    client: Client, repository: str, pull: PullRequest, label: str, *, since: datetime
) -> str | None:
    """The login of a person with write access who set a label that is still there; or None.

    A label outlives the commit that it was set for, so it must have been set after the head came.

    Args:
        since: a time when the head was there already.
    """
    path = f"/repos/{repository}/issues/{pull.number}/events"
    events = (IssueEvent.read(item, path) for item in client.pages(path))
    of_label = [one for one in events if one.event in _LABELLING and one.is_of(label)]
    if not of_label or of_label[-1].event != "labeled" or of_label[-1].created_at <= since:
        return None
    return _first_who_may(client, repository, [of_label[-1].actor], author=None)


def _first_who_may(
    client: Client, repository: str, users: Iterable[User | None], author: User | None
) -> str | None:
    """The first of these people who has write access to the repository; None if nobody has.

    Args:
        author: author of the pull request, who does not count.
    """
    asked = 0
    for login in (user.login for user in users if user and user.type == _PERSON):
        if author and login.lower() == author.login.lower():
            continue
        if asked == MOST_ASKED:
            return None
        asked += 1
        path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
        if Permission.read(client.get(path), path).permission in _MAY_WRITE:
            return login
    return None


def read_run(client: Client, repository: str, id_: int) -> WorkflowRun:
    """Get a run."""
    path = f"/repos/{repository}/actions/runs/{id_}"
    return WorkflowRun.read(client.get(path), path)


def list_runs(
    client: Client, repository: str, *, branch: str, event: str, most: int
) -> tuple[WorkflowRun, ...]:
    """List the newest runs that an event started on a branch.

    They include pull requests from a fork's branch of the same name: tell these apart by event and
    head repository.
    """
    path = f"/repos/{repository}/actions/runs"
    listed = client.pages(path, {"branch": branch, "event": event}, key="workflow_runs")
    return tuple(WorkflowRun.read(item, path) for item in islice(listed, most))


@dataclass(frozen=True, slots=True)
class RunUrl:
    """The parts of a run's address.

    Attributes:
        api_url: API of the server in the address. Anybody may own that server: send it only a token
            that is meant for it.
        attempt: None if the address names none, which means the latest.
    """

    api_url: str
    repository: str
    run_id: int
    attempt: int | None


def parse_run_url(url: str) -> RunUrl:
    """Parse the address of a run, or of one of its attempts or jobs.

    Raises:
        UsageError: it is not such an address.
    """
    found = _RUN.fullmatch(url.strip())
    if found is None:
        raise UsageError(f"{harmless(url)!r} is not the URL of a workflow run", hint=_FORM)
    attempt = found["attempt"]
    return RunUrl(
        api_url=_api_url(found["scheme"], found["host"].lower()),
        repository=found["repository"],
        run_id=int(found["run"]),
        attempt=None if attempt is None else int(attempt),
    )


def _api_url(scheme: str, host: str) -> str:
    """The API's address for a server: github.com, a company's subdomain, or its own server."""
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"{scheme}://api.{host}"
    return f"{scheme}://{host}/api/v3"
