"""Answers as GitHub words them: JSON, and problems with the status and the sentence it uses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, Any]

DOCUMENTATION = "https://docs.github.com/rest"
MESSAGES = {
    400: "Bad Request",
    401: "Bad credentials",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    422: "Validation Failed",
    429: "You have exceeded a secondary rate limit. Please wait before you try again.",
    500: "Server Error",
    502: "Server Error",
    503: "No server is currently available to service your request.",
}


def answer(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """JSON, or nothing where the content is None."""
    if content is None:
        return Response(status=status, headers=headers)
    text = json.dumps(content, ensure_ascii=False)
    return Response(text, status, headers, content_type="application/json; charset=utf-8")


class Problem(Exception):  # noqa: N818 - it is an answer, which is returned as often as raised
    """An answer of 4xx or 5xx.

    Args:
        message: GitHub's own for the status where empty.
        errors: details of a 422.
    """

    def __init__(
        self,
        status: int,
        message: str = "",
        *,
        errors: Sequence[Json] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.message = message or MESSAGES.get(status, "Error")
        self.errors = errors
        self.headers = headers
        super().__init__(f"{status} {self.message}")

    def response(self) -> Response:
        body: Json = {
            "message": self.message,
            "documentation_url": DOCUMENTATION,
            "status": str(self.status),
        }
        if self.errors:
            body["errors"] = list(self.errors)
        return answer(body, self.status, self.headers)
