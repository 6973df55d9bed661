"""The one comment of a suite on a pull request: created once, then kept up to date.

GitHub offers no way to read and write a comment in one step. So, if two runs end within a second of
each other, both can create a comment, or the older run can write last. Therefore the comments are
read immediately before the write, and again after one was created: of several, the first stays, and
gets the text of the newest run. Workflows should not publish one head twice at the same time
(`concurrency`).
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.errors import GitHubError
from benchgate.github.objects import Comment, PullRequest, User

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.github.client import Client

JOB_LOGIN: Final = "github-actions[bot]"
"""The account that a job's own token writes as. No person can have that name."""

_FORBIDDEN = 403
_NOT_FOUND = 404
_SERVER_ERROR = 500
MOST_OWN: Final = 20
"""Most comments of benchgate on one pull request: changing suite names could create any number."""

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
    """The facts in the last line of a comment, which GitHub does not show.

    Attributes:
        suite: the suite's name, encoded by `mark`.
        head: the commit of the pull request's branch that was judged, not the merge commit.
        run, attempt: the run that measured, even if another run publishes.
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
    """Make the marker of a run.

    Args:
        suite: any text; different texts give different markers, and none can end the hidden line.
    """
    key = quote(suite, safe="").replace("-", "%2D")
    if len(key) > _LONGEST_KEY:
        # The encoding of a text never holds a colon.
        key = f"sha256:{hashlib.sha256(suite.encode()).hexdigest()}"
    return Marker(key, head, run, attempt)


def marker_in(body: str) -> Marker | None:
    """The marker in the last line of a comment; None if that line is not a marker.

    Anybody can write such a line: check the author of the comment, too.
    """
    match = _MARKER.fullmatch(body.rstrip().rpartition("\n")[2])
    if match is None:
        return None
    return Marker(match["suite"], match["head"], int(match["run"]), int(match["attempt"]))


@dataclass(frozen=True, slots=True)
class CommentOutcome:
    """The address of a comment, and what was done.

    Attributes:
        url: of the comment; "" if there is none.
    """

    url: str
    what: str


def choose(
    comments: Iterable[Comment], marker: Marker, author: str, head_now: str = ""
) -> list[int] | CommentOutcome:
    """Decide whether to create, update or keep a comment on a pull request.

    A verdict on the current commit of the pull request outranks one on an older commit. Of two
    verdicts on the same commit, or both on older ones, the one of the later run wins. A run's
    number tells when it was started, not when it ended, and a re-run keeps the number.

    Args:
        author: benchgate's account; comments of other authors are ignored, whatever they contain.
        head_now: the last commit of the pull request; "" if unknown.

    Returns:
        The ids of this suite's comments, the one to update first: two simultaneous runs can leave
        duplicates. If there is none, one must be created. Or the outcome if nothing is written.
    """
    every = list(_own(comments, author))
    ours = [one for one in every if one[1].suite == marker.suite]
    if not ours and len(every) >= MOST_OWN:
        what = f"no comment: the pull request already has {MOST_OWN} comments of other suites"
        return CommentOutcome("", what)
    if not ours:
        return []
    newest, found = _newest(ours, head_now)
    if _rank(found, head_now) > _rank(marker, head_now):
        reason = f"run {found.run} has already commented on {found.head[:7]}, and is newer"
        return CommentOutcome(newest.html_url, f"left the comment as it is: {reason}")
    return sorted(one.id for one, _ in ours)


def _rank(of: Marker, head_now: str) -> tuple[bool, int, int]:
    return of.head == head_now, of.run, of.attempt


def _newest(ours: Iterable[tuple[Comment, Marker]], head_now: str) -> tuple[Comment, Marker]:
    return max(ours, key=lambda one: (_rank(one[1], head_now), -one[0].id))


def post_sticky(
    client: Client, repository: str, number: int, body: str, marker: Marker
) -> CommentOutcome:
    """Create the comment of a suite, or update the existing one.

    Args:
        repository: the pull request's target repository, such as "octo-org/hello".
        number: of the pull request.
        body: markdown; the marker is appended.

    Raises:
        GitHubError: GitHub could not be reached, or refused.
    """
    author = own_login(client)
    head_now = _head_now(client, repository, number)
    list_path = _list_path(repository, number)
    choice = choose(_comments(client, list_path), marker, author, head_now)
    if isinstance(choice, CommentOutcome):
        return choice
    text = {"body": f"{body.rstrip()}\n\n{marker}\n"}
    if choice:
        path = _comment_path(repository, choice[0])
        try:
            updated = Comment.read(client.patch(path, text), path)
        except GitHubError as error:
            if error.status != _NOT_FOUND:
                raise  # any other error; 404 means that it was deleted after it was listed
        else:
            removed = _remove(client, repository, choice[1:])
            return CommentOutcome(updated.html_url, f"updated the comment{removed}")
    created = _create(client, list_path, text, author)
    strange = _strange(created, author)
    if strange:
        return CommentOutcome(created.html_url, f"created a comment{strange}")
    # Another run may have created one, too. GitHub may not list ours yet.
    again = _own(_comments(client, list_path), author)
    ours = {created.id: (created, marker)}
    ours |= {one.id: (one, found) for one, found in again if found.suite == marker.suite}
    first, *others = sorted(ours)
    newest, _ = _newest(ours.values(), head_now)
    if newest.id != first:
        client.patch(_comment_path(repository, first), {"body": newest.body})
    removed = _remove(client, repository, others)
    return CommentOutcome(ours[first][0].html_url, f"created a comment{removed}")


def _remove(client: Client, repository: str, ids: Sequence[int]) -> str:
    """Delete duplicates; another run may do so at the same time."""
    for id_ in ids:
        try:
            client.delete(_comment_path(repository, id_))
        except GitHubError as error:
            if error.status != _NOT_FOUND:
                return f"; a second comment of this suite stays: {error.message}"
    return "; removed the second one of a run at the same time" if ids else ""


def _create(
    client: Client, path: str, text: Mapping[str, str], author: str, left: int = 2
) -> Comment:
    """Create a comment. If GitHub fails, check whether it was created anyway, and try again.

    A gateway in front of GitHub may give up although the request succeeds a moment later.
    """
    try:
        return Comment.read(client.post(path, text), path)
    except GitHubError as error:
        if (error.status or _SERVER_ERROR) < _SERVER_ERROR:
            raise  # it was refused
        with suppress(GitHubError):
            for one, found in _own(_comments(client, path), author):
                if found == marker_in(text["body"]):
                    return one
        if left == 1:
            raise
    return _create(client, path, text, author, left - 1)


def own_markers(client: Client, repository: str, number: int) -> tuple[Marker, ...]:
    """The markers of benchgate's comments on a pull request, the newest of each suite.

    Raises:
        GitHubError: GitHub could not be reached, or refused.
    """
    comments = _comments(client, _list_path(repository, number))
    found = [marker for _, marker in _own(comments, own_login(client))]
    return tuple(
        {one.suite: one for one in sorted(found, key=lambda x: (x.run, x.attempt))}.values()
    )


def own_login(client: Client) -> str:
    """The account that writes: GitHub names the owner of a personal token, but not a job's."""
    path = "/user"
    try:
        return User.read(client.get(path), path).login
    except GitHubError as error:
        if error.status != _FORBIDDEN:
            raise
        return JOB_LOGIN


def _head_now(client: Client, repository: str, number: int) -> str:
    """The last commit of the pull request; "" if the token may comment but not read it."""
    path = f"/repos/{repository}/pulls/{number}"
    try:
        return PullRequest.read(client.get(path), path).head.sha
    except GitHubError as error:
        if error.status not in {_FORBIDDEN, _NOT_FOUND}:
            raise
        return ""


def _comment_path(repository: str, id_: int) -> str:
    return f"/repos/{repository}/issues/comments/{id_}"


def _list_path(repository: str, number: int) -> str:
    return f"/repos/{repository}/issues/{number}/comments"


def _comments(client: Client, path: str) -> Iterator[Comment]:
    return islice((Comment.read(item, path) for item in client.pages(path)), _MOST_COMMENTS)


def _own(comments: Iterable[Comment], author: str) -> Iterator[tuple[Comment, Marker]]:
    for comment in comments:
        if _is_by(comment, author) and (found := marker_in(comment.body)) is not None:
            yield comment, found


def _is_by(comment: Comment, login: str) -> bool:
    return comment.user is not None and comment.user.login.casefold() == login.casefold()


def _strange(created: Comment, author: str) -> str:
    """The token of an app cannot be asked for its account."""
    if _is_by(created, author):
        return ""
    actual = created.user.login if created.user else "nobody"
    return f" as {actual}, but the next run looks for one by {author}: use the job's own token"
