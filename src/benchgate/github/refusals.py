"""The error of a request that failed: what was asked, what GitHub says, and what to do about it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from benchgate.errors import GitHubError
from benchgate.github.exchange import NoAnswer
from benchgate.units import format_duration

if TYPE_CHECKING:
    from benchgate.github.exchange import Answer, Outcome, Request

# What follows /repos/OWNER/NAME/, and the permission of a job that covers it.
_AREAS = {
    "actions": "actions",
    "check-runs": "checks",
    "issues": "pull-requests",  # nothing of an issue is used but comments, on pull requests
    "pulls": "pull-requests",
    "statuses": "statuses",
}
_ACCEPTED = re.compile(r"([a-z_]{1,40})=(read|write|admin)")
_MOST_ACCEPTED = 300

_SIGN_ON = "Authorize the token for the organization's single sign-on."
_READ_ONLY = (
    " A pull request from a fork has a read-only token whatever the workflow says:"
    " there, `benchgate publish` comments in a second workflow."
)
_UNAUTHORIZED = (
    "The token is missing, wrong or expired. The action passes the job's own; `benchgate ci` reads "
    "BENCHGATE_TOKEN, and `benchgate check --run` GITHUB_TOKEN or GH_TOKEN."
)
_EXPIRED = "Artifacts are kept as long as `retention-days` says; the next run leaves a new one."
_STORAGE = "Try again; a firewall must let {host} through as well."
_LATER = "Try again later; https://www.githubstatus.com tells of incidents."
_MAYBE_DONE = "It may have been done all the same: look before you repeat it."
_SOMETIME = "GitHub limits how often it is asked, and does not say until when: try again later."
_WHEN = "The limit ends in {wait}, which is longer than is waited for it here: try again then."


def failure(request: Request, outcome: Outcome, *, limited_s: float | None = None) -> GitHubError:
    """The error that ends a request.

    Args:
        limited_s: until a rate limit ends, where it is that which refuses; infinite where GitHub
            does not say.
    """
    what = f"{request.method} {request.path}"
    status = None
    if isinstance(outcome, NoAnswer):
        message = f"{what}: no answer from {outcome.host}: {outcome.reason}"
        hint = outcome.hint or _LATER
        is_known = not outcome.sent
    else:
        status = outcome.status
        who = f"the storage at {outcome.host}" if outcome.elsewhere else "GitHub"
        message = f"{what}: {who} answered {status}"
        if outcome.message:
            message = f"{message}: {outcome.message}"
        hint = _hint(request, outcome)
        is_known = status < 500
    if limited_s == math.inf:
        hint = _SOMETIME
    elif limited_s is not None:
        hint = _WHEN.format(wait=format_duration(limited_s))
    elif not request.is_repeatable and not is_known:
        hint = _MAYBE_DONE
    return GitHubError(message, hint=hint, status=status)


def _hint(request: Request, answer: Answer) -> str:
    if answer.elsewhere:
        return _STORAGE.format(host=answer.host)
    if answer.status == 403:
        return _permission_hint(request, answer)
    if answer.status == 404:
        return f"It is not there, or the token lacks `{_needed(request)}`, and may not see it."
    if answer.status == 410 and "/artifacts/" in request.path:
        return _EXPIRED
    if answer.status >= 500:
        return _LATER
    return _UNAUTHORIZED if answer.status == 401 else ""


def _permission_hint(request: Request, answer: Answer) -> str:
    if "SAML" in answer.message:
        return _SIGN_ON
    if not request.path.startswith("/repos/"):
        return "A job's own token may not ask this."
    needed = _accepted(answer) or _needed(request)
    hint = f"The token lacks `{needed}`: add it to the job's `permissions`."
    return hint if request.method == "GET" else hint + _READ_ONLY


def _needed(request: Request) -> str:
    """The permission that a request takes, as a workflow writes it: "actions: read"."""
    below = request.path.split("/")[4:5]  # of /repos/OWNER/NAME/
    area = _AREAS.get("".join(below), "contents")
    return f"{area}: {'read' if request.method == 'GET' else 'write'}"


def _accepted(answer: Answer) -> str:
    """The permissions that GitHub itself names, "issues=write; pull_requests=write"."""
    header = answer.headers.get("x-accepted-github-permissions", "")[:_MOST_ACCEPTED]
    ways = (
        "` and `".join(f"{area.replace('_', '-')}: {level}" for area, level in found)
        for found in map(_ACCEPTED.findall, header.split(";"))
        if found
    )
    return "` or `".join(ways)
