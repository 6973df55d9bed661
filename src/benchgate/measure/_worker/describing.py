"""Describes benchmarks, and says before they are measured what is wrong with them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager, suppress

from .attributes import check_function
from .failures import Fault
from .file_text import FileText
from .functions import code_of
from .origins import file_of
from .standard import STANDARD_LIBRARY
from .workloads import Workloads, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .functions import Benchmark

PLAIN = (bool, int, float, str)
# Enough for any text that Python itself compiles.
DEPTH = 10_000


class Describer:
    """Describes the benchmarks of a file.

    It reads the file's text before the file's code can change what is found.

    Args:
        text: knows which names of the file are benchmarks.
    """

    check = staticmethod(check_function)
    digest = staticmethod(digest)

    def __init__(self, request: dict[str, Any], text: FileText | None = None) -> None:
        self._file = file = request["file"]
        self._root = request["root"]
        folders = [os.path.dirname(file), *request["path"], *request["path_after"]]
        # Importing the file reports what is wrong with its text.
        with deep_recursion(), suppress(OSError, SyntaxError, ValueError):
            try:
                self._workloads = Workloads(file, request["helpers"], folders, text or FileText())
            except RecursionError:
                raise Fault("benchgate cannot read its text: it is nested too deeply") from None

    def common(self) -> dict[str, list[tuple[int, str, str]]]:
        """Return what else in the file may change what its benchmarks measure, by the file."""
        return {self._file: self._workloads.common()}

    def describe(self, benchmarks: Iterable[Benchmark]) -> list[dict[str, Any]]:
        """Describe the benchmarks of the file, which has been imported now."""
        hidden = self._workloads.hidden(filter(None, map(file_of, list(sys.modules))))
        with deep_recursion():
            return [self._describe(each, hidden) for each in benchmarks]

    def _describe(self, benchmark: Benchmark, hidden: dict[str, str]) -> dict[str, Any]:
        function = benchmark.function
        return {
            "id": benchmark.id,
            "file": self._file,
            "parts": {**self._parts(benchmark), **hidden},
            "bystanders": self._workloads.others(benchmark.name),
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
        if getattr(function, "collect_each", False):
            texts["its collect_each"] = "True"
        written = None if are_plain else self._workloads.params(name, benchmark.positions)
        with_params = not are_plain and written is None
        uses = benchmark.uses | written.names if written else benchmark.uses
        parts = self._workloads.parts(
            name, with_params=with_params, uses=uses, borrowed=benchmark.borrowed
        )
        if kwargs:
            given = {**benchmark.labels, **kwargs} if are_plain else benchmark.labels
            known = parts.pop("its params", "") + (written.text if written else "")
            texts["its params"] = repr(sorted(given.items())) + known
        if not self._workloads.defines(name):
            with STANDARD_LIBRARY:
                texts["its code"] = source_tokens(function)
                for hook in ("setup", "setup_each"):
                    text = source_tokens(getattr(function, hook, None))
                    texts[f"the code of its {hook}"] = text
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


def source_tokens(function: Callable[..., Any] | None) -> str:
    """Return a function's source without comments, layout and its name; "" if it has none.

    The name is left out because a renamed function does the same work.
    """
    import inspect  # noqa: PLC0415
    import tokenize  # noqa: PLC0415

    try:
        source = inspect.getsource(unwrap(function))
    except (OSError, TypeError):
        return ""
    indent = source[: len(source) - len(source.lstrip())]
    lines = [
        line[len(indent) :] if line.startswith(indent) else line for line in source.split("\n")
    ]
    layout = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\t", tokenize.DEDENT: "\b"}
    dropped = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return source
    kept = [t for t in tokens if t.type not in dropped]
    name = next((i + 1 for i, t in enumerate(kept) if t.string == "def"), None)
    return "".join(layout.get(t.type, t.string) for i, t in enumerate(kept) if i != name)
