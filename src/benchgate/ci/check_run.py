"""The check run of a job, and the page of its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.ci.commenting import PublishOutcome
from benchgate.errors import without_it
from benchgate.escape import plain_line
from benchgate.files import write_atomic
from benchgate.model.verdict import Decision
from benchgate.report.markdown import render_comment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.ci.readers import Readers
    from benchgate.github.client import Client
    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.verdict import Verdict
    from benchgate.report.view import VerdictView


_SUMMARY_BYTES: Final = 65_535
_TITLE_CHARACTERS: Final = 250
_CONCLUSIONS = {Decision.FAIL: "failure", Decision.PASS: "success", Decision.NO_VERDICT: "neutral"}


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


def write_page(
    path: Path,
    verdict: Verdict,
    figures: Callable[[], Mapping[str, BenchmarkFigures]],
    readers: Readers,
) -> PublishOutcome:
    """Write the page; if that is impossible, warn.

    Args:
        figures: computes them from the result that the verdict is about.
    """
    from benchgate.page.report import render_report  # noqa: PLC0415 - loads Jinja2

    shown = readers.as_known(verdict)

    def write() -> None:
        page = render_report(shown, figures(), readers.redact, links=readers.links(shown))
        write_atomic(path, page.encode())

    lost: list[str] = []
    without_it("report as a page of HTML", write, None, lost.append)
    return PublishOutcome(warnings=tuple(lost))
