"""Publishes a verdict on GitHub: summary, comment, annotations, check run.

If something cannot be published, that is a warning and does not change the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchgate.errors import BenchgateError, GitHubError
from benchgate.github.comments import post_sticky
from benchgate.github.plan import CommentTime
from benchgate.github.runner import Annotation, Level, annotate, write_summary
from benchgate.model.verdict import Decision
from benchgate.report.escape import plain_line
from benchgate.report.remarks import remarks
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.github.comments import Api, Marker
    from benchgate.github.plan import CommentPlan
    from benchgate.report.view import VerdictView

USUAL_ENVIRONMENT: Final = "linux-x86_64"
"""The kind of GitHub's own Linux runners, on which most jobs run."""

_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class Target:
    """The pull request that gets a comment, and the comment's marker.

    Attributes:
        repository: e.g. "octo-org/hello".
        number: of the pull request.
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
        warnings: what could not be published.
        error: why there is no comment although one was wanted.
    """

    comment_url: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    error: GitHubError | None = None


def name_of(suite: str, environment: str) -> str:
    """The words that tell a verdict from others on the same pull request; "" for the usual one."""
    parts = (suite, DEFAULT_SUITE), (environment, USUAL_ENVIRONMENT)
    return ", ".join(part for part, usual in parts if part != usual)


def summarize(render: Callable[[int], str], environ: Mapping[str, str]) -> PublishOutcome:
    """Write the summary of the step.

    Args:
        render: makes the markdown, at most as many UTF-8 bytes long as its argument says.
    """
    try:
        why_not = write_summary(render, environ)
    except BenchgateError as error:
        return PublishOutcome(warnings=(f"no summary: {error.message}",))
    return PublishOutcome(notes=(f"no summary: {why_not}",) if why_not else ())


def comment(body: str, wanted: CommentPlan, target: Target | None, api: Api) -> PublishOutcome:
    """Write the comment, or update the existing one.

    Args:
        body: at most `COMMENT_BYTES` long.
        wanted: whether a comment is wanted, and the reason.
        target: None if the pull request is unknown.
    """
    if target is None or wanted.when in {CommentTime.NEVER, CommentTime.LATER}:
        where = " from here" if wanted.when is CommentTime.LATER else ""
        return PublishOutcome(notes=(f"no comment{where}: {wanted.why}",))
    try:
        posted = post_sticky(api, target.repository, target.number, body, target.marker)
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


def annotation_lines(view: VerdictView, *, passed: bool) -> list[str]:
    """The workflow commands that annotate the diff with each benchmark that got worse.

    If nothing got worse but the job fails, they say why, because the page of a run for a merge
    group or a push has no comment that says so.
    """
    level = Level.ERROR if view.decision is Decision.FAIL else Level.WARNING
    marks = [Annotation(one.text, one.title, one.location) for one in remarks(view)]
    if not marks and not passed:
        return annotate(Level.ERROR, [Annotation(view.headline, "benchgate")])
    return annotate(level, marks)


def error_lines(error: BenchgateError, redact: Callable[[str], str]) -> list[str]:
    """The workflow command that shows an error, and what to do, on the page of the run."""
    said = filter(None, (plain_line(error.message, 1000), plain_line(error.hint, 1000)))
    return annotate(Level.ERROR, [Annotation(redact("\n".join(said)), "benchgate")])
