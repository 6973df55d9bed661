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
    """One question, or one thing to do.

    Attributes:
        method: "GET", "POST" or "PATCH".
        path: below the API's address and without a query, as messages show it.
        url: in full.
        body: as JSON; None for a GET.
    """

    method: str
    path: str
    url: str
    body: bytes | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether doing it twice is the same as doing it once: a PATCH sets what it names."""
        return self.method != "POST"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whatever it says.

    Attributes:
        host: that gave it.
        elsewhere: whether a redirect led away from the API.
        headers: by names that are looked up in lower case.
        body: None if it is larger than the limit.
    """

    host: str
    elsewhere: bool
    status: int
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def is_success(self) -> bool:
        """Whether the server did what was asked."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """What GitHub says of a failure, in one harmless line; empty if it says nothing."""
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
    """None came, or it broke off.

    Attributes:
        host: that was asked.
        reason: why, as the end of "no answer from api.github.com: ".
        sent: whether the request may have arrived.
        hint: what to do about it.
        is_final: whether it would fail like this again.
    """

    host: str
    reason: str
    sent: bool = True
    hint: str = ""
    is_final: bool = False


Outcome: TypeAlias = Answer | NoAnswer


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
