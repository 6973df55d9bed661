"""Every operation that the server knows: the same as its copy of GitHub's description holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.contract import reading, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.call import Call
    from tests.contract.tokens import Need
    from werkzeug.wrappers import Response


@dataclass(frozen=True, slots=True)
class Route:
    """One operation.

    Args:
        template: path as in GitHub's description.
        needs: permissions of which one is enough; empty where every token will do.
        query: parameters that have their effect here.
    """

    method: str
    template: str
    handler: Callable[[Call], Response]
    needs: tuple[Need, ...] = ()
    query: frozenset[str] = frozenset()

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """Give the values in the path, where it is this route's."""
        if method != self.method:
            return None
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(self.template))
        # A branch may be given as `heads/NAME`, with its slash quoted or not.
        pattern = pattern.replace("(?P<ref>[^/]+)", "(?P<ref>[^/]+|heads/.+)")
        found = re.fullmatch(pattern, path)
        return found.groupdict() if found else None


_ACTIONS: tuple[Need, ...] = (("actions", "read"),)
_CONTENTS: tuple[Need, ...] = (("contents", "read"),)
_CHECKS: tuple[Need, ...] = (("checks", "write"),)
_PULLS: tuple[Need, ...] = (("pull-requests", "read"),)
_READ_ISSUES: tuple[Need, ...] = (("issues", "read"), ("pull-requests", "read"))
_READ_COMMENTS: tuple[Need, ...] = (("issues", "read"), ("pull-requests", "read"))
_WRITE_COMMENTS: tuple[Need, ...] = (("issues", "write"), ("pull-requests", "write"))

_PAGES = frozenset({"page", "per_page"})
_RUNS = _PAGES | {"branch", "event", "head_sha", "status"}

_REPO = "/repos/{owner}/{repo}"
_COMMENT = f"{_REPO}/issues/comments/{{comment_id}}"
_COMMENTS = f"{_REPO}/issues/{{issue_number}}/comments"

ROUTES = (
    Route("GET", "/user", reading.user),
    Route("GET", _REPO, reading.repository),
    Route("GET", f"{_REPO}/actions/artifacts", reading.artifacts, _ACTIONS, _PAGES | {"name"}),
    Route(
        "GET",
        f"{_REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}",
        reading.artifact_zip,
        _ACTIONS,
    ),
    Route("GET", f"{_REPO}/actions/runs", reading.runs, _ACTIONS, _RUNS),
    Route("GET", f"{_REPO}/actions/runs/{{run_id}}", reading.run, _ACTIONS),
    Route(
        "GET",
        f"{_REPO}/actions/runs/{{run_id}}/artifacts",
        reading.artifacts_of_run,
        _ACTIONS,
        _PAGES | {"name"},
    ),
    Route("GET", f"{_REPO}/collaborators/{{username}}/permission", reading.permission),
    Route("POST", f"{_REPO}/check-runs", writing.create_check_run, _CHECKS),
    Route("PATCH", f"{_REPO}/check-runs/{{check_run_id}}", writing.update_check_run, _CHECKS),
    Route("GET", f"{_REPO}/commits/{{ref}}", reading.commit, _CONTENTS),
    Route("GET", f"{_REPO}/compare/{{basehead}}", reading.comparison, _CONTENTS),
    Route("PATCH", _COMMENT, writing.update_comment, _WRITE_COMMENTS),
    Route("DELETE", _COMMENT, writing.delete_comment, _WRITE_COMMENTS),
    Route("GET", _COMMENTS, reading.comments, _READ_COMMENTS, _PAGES),
    Route("POST", _COMMENTS, writing.create_comment, _WRITE_COMMENTS),
    Route(
        "GET", f"{_REPO}/issues/{{issue_number}}/events", reading.issue_events, _READ_ISSUES, _PAGES
    ),
    Route("GET", f"{_REPO}/pulls", reading.pulls, _PULLS, _PAGES | {"head", "state"}),
    Route("GET", f"{_REPO}/pulls/{{pull_number}}", reading.pull, _PULLS),
    Route("GET", f"{_REPO}/pulls/{{pull_number}}/reviews", reading.reviews, _PULLS, _PAGES),
)


def find(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Give the route of a request, and the values in its path."""
    for route in ROUTES:
        values = route.match(method, path)
        if values is not None:
            return route, values
    return None
