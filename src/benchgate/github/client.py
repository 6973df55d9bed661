"""A client for the part of GitHub's REST API that benchgate uses: every failure is an error.

Every function that takes a client raises a GitHubError if GitHub refuses, does not answer, or does
not have what is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from pydantic_core import from_json
from requests.utils import parse_header_links

from benchgate.errors import GitHubError, UsageError
from benchgate.github.answers import Answer, Request, harmless
from benchgate.github.objects import (
    Commit,
    CommitComparison,
    IssueEvent,
    Permission,
    PullRequest,
    Review,
    WorkflowRun,
)
from benchgate.github.retries import decide
from benchgate.github.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from benchgate.github.answers import Reply
    from benchgate.github.objects import User
    from benchgate.github.runner import WorkflowRunEvent
    from benchgate.github.transport import Token


LIMIT_S: Final = 90.0
"""Time limit of one call, including repetitions and all pages.

If GitHub limits requests, it mostly asks for a wait of a minute, which must fit in.
"""

MAX_JSON_BYTES: Final = 32 << 20
MAX_PAGES: Final = 100
PAGE_SIZE: Final = 100
"""The most that GitHub returns on one page."""

_BETWEEN_WRITES_S = 1.0  # GitHub's advice for creating content


class Client:
    """Sends requests to GitHub, and repeats them within limits if they fail.

    Every method raises a GitHubError if GitHub refuses, does not answer in time, or gives an answer
    that cannot be understood. The error names the method, the path and the status.

    Args:
        api_url: "https://api.github.com", or "https://HOST/api/v3" of a GitHub Enterprise Server.
        token: None to read public data only.
        clock: seconds; never goes backwards.
        draw: returns a random number from 0 to 1.
    """

    def __init__(
        self,
        api_url: str,
        token: Token | None,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        draw: Callable[[], float],
        limit_s: float = LIMIT_S,
    ) -> None:
        self._api_url = api_url.rstrip("/")
        self._transport = Transport(api_url, token, clock=clock)
        self._clock = clock
        self._sleep = sleep
        self._draw = draw
        self._limit_s = limit_s
        self._next_write_s = clock()

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Get the object at a path.

        Args:
            path: below the API's address; begins with a slash, and is quoted if needed.
        """
        request = Request("GET", path, self._url(path, params))
        return _object(request, _parsed(request, self._ask(request, limit_s=self._limit_s)))

    def pages(
        self, path: str, params: Mapping[str, str] | None = None, *, key: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Get the objects of a list; a page is requested after the previous one was used up.

        Args:
            key: key of the list, if the answer is an object that holds the list.
        """
        url = self._url(path, {"per_page": str(PAGE_SIZE), **(params or {})})
        request = Request("GET", path, url)
        left_s = self._limit_s
        for _ in range(MAX_PAGES):
            asked_s = self._clock()
            answer = self._ask(request, limit_s=left_s)
            left_s -= self._clock() - asked_s
            yield from _items(request, _parsed(request, answer), key)
            following = _next_page(answer)
            if following is None:
                return
            if not self._transport.is_api(following):
                raise _unbelievable(request, "its next page is on another host")
            request = replace(request, url=following)
        raise _unbelievable(request, f"it has more than {MAX_PAGES} pages")

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Create an object; return it.

        A request is not repeated if GitHub may have done it: the hint of the error says so.
        """
        return self._write("POST", path, body)

    def patch(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        return self._write("PATCH", path, body)

    def delete(self, path: str) -> None:
        self._send(Request("DELETE", path, self._url(path, None)))

    def download(self, path: str, *, limit_bytes: int) -> bytes | None:
        """Download from a path, maybe from another host; None if there is more than the limit."""
        request = Request("GET", path, self._url(path, None))
        return self._ask(request, limit_s=self._limit_s, limit_bytes=limit_bytes).body

    def _url(self, path: str, params: Mapping[str, str] | None) -> str:
        return f"{self._api_url}{path}{'?' + urlencode(params) if params else ''}"

    def _write(self, method: str, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        request = Request(method, path, self._url(path, None), body)
        return _object(request, _parsed(request, self._send(request)))

    def _send(self, request: Request) -> Answer:
        """Send a request that changes something, some time after the one before."""
        if (wait_s := self._next_write_s - self._clock()) > 0:
            self._sleep(wait_s)
        try:
            return self._ask(request, limit_s=self._limit_s)
        finally:
            self._next_write_s = self._clock() + _BETWEEN_WRITES_S

    def _ask(
        self, request: Request, *, limit_s: float, limit_bytes: int = MAX_JSON_BYTES
    ) -> Answer:
        deadline_s = self._clock() + limit_s
        failures: list[Reply] = []
        while True:
            reply = self._transport.exchange(
                request, limit_bytes=limit_bytes, deadline_s=deadline_s
            )
            if isinstance(reply, Answer) and reply.is_success:
                return reply
            failures.append(reply)
            left_s = deadline_s - self._clock()
            decision = decide(request, failures, left_s=left_s, draw=self._draw())
            if isinstance(decision, GitHubError):
                raise decision
            self._sleep(decision)


def _parsed(request: Request, answer: Answer) -> object:
    if answer.body is None:
        raise _unbelievable(request, f"it holds more than {MAX_JSON_BYTES} bytes")
    try:
        document: object = from_json(answer.body)
    except ValueError:
        raise _unbelievable(request, "it is not JSON") from None
    return document


def _object(request: Request, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _unbelievable(request, "it is not an object")
    return value


def _items(request: Request, page: object, key: str | None) -> list[dict[str, Any]]:
    values = page if key is None else _object(request, page).get(key)
    if not isinstance(values, list):
        raise _unbelievable(request, f"{f'`{key}`' if key else 'it'} is not a list")
    return [_object(request, value) for value in values]


def _next_page(answer: Answer) -> str | None:
    links = parse_header_links(answer.headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), None)


def _unbelievable(request: Request, why: str) -> GitHubError:
    return GitHubError(
        f"{request.method} {request.path}: GitHub's answer cannot be used: {why}",
        hint="A proxy may have answered instead of GitHub: check GITHUB_API_URL.",
    )


MOST_ASKED: Final = 10
"""Most people that are checked: finding out who has write access takes a request each."""

_PERSON = "User"
_MAY_WRITE = frozenset({"admin", "write"})
_LABELLING = frozenset({"labeled", "unlabeled"})
_RUN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[\w.-]+(?::[0-9]{1,5})?)"
    r"/(?P<repository>[A-Za-z0-9][\w-]*/(?!\.{1,2}/)[\w.-]+)/actions/runs/(?P<run>[0-9]{1,18})"
    r"(?:/attempts/(?P<attempt>[0-9]{1,9}))?(?:/job/[0-9]{1,18})?/?(?:[?#].*)?",
    re.ASCII,
)
_FORM = "It looks like https://github.com/OWNER/REPOSITORY/actions/runs/1234567890."


def find_pull_requests(
    client: Client, repository: str, run: WorkflowRunEvent
) -> tuple[PullRequest, ...]:
    """Find the open pull requests whose current head a run measured; maybe none.

    Nothing that the run itself says is trusted: branch, commit and repository must be those that
    GitHub knows of the pull request. Several pull requests may have the same head.
    """
    head = run.head_repository
    if head is None or run.head_branch is None:
        return ()
    path = f"/repos/{repository}/pulls"
    owner = head.full_name.partition("/")[0]
    params = {"state": "open", "head": f"{owner}:{run.head_branch}"}
    pulls = (PullRequest.read(item, path) for item in client.pages(path, params))
    return tuple(
        pull
        for pull in pulls
        if pull.head.repo is not None
        and pull.head.repo.id == head.id
        and pull.head.sha == run.head_sha
        and pull.state == "open"
    )


def read_pull_request(client: Client, repository: str, number: int) -> PullRequest:
    path = f"/repos/{repository}/pulls/{number}"
    return PullRequest.read(client.get(path), path)


def merge_base(client: Client, repository: str, base: str, head: str) -> str:
    """Find the merge base of two commits or branches."""
    path = f"/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
    return CommitComparison.read(client.get(path), path).merge_base_commit.sha


def commit_of(client: Client, repository: str, name: str) -> str:
    """Find the commit that a branch, tag or hash names."""
    path = f"/repos/{repository}/commits/{quote(name, safe='')}"
    return Commit.read(client.get(path), path).sha


def approver(client: Client, repository: str, pull: PullRequest) -> str | None:
    """The login of a person with write access who has approved the head; None if nobody has.

    Only the latest review of each reviewer counts, and only if it is of exactly this commit.
    Neither the author of the pull request nor an app counts. Anybody can approve a public pull
    request, so benchgate asks about reviewers first who belong to the repository.
    """
    path = f"/repos/{repository}/pulls/{pull.number}/reviews"
    last: dict[str, Review] = {}
    for item in client.pages(path):
        review = Review.read(item, path)
        if review.user and review.decides:
            last[review.user.login.lower()] = review
    approved = [one for one in last.values() if one.approves and one.commit_id == pull.head.sha]
    approved.sort(key=lambda one: not one.is_of_the_house)
    return _first_who_may(client, repository, (one.user for one in approved), pull.user)


def labeler(
    client: Client, repository: str, pull: PullRequest, label: str, *, since: datetime
) -> str | None:
    """The login of a person with write access who set a label that is still there; or None.

    A label outlives the commit that it was set for, so it must have been set after the head came.

    Args:
        since: a time when the head was there already.
    """
    path = f"/repos/{repository}/issues/{pull.number}/events"
    events = (IssueEvent.read(item, path) for item in client.pages(path))
    of_label = [one for one in events if one.event in _LABELLING and one.is_of(label)]
    if not of_label or of_label[-1].event != "labeled" or of_label[-1].created_at <= since:
        return None
    return _first_who_may(client, repository, [of_label[-1].actor], author=None)


def _first_who_may(
    client: Client, repository: str, users: Iterable[User | None], author: User | None
) -> str | None:
    """The first of these people who has write access to the repository; None if nobody has.

    Args:
        author: author of the pull request, who does not count.
    """
    asked = 0
    for login in (user.login for user in users if user and user.type == _PERSON):
        if author and login.lower() == author.login.lower():
            continue
        if asked == MOST_ASKED:
            return None
        asked += 1
        path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
        if Permission.read(client.get(path), path).permission in _MAY_WRITE:
            return login
    return None


def read_run(client: Client, repository: str, id_: int) -> WorkflowRun:
    path = f"/repos/{repository}/actions/runs/{id_}"
    return WorkflowRun.read(client.get(path), path)


def list_runs(
    client: Client, repository: str, *, branch: str, event: str, most: int
) -> tuple[WorkflowRun, ...]:
    """List the newest runs that an event started on a branch.

    They include pull requests from a fork's branch of the same name: tell these apart by event and
    head repository.
    """
    path = f"/repos/{repository}/actions/runs"
    listed = client.pages(path, {"branch": branch, "event": event}, key="workflow_runs")
    return tuple(WorkflowRun.read(item, path) for item in islice(listed, most))


@dataclass(frozen=True, slots=True)
class RunUrl:
    """The parts of a run's address.

    Attributes:
        api_url: API of the server in the address. Anybody may own that server: send it only a token
            that is meant for it.
        attempt: None if the address names none, which means the latest.
    """

    api_url: str
    repository: str
    run_id: int
    attempt: int | None


def parse_run_url(url: str) -> RunUrl:
    """Parse the address of a run, or of one of its attempts or jobs."""
    found = _RUN.fullmatch(url.strip())
    if found is None:
        raise UsageError(f"{harmless(url)!r} is not the URL of a workflow run", hint=_FORM)
    attempt = found["attempt"]
    return RunUrl(
        api_url=_api_url(found["scheme"], found["host"].lower()),
        repository=found["repository"],
        run_id=int(found["run"]),
        attempt=None if attempt is None else int(attempt),
    )


def _api_url(scheme: str, host: str) -> str:
    """The API's address for a server: github.com, a company's subdomain, or its own server."""
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"{scheme}://api.{host}"
    return f"{scheme}://{host}/api/v3"
