"""A GitHub of a test's own: two hosts on loopback that hold GitHub's REST API to its description.

    with GitHubServer(Repository(id=1, full_name="octo-org/hello"), ...) as github:
        Client(github.api_url, ...)

Leaving raises an AssertionError where a request or an answer was does not match GitHub's API.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Self, TypeVar

from tests.contract.answers import Problem
from tests.contract.api import Api
from tests.contract.connection import LOOPBACK, Host, cut_short, hang_up
from tests.contract.downloads import Downloads
from tests.contract.faults import Fault, Faults
from tests.contract.journal import Journal
from tests.contract.state import State
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from wsgiref.types import StartResponse, WSGIEnvironment

    from tests.contract.journal import Asked
    from tests.contract.records import Record

T = TypeVar("T")


class GitHubServer:
    """Both hosts, what they hold, and what they were asked.

    Args:
        records: what there is to begin with.
        prefix: before every path of the API, such as `/api/v3`.
        before: called before each answer, with the state.
    """

    def __init__(
        self,
        *records: Record,
        prefix: str = "",
        before: Callable[[State], None] | None = None,
    ) -> None:
        self.state = State(*records)
        self.clock = self.state.clock
        self.faults = Faults()
        self._before = before or (lambda _: None)
        self._journal = Journal()
        self._downloads = Downloads(self.state, self._journal)
        self._api = Api(self.state, self._journal, self._downloads.sign, prefix)
        self._hosts = Host(self._serve_api, LOOPBACK), Host(self._serve_downloads, "localhost")
        self.api_url = self._api.url = self._hosts[0].url + prefix
        self._downloads.url = self._hosts[1].url

    def __enter__(self) -> Self:
        for host in self._hosts:
            host.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for host in self._hosts:
            host.stop()
        if error is None:
            self.check()
        elif self.violations:
            error.add_note("\n".join(self.violations))

    @property
    def violations(self) -> list[str]:
        """What no GitHub would have understood or answered so; a test that wants some clears it."""
        return self._journal.violations

    @property
    def requests(self) -> list[Asked]:
        return self._journal.requests

    def asked(self, pattern: str) -> list[Asked]:
        """Requests so far that are like `METHOD /path`, with `*` for anything."""
        return [request for request in self.requests if request.is_like(pattern)]

    def script(self, pattern: str, faults: Iterable[Fault]) -> None:
        """Answer the next requests like `METHOD /path` with these, one each."""
        self.faults.script(pattern, faults)

    def check(self) -> None:
        """Assert that everything was as GitHub describes it, and that every fault was met."""
        problems = [*self.violations, *(f"a fault nobody met: {x}" for x in self.faults.left())]
        assert not problems, "\n".join(problems)

    def _serve_api(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        path = self._api.path_of(request)
        self._journal.record("api", path, request)
        route = self._guarded(request, lambda: self._api.check(request, path))

        def answer() -> Response:
            return route if isinstance(route, Response) else self._api.answer(request, path, route)

        return self._served(request, path, answer)(environ, start)

    def _serve_downloads(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        self._journal.record("downloads", request.path, request)
        answer = self._downloads.answer
        return self._served(request, request.path, lambda: answer(request))(environ, start)

    def _served(
        self,
        request: Request,
        path: str,
        answer: Callable[[], Response],
    ) -> Response:
        """The answer, or what the fault that is due makes of it."""
        fault = self.faults.take(request.method, path) or Fault()
        if fault.drop_connection:
            hang_up(request.environ)
        if fault.status is not None:
            response = Problem(fault.status, fault.message).response()
        else:
            response = self._guarded(request, answer)
        if fault.truncate:
            cut_short(response, request.environ)
        return response

    def _guarded(self, request: Request, step: Callable[[], T]) -> T | Response:
        """Take one step at a time, on a state that is up to date."""
        try:
            with self.state.lock:
                self._before(self.state)
                return step()
        except Exception:  # noqa: BLE001 - a fault of this server's must fail the test, too
            self._journal.violation(request, f"this server failed: {traceback.format_exc()}")
            return Problem(500).response()
