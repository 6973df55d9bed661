"""What pytest has collected: which tests are benchmarks, and what their work is."""

from __future__ import annotations

import os

from .file_text import SuiteText
from .functions import Benchmark, code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .describing import Describer

FIXTURE = "benchmark"
OF_CODSPEED = "codspeed_benchmark"


def is_benchmark(item: Any, *, marks_are_options: bool) -> bool:
    """Tell whether a test is one: it has the fixture, or is marked to be measured as a whole."""
    names = getattr(item, "fixturenames", None)
    if names is None:  # a doctest, for example
        return False
    marks = (OF_CODSPEED,) if marks_are_options else (OF_CODSPEED, FIXTURE)
    return FIXTURE in names or any(item.get_closest_marker(each) for each in marks)


def options_of(item: Any) -> dict[str, Any]:
    """Return what its mark says, such as its group."""
    marker = item.get_closest_marker(FIXTURE)
    return dict(marker.kwargs) if marker else {}


def owner_of(item: Any) -> Any:
    """Return the class or module of a test."""
    return item.parent


def describe(
    items: Sequence[Any], describer: type[Describer], request: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Describe the tests file by file, as the files' texts show them.

    Returns:
        The tests, and what each file has in common; see `Server.hello`.
    """
    by_file: dict[str, list[Any]] = {}
    for each in items:
        by_file.setdefault(file_of(each), []).append(each)
    found: dict[str, dict[str, Any]] = {}
    common: dict[str, Any] = {}
    for file, tests in by_file.items():
        benchmarks = [benchmark_of(each, file) for each in tests]
        also = sorted({path for each in benchmarks for path, _ in each.borrowed})
        text = SuiteText({each.name for each in benchmarks}, by_file, also)
        one = describer({**request, "file": file}, text)
        for described in one.describe(benchmarks):
            found[described["id"]] = described
        common.update(one.common())
    return [found[each.nodeid] for each in items], common


def file_of(item: Any) -> str:
    return os.path.realpath(str(item.path if hasattr(item, "path") else item.fspath))


def benchmark_of(item: Any, file: str) -> Benchmark:
    """Return a test as a benchmark: its id is pytest's, its name that in the text of its file."""
    function = item.originalname or item.name
    callspec = getattr(item, "callspec", None)
    uses, borrowed = set(), set()
    for place, name in fixtures_of(item):
        if place == file:
            uses.add(name)
        elif place.startswith(os.path.realpath(str(item.config.rootdir))):
            borrowed.add((place, name))
    if item.cls:
        uses.add(item.cls.__qualname__.partition(".")[0])
    return Benchmark(
        item.nodeid,
        f"{item.cls.__qualname__}.{function}" if item.cls else function,
        item.obj,
        kwargs=dict(callspec.params) if callspec else {},
        labels={"id": callspec.id} if callspec else {},
        uses=uses,
        borrowed=borrowed,
    )


def fixtures_of(item: Any) -> Iterable[tuple[str, str]]:
    """Return the files and names of the functions behind its fixtures."""
    for definitions in item._fixtureinfo.name2fixturedefs.values():  # noqa: SLF001 - no other way
        for each in definitions:
            code = code_of(getattr(each.func, "__wrapped__", each.func))
            if code:
                yield os.path.realpath(code.co_filename), code.co_name
