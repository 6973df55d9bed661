"""The error of a failed request: what was asked, what GitHub says, and what to do."""

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
    " The token of a pull request from a fork is always read-only: use a second workflow"
    " with `benchgate publish` to comment there."
)
_UNAUTHORIZED = (
    "The token is missing, wrong or expired. The action passes the job's token; `benchgate ci` "
    "reads BENCHGATE_TOKEN, and `benchgate check --run` reads GITHUB_TOKEN or GH_TOKEN."
)
_EXPIRED = "`retention-days` sets how long GitHub keeps artifacts; the next run uploads a new one."
_STORAGE = "Try again. If a firewall is in the way, it must allow {host} too."
_LATER = "Try again later; https://www.githubstatus.com lists incidents."
_MAYBE_DONE = "GitHub may have done it anyway: check before you repeat it."
_SOMETIME = "GitHub limits the rate of requests, and does not say for how long. Try again later."
_WHEN = "The rate limit resets in {wait}, longer than benchgate waits. Try again then."


def failure(request: Request, outcome: Outcome, *, limited_s: float | None = None) -> GitHubError:
    """The error that ends a request.

    Args:
        limited_s: until a rate limit ends, if it is that which refuses; infinite if GitHub
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
        return f"It does not exist, or the token lacks `{_needed(request)}` and cannot see it."
    if answer.status == 410 and "/artifacts/" in request.path:
        return _EXPIRED
    if answer.status >= 500:
        return _LATER
    return _UNAUTHORIZED if answer.status == 401 else ""


def _permission_hint(request: Request, answer: Answer) -> str:
    if "SAML" in answer.message:
        return _SIGN_ON
    if not request.path.startswith("/repos/"):
        return "A job's own token has no access to this."
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
