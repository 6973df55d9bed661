"""The API's host: what happens to a request, from its arrival to GitHub's answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.contract import routes, tokens
from tests.contract.answers import Problem
from tests.contract.call import Call
from tests.contract.records import Repository
from tests.contract.validation import problems_of_answer, problems_of_request
from tests.contract.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.journal import Journal
    from tests.contract.records import Artifact
    from tests.contract.routes import Route
    from tests.contract.state import State
    from werkzeug.wrappers import Request, Response


class Api:
    """The steps of an answer; the server takes them.

    Args:
        prefix: before every path, such as `/api/v3` of a GitHub Enterprise Server.
    """

    def __init__(
        self,
        state: State,
        journal: Journal,
        sign: Callable[[Artifact], str],
        prefix: str,
    ) -> None:
        self._state = state
        self._journal = journal
        self._sign = sign
        self._prefix = prefix
        self.url = ""

    def path_of(self, request: Request) -> str:
        """The path as routes know it; Link headers of GitHub's name a repository by its id."""
        path = request.path.removeprefix(self._prefix)
        found = re.match(r"/repositories/(\d+)(?=/|$)", path)
        if found:
            for repository in self._state.all(Repository):
                if repository.id == int(found[1]):
                    return f"/repos/{repository.full_name}{path[found.end() :]}"
        return path

    def check(self, request: Request, path: str) -> Route | Response:
        """Find a request's route; where the request is not as it should be, the refusal."""
        found = routes.find(request.method, path)
        if found is None or not request.path.startswith(f"{self._prefix}/"):
            self._journal.violation(request, "no operation that is known here")
            return Problem(404).response()
        route, _ = found
        problems = problems_of_request(request, path, route)
        for problem in problems:
            details = "".join(f": {error['message']}" for error in problem.errors)
            self._journal.violation(request, f"{problem.message}{details}")
        return problems[0].response() if problems else route

    def answer(self, request: Request, path: str, route: Route) -> Response:
        """Answer a request that is as it should be."""
        try:
            response = self._handled(request, path, route)
        except Problem as problem:
            response = problem.response()
        for text in problems_of_answer(request, path, route, response):
            self._journal.violation(request, f"this server's answer: {text}")
        return response

    def _handled(self, request: Request, path: str, route: Route) -> Response:
        token = tokens.token_of(request.headers.get("Authorization"), self._state)
        call = Call(
            state=self._state,
            views=Views(self._state, self.url),
            token=token,
            path=route.match(request.method, path) or {},
            query=request.args.to_dict(),
            body=request.get_json() if request.is_json else {},
            url=self._address(path),
            sign=self._sign,
        )
        if "{repo}" in route.template:
            call.repository()
        tokens.require(token, route.needs)
        return route.handler(call)

    def _address(self, path: str) -> str:
        """Where the list of this path is, as Link headers name it."""
        names = re.match(r"/repos/([^/]+/[^/]+)", path)
        repository = self._state.repository(names[1]) if names else None
        if names is None or repository is None:
            return f"{self.url}{path}"
        return f"{self.url}/repositories/{repository.id}{path[names.end() :]}"
