"""Writes the page of a history, with links to the repository on its host."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from benchgate.git.repository import github_repository
from benchgate.report.history_view import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git
    from benchgate.model.history import History
    from benchgate.model.redact import Redactor

_GITHUB: Final = "https://github.com"
_SERVER: Final = re.compile(r"https?://[\w.-]+(?::\d+)?", re.ASCII)
_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def page_of_history(history: History, git: Git | None, redact: Redactor) -> bytes:
    """The history as a page of HTML."""
    from benchgate.page.history import render_history_page  # noqa: PLC0415 - only for a page

    address = repository_address(git, os.environ)
    return render_history_page(without_secrets(history, redact), repository=address).encode()


def repository_address(git: Git | None, environ: Mapping[str, str]) -> str:
    """The address without a slash at the end, e.g. "https://github.com/octo-org/hello".

    In a job it is the job's own repository, and otherwise the first remote on github.com; "" if
    there is none.
    """
    name = environ.get("GITHUB_REPOSITORY", "")
    server = environ.get("GITHUB_SERVER_URL") or _GITHUB
    if not name:
        name, server = (github_repository(git) if git else None) or "", _GITHUB
    known = _NAME.fullmatch(name) and _SERVER.fullmatch(server)
    return f"{server}/{name}" if known else ""
