"""Describes benchmarks, and says before they are measured what is wrong with them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from .attributes import check_function
from .failures import Fault
from .functions import code_of
from .origins import file_of
from .standard import STANDARD_LIBRARY
from .workloads import Workloads, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .functions import Benchmark

PLAIN = (bool, int, float, str)
# Enough for any text that Python itself compiles.
DEPTH = 10_000


class Describer:
    """Describes the benchmarks of a file.

    It reads the file's text before the file's code can change what is found.

    Args:
        text: what is known of the file's text, as `Workloads` takes it.
    """

    check = staticmethod(check_function)
    digest = staticmethod(digest)

    def __init__(self, request: dict[str, Any], **text: Any) -> None:
        self._file = file = request["file"]
        self._root = request["root"]
        folders = [os.path.dirname(file), *request["path"], *request["path_after"]]
        # Importing the file reports what is wrong with its text.
        with deep_recursion(), suppress(OSError, SyntaxError, ValueError):
            try:
                self._workloads = Workloads(file, request["helpers"], folders, **text)
            except RecursionError:
                raise Fault("benchgate cannot read its text: it is nested too deeply") from None

    def describe(self, benchmarks: Iterable[Benchmark]) -> list[dict[str, Any]]:
        """Describe the benchmarks of the file, which has been imported now."""
        with deep_recursion():
            self._workloads.add_imported(map(file_of, list(sys.modules)))
            return [self._describe(each) for each in benchmarks]

    def _describe(self, benchmark: Benchmark) -> dict[str, Any]:
        function = benchmark.function
        return {
            "id": benchmark.id,
            "file": self._file,
            "parts": self._parts(benchmark),
            "location": location_of(function, self._root),
            "parallel": getattr(function, "parallel", False),
            "unit": getattr(function, "unit", None),
            "data": getattr(function, "data", None) or [],
            "measures": "time",
            "of_unit": "",
            "timeout_s": None,
            "notes": [],
        }

    def _parts(self, benchmark: Benchmark) -> dict[str, str]:
        """Identify the work: its code in the file, and the values that it is called with."""
        name, function, kwargs = benchmark.name, benchmark.function, benchmark.kwargs
        # An instance of a derived class may hold another value than it shows.
        are_plain = all(v is None or type(v) in PLAIN for v in kwargs.values())
        texts = {"its number": repr(getattr(function, "number", None))}
        parts = self._workloads.parts(name, with_params=not are_plain, uses=benchmark.uses)
        if kwargs:
            given = {**benchmark.labels, **kwargs} if are_plain else benchmark.labels
            texts["its params"] = repr(sorted(given.items())) + parts.pop("its params", "")
        if not self._workloads.defines(name):
            with STANDARD_LIBRARY:
                texts["its code"] = source_of(function)
        return {**parts, **{label: digest(text) for label, text in texts.items()}}


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow to read deeply nested texts, and large numbers in them."""
    limit = sys.getrecursionlimit()
    digits = getattr(sys, "get_int_max_str_digits", int)()
    set_digits = getattr(sys, "set_int_max_str_digits", id)
    sys.setrecursionlimit(max(limit, DEPTH))
    set_digits(0)
    try:
        yield
    finally:
        set_digits(digits)
        sys.setrecursionlimit(limit)


def unwrap(function: Any) -> Any:
    """Return the function below its decorators, whose source is the work."""
    while True:
        below = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if below is None:
            return function
        function = below


def location_of(function: Any, root: str) -> str | None:
    """Return `path:line` of a function in the tree; None if it comes from elsewhere."""
    code = code_of(unwrap(function))
    if code is None:
        return None
    path = os.path.relpath(os.path.realpath(code.co_filename), os.path.realpath(root))
    return None if path.startswith("..") else f"{path}:{code.co_firstlineno}"


def source_of(function: Any) -> str:
    """Return a function's source; "" if it has none."""
    import inspect  # noqa: PLC0415 - seldom needed

    try:
        return inspect.getsource(unwrap(function))
    except (OSError, TypeError):
        return ""
