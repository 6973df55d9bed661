"""Writes the comment of a job, or says why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchgate.errors import GitHubError
from benchgate.github.comments import post_sticky
from benchgate.github.plan import CommentPlan, CommentTime

if TYPE_CHECKING:
    from benchgate.github.client import Client
    from benchgate.github.comments import Marker


_FORBIDDEN: Final = 403
_PUBLISHES: Final = "a second workflow with `benchgate publish` can comment"


@dataclass(frozen=True, slots=True)
class CommentTarget:
    """The pull request that gets a comment, and the comment's marker.

    Attributes:
        marker: tells the comments apart by suite and kind of machine; it also names the commit that
            was judged and the run that measured it.
    """

    repository: str
    number: int
    marker: Marker


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """What was published, and what could not be.

    Attributes:
        comment_url: "" if there is none.
        notes: for the log.
        error: why there is no comment although one was wanted.
    """

    comment_url: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    error: GitHubError | None = None


def comment(
    body: str, wanted: CommentPlan, target: CommentTarget | None, client: Client
) -> PublishOutcome:
    """Write the comment, or update the existing one.

    Args:
        body: at most `COMMENT_BYTES` long.
        wanted: whether a comment is wanted, and the reason.
        target: None if the pull request is unknown.
    """
    if wanted.when is CommentTime.LATER:
        return PublishOutcome(notes=(f"no comment from this job: {wanted.why}; {_PUBLISHES}",))
    if target is None or wanted.when is CommentTime.NEVER:
        return PublishOutcome(notes=(f"no comment: {wanted.why}",))
    try:
        posted = post_sticky(client, target.repository, target.number, body, target.marker)
    except GitHubError as error:
        if wanted.when is CommentTime.IF_ALLOWED and error.status == _FORBIDDEN:
            return PublishOutcome(notes=(f"no comment: {wanted.why}",))
        return no_comment(error)
    if not posted.url:
        return PublishOutcome(warnings=(posted.what,))
    return PublishOutcome(posted.url, notes=(posted.what,))


def no_comment(error: GitHubError) -> PublishOutcome:
    """Report that GitHub did not let benchgate write a comment."""
    warning = f"no comment: {error.message}. {error.hint}".rstrip()
    return PublishOutcome(warnings=(warning,), error=error)
