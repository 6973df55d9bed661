"""Writes the report that a job keeps as a page of HTML, with figures of every benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.ci.announce import PublishOutcome
from benchgate.errors import BenchgateError
from benchgate.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.ci.readers import Readers
    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.verdict import Verdict


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
    try:
        page = render_report(shown, figures(), readers.redact, links=readers.links(shown))
        write_atomic(path, page.encode())
    except BenchgateError as error:
        return PublishOutcome(warnings=(f"no report as a page of HTML: {error.message}",))
    return PublishOutcome()
