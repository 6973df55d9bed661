"""The one comment of a suite on a pull request: created once, then kept up to date.

Nothing that GitHub offers makes reading and writing one step, so two runs that end within a second
of each other can still both create a comment, or the older one write last. The comments are
therefore read last before the write, the next run updates the newest of several, and workflows
should not measure one pull request twice at the same time (`concurrency`).
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from urllib.parse import quote

from benchgate.errors import GitHubError
from benchgate.github.models import Comment, PullRequest, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    _IsIt: TypeAlias = "Callable[[Comment, Marker | None], bool]"

JOB_LOGIN: Final = "github-actions[bot]"
"""Who writes with a job's own token. No person can have that name."""

_FORBIDDEN = 403
_NOT_FOUND = 404
_SERVER_ERROR = 500
MOST_OWN: Final = 20
"""Comments of ours on one pull request: who may name suites could make any number of them."""

# GitHub allows 2,500 comments on a pull request.
_MOST_COMMENTS = 5_000
_LONGEST_KEY = 200
_MARKER = re.compile(
    r"<!-- benchgate v=1 suite=(?P<suite>[A-Za-z0-9_.~%:]{0,200})"
    r" head=(?P<head>[0-9a-f]{40}|[0-9a-f]{64})"
    r" run=(?P<run>[1-9][0-9]{0,18}) attempt=(?P<attempt>[1-9][0-9]{0,8}) -->"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """What a comment says of itself, in its last line, which GitHub does not show.

    Attributes:
        suite: the suite's name, encoded; `mark` does it.
        head: the commit of the pull request's branch that was judged, not the merge commit.
        run, attempt: the run that measured, also if another one publishes.
    """

    suite: str
    head: str
    run: int
    attempt: int

    def __str__(self) -> str:
        return (
            f"<!-- benchgate v=1 suite={self.suite} head={self.head}"
            f" run={self.run} attempt={self.attempt} -->"
        )


def mark(suite: str, *, head: str, run: int, attempt: int) -> Marker:
    """The marker of a run.

    Args:
        suite: any text; no two have the same marker, and none can end the hidden line.
    """
    key = quote(suite, safe="").replace("-", "%2D")
    if len(key) > _LONGEST_KEY:
        # No text is encoded with a colon.
        key = f"sha256:{hashlib.sha256(suite.encode()).hexdigest()}"
    return Marker(key, head, run, attempt)


def marker_in(body: str) -> Marker | None:
    """The marker in the last line of a comment; None if that is something else.

    Everybody can write such a line: the author of the comment must be looked at, too.
    """
    match = _MARKER.fullmatch(body.rstrip().rpartition("\n")[2])
    if match is None:
        return None
    return Marker(match["suite"], match["head"], int(match["run"]), int(match["attempt"]))


@dataclass(frozen=True, slots=True)
class Create:
    """There is no comment of this suite."""


@dataclass(frozen=True, slots=True)
class Update:
    """There is one.

    Attributes:
        others: addresses of older ones, which two runs at the same time leave.
    """

    id: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """There is one that says more about the pull request as it is now."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """There are too many of other suites."""


Choice: TypeAlias = Create | Update | Leave | Refuse


def choose(comments: Iterable[Comment], marker: Marker, author: str, head_now: str = "") -> Choice:
    """Decide what becomes of the comments of a pull request.

    Of two verdicts the one about the commit that the pull request has now counts more; of two
    about the same, or both about others, the one of the later run. A run's number tells when it was
    started, not when it ended, and a re-run keeps it.

    Args:
        author: who we are; comments of others are none of ours, whatever they hold.
        head_now: the last commit of the pull request; "" when unknown.
    """

    def rank(of: Marker) -> tuple[bool, int, int]:
        return of.head == head_now, of.run, of.attempt

    every = [(rank(found), comment.id, comment, found) for comment, found in _own(comments, author)]
    ours = [one for one in every if one[-1].suite == marker.suite]
    if not ours:
        return Create() if len(every) < MOST_OWN else Refuse()
    *others, (newest_rank, _, newest, found) = sorted(ours, key=lambda one: one[:2])
    if newest_rank > rank(marker):
        reason = f"run {found.run} has already commented on {found.head[:7]}, and is newer"
        return Leave(newest.html_url, reason)
    return Update(newest.id, tuple(other.html_url for _, _, other, _ in others))


@dataclass(frozen=True, slots=True)
class CommentOutcome:
    """What became of it.

    Attributes:
        url: of the comment; "" if there is none.
        what: in words, for the log.
    """

    url: str
    what: str


class Api(Protocol):
    """What is needed of the client."""

    def get(self, path: str) -> dict[str, Any]:
        """The object at a path."""

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """The objects of a list."""

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Create something."""

    def patch(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Change something."""


def post_sticky(
    api: Api, repository: str, number: int, body: str, marker: Marker
) -> CommentOutcome:
    """Write the comment of a suite, or update the one that there is.

    Args:
        repository: the one that the pull request wants to change, e.g. "octo-org/hello".
        number: of the pull request.
        body: markdown; the marker is added.

    Raises:
        GitHubError: GitHub could not be reached, or refused.
    """
    author = own_login(api)
    head_now = _head_now(api, repository, number)
    list_path = _list_path(repository, number)
    choice = choose(_comments(api, list_path), marker, author, head_now)
    if isinstance(choice, Refuse):
        what = f"no comment: the pull request already has {MOST_OWN} comments of other suites"
        return CommentOutcome("", what)
    if isinstance(choice, Leave):
        return CommentOutcome(choice.url, f"left the comment as it is: {choice.reason}")
    text = {"body": f"{body.rstrip()}\n\n{marker}\n"}
    if isinstance(choice, Update):
        path = f"/repos/{repository}/issues/comments/{choice.id}"
        try:
            updated = Comment.read(api.patch(path, text), path)
        except GitHubError as error:
            if error.status != _NOT_FOUND:
                raise  # otherwise it was deleted since it was listed
        else:
            return CommentOutcome(updated.html_url, f"updated the comment{_left(choice.others)}")
    created = _create(api, list_path, text, lambda one, of: _is_by(one, author) and of == marker)
    return CommentOutcome(created.html_url, f"created a comment{_strange(created, author)}")


def _create(
    api: Api, path: str, text: Mapping[str, object], is_it: _IsIt, left: int = 2
) -> Comment:
    """Create a comment. If GitHub fails, look whether it was created all the same, and try again.

    A gateway in front of GitHub may give up waiting for what is done a moment later.
    """
    try:
        return Comment.read(api.post(path, text), path)
    except GitHubError as error:
        if (error.status or _SERVER_ERROR) < _SERVER_ERROR:
            raise  # it was refused
        with suppress(GitHubError):
            for one in _comments(api, path):
                if is_it(one, marker_in(one.body)):
                    return one
        if left == 1:
            raise
    return _create(api, path, text, is_it, left - 1)


def own_markers(api: Api, repository: str, number: int) -> tuple[Marker, ...]:
    """What our comments on a pull request say of themselves, the newest of each suite.

    Raises:
        GitHubError: GitHub could not be reached, or refused.
    """
    comments = _comments(api, _list_path(repository, number))
    found = [marker for _, marker in _own(comments, own_login(api))]
    return tuple(
        {one.suite: one for one in sorted(found, key=lambda x: (x.run, x.attempt))}.values()
    )


def own_login(api: Api) -> str:
    """Who we are: GitHub tells the owner of a personal token, and refuses to tell a job."""
    path = "/user"
    try:
        return User.read(api.get(path), path).login
    except GitHubError as error:
        if error.status != _FORBIDDEN:
            raise
        return JOB_LOGIN


def _head_now(api: Api, repository: str, number: int) -> str:
    """The last commit of the pull request; "" if the token may comment but not see it."""
    path = f"/repos/{repository}/pulls/{number}"
    try:
        return PullRequest.read(api.get(path), path).head.sha
    except GitHubError as error:
        if error.status not in {_FORBIDDEN, _NOT_FOUND}:
            raise
        return ""


def _list_path(repository: str, number: int) -> str:
    return f"/repos/{repository}/issues/{number}/comments"


def _comments(api: Api, path: str) -> Iterator[Comment]:
    return islice((Comment.read(item, path) for item in api.pages(path)), _MOST_COMMENTS)


def _own(comments: Iterable[Comment], author: str) -> Iterator[tuple[Comment, Marker]]:
    for comment in comments:
        if _is_by(comment, author) and (found := marker_in(comment.body)) is not None:
            yield comment, found


def _is_by(comment: Comment, login: str) -> bool:
    return comment.user is not None and comment.user.login.casefold() == login.casefold()


def _left(others: tuple[str, ...]) -> str:
    return f"; older comments of this suite stay unchanged: {', '.join(others)}" if others else ""


def _strange(created: Comment, author: str) -> str:
    """An app's own token cannot be asked who it is."""
    if _is_by(created, author):
        return ""
    actual = created.user.login if created.user else "nobody"
    return f" as {actual}, but the next run looks for one by {author}: use the job's own token"
