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
from benchgate.model.outcome import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.comment import render_comment
from benchgate.report.escape import plain_line
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.github.client import Client
    from benchgate.github.comments import Api, Marker
    from benchgate.github.plan import CommentPlan
    from benchgate.report.benchmark_view import RowView
    from benchgate.report.view import VerdictView


USUAL_ENVIRONMENT: Final = "linux-x86_64"
"""The kind of GitHub's own Linux runners, on which most jobs run."""

_FORBIDDEN: Final = 403
_WRONG: Final = frozenset({Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT})
_NAME_LIMIT: Final = 200
_PUBLISHES: Final = "a second workflow with `benchgate publish` can comment"
_DEFINED_HERE: Final = "The benchmark is defined here. The cause may be in any line of this change."


_SUMMARY_BYTES: Final = 65_535
_TITLE_CHARACTERS: Final = 250
_CONCLUSIONS = {Decision.FAIL: "failure", Decision.PASS: "success", Decision.NO_VERDICT: "neutral"}


@dataclass(frozen=True, slots=True)
class Target:
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
    if wanted.when is CommentTime.LATER:
        return PublishOutcome(notes=(f"no comment from this job: {wanted.why}; {_PUBLISHES}",))
    if target is None or wanted.when is CommentTime.NEVER:
        return PublishOutcome(notes=(f"no comment: {wanted.why}",))
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
    marks = benchmark_annotations(view)
    if not marks and not passed:
        return annotate(Level.ERROR, [Annotation(view.sentence, "benchgate")])
    return annotate(level, marks)


def benchmark_annotations(view: VerdictView) -> list[Annotation]:
    """One annotation for each benchmark that regressed or failed, the worst first.

    It stands where the benchmark is defined, and says so: nobody knows which line made it slower.
    """
    annotations = []
    for one in view.shown:
        wrong = [row for row in one.rows if row.outcome in _WRONG]
        if wrong:
            said = [_said(row, view.interval_title) for row in wrong]
            if wrong[0].location and wrong[0].outcome is Outcome.REGRESSED:
                said.append(_DEFINED_HERE)
            title = f"{plain_line(wrong[0].benchmark, _NAME_LIMIT)} {wrong[0].outcome.value}"
            annotations.append(Annotation("\n".join(said), title, wrong[0].location))
    return annotations


def _said(row: RowView, interval_title: str) -> str:
    """The row in one line: "typical (p25): +14.6 % (95 % interval ...), 12.30 ms to 14.10 ms"."""
    compared = row.compared(interval_title)
    measured = f"{row.statistic}: {compared}" if compared else ""
    return "; ".join(filter(None, (measured, row.note)))


def error_lines(error: BenchgateError, redact: Callable[[str], str]) -> list[str]:
    """The workflow command that shows an error, and what to do, on the page of the run."""
    said = filter(None, (plain_line(error.message, 1000), plain_line(error.hint, 1000)))
    return annotate(Level.ERROR, [Annotation(redact("\n".join(said)), "benchgate")])


class CheckRun:
    """One check run, created before measuring begins.

    Args:
        now: the time of day, ISO 8601.

    Raises:
        GitHubError: the token lacks `checks: write`, or GitHub does not answer.
    """

    def __init__(
        self, client: Client, repository: str, *, name: str, head: str, now: Callable[[], str]
    ) -> None:
        self._client = client
        self._now = now
        path = f"/repos/{repository}/check-runs"
        created = client.post(
            path, {"name": name, "head_sha": head, "status": "in_progress", "started_at": now()}
        )
        self._path = f"{path}/{created['id']}"

    def conclude(self, view: VerdictView, *, passed: bool) -> None:
        """Conclude the check run with the verdict.

        Args:
            passed: whether the job passes, whatever the verdict says.
        """
        conclusion = _CONCLUSIONS[view.decision]
        if conclusion == "neutral" and not passed:
            conclusion = "failure"
        self._end(
            conclusion,
            title=plain_line(view.headline, _TITLE_CHARACTERS),
            summary=render_comment(view, limit_bytes=_SUMMARY_BYTES),
        )

    def give_up(self, why: str) -> None:
        """Conclude it without a verdict, so that nobody waits for one."""
        title = plain_line(why, _TITLE_CHARACTERS)
        self._end("cancelled", title="no verdict", summary=title)

    def _end(self, conclusion: str, *, title: str, summary: str) -> None:
        self._client.patch(
            self._path,
            {
                "status": "completed",
                "conclusion": conclusion,
                "completed_at": self._now(),
                "output": {"title": title, "summary": summary},
            },
        )
