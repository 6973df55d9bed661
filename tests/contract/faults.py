"""Faults on script: GitHub having a bad day, at the request where a test wants it."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to a request; what is not named happens as usual.

    Args:
        status: answered instead of the request's own answer.
        message: in the JSON of the status; GitHub's own words where empty.
        drop_connection: hang up without an answer.
        truncate: hang up in the middle of the answer's body, when the request has had its effect.
    """

    status: int | None = None
    message: str = ""
    drop_connection: bool = False
    truncate: bool = False


class Faults:
    """Faults by pattern: `METHOD /path` of a request without its query, with `*` for anything.

    Artifacts are downloaded from `GET /artifacts/<id>`, whose faults are scripted likewise.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scripted: list[tuple[str, deque[Fault]]] = []
        self._standing: list[tuple[str, Fault]] = []

    def script(self, pattern: str, faults: Iterable[Fault]) -> None:
        """Answer one request with each, in order; the requests after them as usual."""
        with self._lock:
            self._scripted.append((pattern, deque(faults)))

    def always(self, pattern: str, fault: Fault) -> None:
        """Answer every request so but for those with a fault on script."""
        with self._lock:
            self._standing.append((pattern, fault))

    def take(self, method: str, path: str) -> Fault | None:
        asked = f"{method} {path}"
        with self._lock:
            for pattern, faults in self._scripted:
                if faults and fnmatchcase(asked, pattern):
                    return faults.popleft()
            return next((one for of, one in self._standing if fnmatchcase(asked, of)), None)

    def left(self) -> list[str]:
        """Patterns with faults on script that no request met."""
        with self._lock:
            return [pattern for pattern, faults in self._scripted if faults]
