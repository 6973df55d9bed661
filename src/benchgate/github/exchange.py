"""Requests to GitHub, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_core import from_json

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
    body: bytes | None = None

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
        """Whether the request succeeded."""
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
