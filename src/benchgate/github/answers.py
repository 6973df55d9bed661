"""What an answer of GitHub means: whether it failed, why, and what to do."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_core import from_json

from benchgate.errors import GitHubError
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping


_LONGEST_MESSAGE = 300
_MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Request:
    """A request to read or to change something on GitHub.

    Attributes:
        method: "GET", "POST", "PATCH" or "DELETE".
        path: below the API's address and without a query, as shown in messages.
        body: as JSON; None for a GET or DELETE.
    """

    method: str
    path: str
    url: str
    body: Mapping[str, object] | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the same effect as once: a PATCH sets what it names."""
        return self.method != "POST"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, with any status.

    Attributes:
        elsewhere: whether a redirect led away from the API.
        headers: names are looked up in lower case.
        body: None if it is larger than the limit.
    """

    host: str
    elsewhere: bool
    status: int
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """GitHub's description of a failure, made safe and on one line; "" if there is none."""
        try:
            said = from_json(self.body or b"")
        except ValueError:
            return ""
        if not isinstance(said, dict):
            return ""
        errors = said.get("errors")
        parts = [said.get("message"), *(errors[:_MOST_ERRORS] if isinstance(errors, list) else ())]
        return harmless(": ".join(filter(None, map(_words, parts))))


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """No complete answer arrived.

    Attributes:
        reason: the cause, to end the sentence "no answer from api.github.com: ".
        sent: whether the request may have arrived.
        is_final: whether a repeated request would fail in the same way.
    """

    host: str
    reason: str
    sent: bool = True
    hint: str = ""
    is_final: bool = False


Reply: TypeAlias = Answer | NoAnswer


def harmless(text: str) -> str:
    """One line of bounded length, without control, direction and invisible characters."""
    shown = "".join(c if c.isprintable() else " " for c in text[: 10 * _LONGEST_MESSAGE])
    line = " ".join(shown.split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 3]}..."


def _words(part: Any) -> str:  # noqa: ANN401 - whatever the answer holds
    """A message, or one of the errors of a "Validation Failed"."""
    if isinstance(part, dict):
        return str(part.get("message") or f"{part.get('field', '')} {part.get('code', '')}".strip())
    return part if isinstance(part, str) else ""


# The path after /repos/OWNER/NAME/, and the permission that a job needs for it.
_AREAS = {
    "actions": "actions",
    "check-runs": "checks",
    "issues": "pull-requests",  # benchgate uses only comments on pull requests
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


def failure(request: Request, reply: Reply, *, limited_s: float | None = None) -> GitHubError:
    """Make the error that ends a request.

    Args:
        limited_s: until a rate limit ends, if that is why GitHub refuses; infinite if GitHub does
            not say.
    """
    what = f"{request.method} {request.path}"
    status = None
    if isinstance(reply, NoAnswer):
        message = f"{what}: no answer from {reply.host}: {reply.reason}"
        hint = reply.hint or _LATER
        is_known = not reply.sent
    else:
        status = reply.status
        who = f"the storage at {reply.host}" if reply.elsewhere else "GitHub"
        message = f"{what}: {who} answered {status}"
        if reply.message:
            message = f"{message}: {reply.message}"
        hint = _hint(request, reply)
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
    """The permission that a request needs, as a workflow writes it: "actions: read"."""
    below = request.path.split("/")[4:5]  # the part after /repos/OWNER/NAME/
    area = _AREAS.get("".join(below), "contents")
    return f"{area}: {'read' if request.method == 'GET' else 'write'}"


def _accepted(answer: Answer) -> str:
    """The permissions that GitHub names itself, "issues=write; pull_requests=write"."""
    header = answer.headers.get("x-accepted-github-permissions", "")[:_MOST_ACCEPTED]
    ways = (
        "` and `".join(f"{area.replace('_', '-')}: {level}" for area, level in found)
        for found in map(_ACCEPTED.findall, header.split(";"))
        if found
    )
    return "` or `".join(ways)
