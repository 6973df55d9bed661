"""Whether a request is one that GitHub understands, and an answer one that GitHub gives.

GitHub's description decides, and after it what it leaves open: GitHub ignores a misspelt query
parameter or an extra key, so that a client never learns of it; here each is a problem.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from openapi_core.contrib.werkzeug import WerkzeugOpenAPIRequest, WerkzeugOpenAPIResponse
from tests.contract import description
from tests.contract.answers import Problem
from tests.contract.paging import MOST_PER_PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.contract.routes import Route
    from werkzeug.wrappers import Request, Response

ACCEPT = "application/vnd.github+json"
API_VERSIONS = ("2022-11-28", "2026-03-10")
LONGEST_COMMENT = 65_536

_validating = threading.Lock()
# What was found before, by all that it depends on: openapi-core takes 8 ms for a request.
_found: dict[tuple[object, ...], list[str]] = {}
_NAMES_ONE = re.compile(rb"(?<=//)(?:127\.0\.0\.1|localhost):\d+|\b[0-9a-f]{40}\b")


class _AtGitHub(WerkzeugOpenAPIRequest):
    """The request as if it had been sent to GitHub's own host."""

    def __init__(self, request: Request, path: str) -> None:
        super().__init__(request)
        # The description knows no slash in a value; GitHub itself does.
        before, name, branch = path.partition("/commits/heads/")
        self._path = f"{before}/commits/heads%2F{quote(branch, safe='')}" if name else path

    @property
    def host_url(self) -> str:
        return description.HOST

    @property
    def path(self) -> str:
        return self._path


def problems_of_request(request: Request, path: str, route: Route) -> list[Problem]:
    """Find all that is wrong; the first is what GitHub would answer.

    Args:
        path: without a prefix, and by the repository's name.
    """
    return [
        *_headers(request),
        *_query(request, route),
        *_body(request, route),
        *_described(request, path),
    ]


def problems_of_answer(request: Request, path: str, route: Route, response: Response) -> list[str]:
    """Find what GitHub would not have answered so.

    The description does not list every refusal of every operation; those that it leaves out are
    held against its schema of an error.
    """
    answered = (response.status_code, response.data, str(response.headers).encode())
    return _once(
        (*_asked(request, path), *answered), lambda: _of_answer(request, path, route, response)
    )


def _of_answer(request: Request, path: str, route: Route, response: Response) -> list[str]:
    responses = description.operation(route.method, route.template)["responses"]
    if str(response.status_code) in responses:
        answered = WerkzeugOpenAPIResponse(response)
        validator = description.api().response_validator
        return [_words(one) for one in validator.iter_errors(_AtGitHub(request, path), answered)]
    if response.status_code >= 400:
        return [
            _words(x) for x in description.refusal().iter_errors(response.get_json(silent=True))
        ]
    return [f"GitHub never answers {response.status_code} here"]


def _headers(request: Request) -> Iterator[Problem]:
    if not request.headers.get("User-Agent"):
        yield Problem(403, "Request forbidden by administrative rules: no User-Agent header")
    if request.headers.get("Accept") != ACCEPT:
        yield Problem(415, f"Unsupported 'Accept' header: must accept '{ACCEPT}'")
    version = request.headers.get("X-GitHub-Api-Version", "none")
    if version not in API_VERSIONS:
        yield Problem(400, f"X-GitHub-Api-Version is {version}, not of {', '.join(API_VERSIONS)}")


def _query(request: Request, route: Route) -> Iterator[Problem]:
    described = description.query_parameters(route.method, route.template)
    for name, values in request.args.lists():
        if name not in described:
            yield Problem(422, f"no query parameter of this operation: {name}")
        elif name not in route.query:
            yield Problem(422, f"a query parameter that has no effect in this server: {name}")
        elif len(values) > 1:
            yield Problem(422, f"a query parameter given {len(values)} times: {name}")
    if request.args.get("per_page", 1, type=int) not in range(1, MOST_PER_PAGE + 1):
        yield Problem(422, f"per_page is not within 1 to {MOST_PER_PAGE}")
    if request.args.get("page", 1, type=int) < 1:
        yield Problem(422, "page is less than 1")
    if "head" in route.query and ":" not in request.args.get("head", ":"):
        yield Problem(422, "head is not owner:branch, and GitHub would list every pull request")


def _body(request: Request, route: Route) -> Iterator[Problem]:
    schema = description.body_schema(route.method, route.template)
    if schema is None:
        if request.get_data():
            yield Problem(400, "a body where the operation takes none")
        return
    body = request.get_json(silent=True, force=True)
    if not isinstance(body, dict):
        yield Problem(400, "Problems parsing JSON")
        return
    for key in _unknown_keys(schema, body):
        yield Problem(422, f"no key of this operation's body: {key}")
    if route.template.endswith(("/comments", "/comments/{comment_id}")):
        yield from _too_long(body.get("body"))


def _too_long(text: object) -> Iterator[Problem]:
    if isinstance(text, str) and len(text) > LONGEST_COMMENT:
        message = f"Body is too long (maximum is {LONGEST_COMMENT} characters)"
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
        yield Problem(422, errors=[error | {"message": message}])


def _unknown_keys(schema: dict[str, Any], value: object, where: str = "") -> Iterator[str]:
    schema = description.resolved(schema)
    if isinstance(value, dict) and "properties" in schema:
        for key, inner in value.items():
            if key in schema["properties"]:
                yield from _unknown_keys(schema["properties"][key], inner, f"{where}{key}.")
            else:
                yield f"{where}{key}"
    elif isinstance(value, list):
        for item in value:
            yield from _unknown_keys(schema.get("items", {}), item, where)


def _described(request: Request, path: str) -> Iterator[Problem]:
    def errors() -> list[str]:
        validator = description.api().request_validator
        return [_words(error) for error in validator.iter_errors(_AtGitHub(request, path))]

    for words in _once(_asked(request, path), errors):
        yield Problem(422, f"does not match GitHub's API: {words}")


def _asked(request: Request, path: str) -> tuple[object, ...]:
    sent = (path.encode(), request.query_string, request.get_data())
    return request.method, request.content_type, *sent


def _once(of: tuple[object, ...], find: Callable[[], list[str]]) -> list[str]:
    """Find it, or remember it: one port or one commit is as good as another."""
    key = tuple(_NAMES_ONE.sub(b"", x) if isinstance(x, bytes) else x for x in of)
    with _validating:
        if key not in _found:
            _found[key] = find()
    return _found[key]


def _words(error: Exception) -> str:
    details = [str(one) for one in getattr(error.__cause__, "schema_errors", ())]
    return "; ".join([str(error) or type(error).__name__, *details])
