"""A router: patterns such as /users/:id, and the handlers that they lead to."""

from __future__ import annotations

import re


class NoRouteError(LookupError):
    """No pattern matches the path."""


class Router:
    """Keeps patterns in the order in which they were added."""

    def __init__(self) -> None:
        self._fixed: dict[str, str] = {}
        self._patterns: list[tuple[re.Pattern[str], str]] = []

    def add(self, pattern: str, handler: str) -> None:
        """Lead a pattern to a handler; `:name` in it stands for any one part of a path."""
        if ":" not in pattern:
            self._fixed.setdefault(pattern, handler)
            return
        expression = re.sub(r":(\w+)", r"(?P<\1>[^/]+)", pattern)
        self._patterns.append((re.compile(expression), handler))

    def find(self, path: str) -> tuple[str, dict[str, str]]:
        """Return the handler of a path and the values of its parts.

        Raises:
            NoRouteError: no pattern matches.
        """
        if path in self._fixed:
            return self._fixed[path], {}
        for expression, handler in self._patterns:
            found = expression.fullmatch(path)
            if found:
                return handler, found.groupdict()
        raise NoRouteError(path)
