"""Who approved a commit of a pull request, with write access: by a review or a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.github.models import IssueEvent, Permission, Review

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from benchgate.github.client import Client
    from benchgate.github.models import PullRequest, User

MOST_ASKED: Final = 10
"""How many people are checked at most: it takes one request each to see who may write."""

_PERSON = "User"
_MAY_WRITE = frozenset({"admin", "write"})
_LABELLING = frozenset({"labeled", "unlabeled"})


def approver(client: Client, repository: str, pull: PullRequest) -> str | None:
    """The login of somebody who has approved the head of a pull request, and may write.

    The last word of each reviewer counts, and only if it is of exactly this commit. Neither the
    author of the pull request nor an app counts. Anybody can approve a public pull request, so who
    belongs to the repository is asked about first.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
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
    """The login of who has set a label that is still there, if that person may write.

    A label outlives the commit that it was set for, so it has to be set after the head came.

    Args:
        since: a time at which the head was there already.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
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
    """The first person among them who may write to the repository.

    Args:
        author: who does not count.
    """
    asked = 0
    for login in _people(users):
        if author and login.lower() == author.login.lower():
            continue
        if asked == MOST_ASKED:
            return None
        asked += 1
        path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
        if Permission.read(client.get(path), path).permission in _MAY_WRITE:
            return login
    return None


def _people(users: Iterable[User | None]) -> Iterator[str]:
    yield from (user.login for user in users if user and user.type == _PERSON)
