"""The tests that pytest has collected: which are benchmarks, and what they depend on."""

from __future__ import annotations

import os

from .functions import Benchmark, code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .opened import OpenBenchmark

    Measure = Callable[[OpenBenchmark], None]
    from collections.abc import Iterable, Sequence

    from .workloads import Describer


FIXTURE = "benchmark"
OF_CODSPEED = "codspeed_benchmark"
CALLED_BY_NAME = ("pytest_", "pytestmark", "setup_", "teardown_", "setUpModule", "tearDownModule")


def is_benchmark(item: Any, *, marks_are_options: bool) -> bool:
    """Tell whether a test is one: it has the fixture, or is marked to be measured as a whole."""
    names = getattr(item, "fixturenames", None)
    if names is None or not hasattr(item, "originalname"):  # a doctest, for example
        return False
    marks = (OF_CODSPEED,) if marks_are_options else (OF_CODSPEED, FIXTURE)
    return FIXTURE in names or any(item.get_closest_marker(each) for each in marks)


def options_of(item: Any) -> dict[str, Any]:
    """Return what its mark says, such as its group."""
    marker = item.get_closest_marker(FIXTURE)
    return dict(marker.kwargs) if marker else {}


def describe(
    items: Sequence[Any],
    files: Iterable[str],
    describer: type[Describer],
    request: dict[str, Any],
) -> list[dict[str, Any]]:
    """Describe the tests file by file, as the files' texts show them.

    Args:
        files: of all tests, also of those that are no benchmarks, as pytest names them.
    """
    by_file: dict[str, list[Any]] = {}
    for each in items:
        by_file.setdefault(file_of(each), []).append(each)
    root = root_of(items[0]) if items else ""
    others = {*by_file, *(os.path.realpath(os.path.join(root, each)) for each in files)}
    found: dict[str, dict[str, Any]] = {}
    for file, tests in by_file.items():
        benchmarks = [benchmark_of(each, file) for each in tests]
        names = {each.name for each in benchmarks}.union(*map(classes_of, tests))
        also = {path for each in tests for path in files_of(each, file)} - {file}
        one = describer(
            {**request, "file": file},
            names=names,
            settings=("params",),
            others=others - {file},
            also=also,
        )
        found.update((each["id"], each) for each in one.describe(benchmarks))
    return [found[each.nodeid] for each in items]


def file_of(item: Any) -> str:
    return os.path.realpath(str(item.path if hasattr(item, "path") else item.fspath))


def benchmark_of(item: Any, file: str) -> Benchmark:
    """Return a test as a benchmark: its id is pytest's, its name that in the text of its file."""
    function = item.originalname or item.name
    callspec = getattr(item, "callspec", None)
    uses = {name for name in vars(item.module) if name.startswith(CALLED_BY_NAME)}
    uses.update(name for place, name in fixtures_of(item) if place == file)
    definer = definer_of(item.cls, function)
    return Benchmark(
        item.nodeid,
        f"{definer.__qualname__}.{function}" if definer else function,
        item.obj,
        kwargs=dict(callspec.params) if callspec else {},
        labels={"id": callspec.id} if callspec else {},
        uses=uses | classes_of(item),
    )


def root_of(item: Any) -> str:
    """Return the folder that pytest's ids start from."""
    return os.path.realpath(str(item.config.rootpath))


def files_of(item: Any, file: str) -> Iterable[str]:
    """Return each conftest that concerns the file of a test, and the project's own fixtures."""
    for plugin in item.config.pluginmanager.get_plugins():
        path = os.path.realpath(getattr(plugin, "__file__", None) or "")
        inside = file.startswith(os.path.join(os.path.dirname(path), ""))
        if os.path.basename(path) == "conftest.py" and inside:
            yield path
    own = os.path.join(root_of(item), "")
    yield from (place for place, _ in fixtures_of(item) if place.startswith(own))


def classes_of(item: Any) -> set[str]:
    """Return the names that a file has for the class of a test, and the one that defines it."""
    found = (item.cls, definer_of(item.cls, item.originalname or item.name))
    return {each.__qualname__.partition(".")[0] for each in found if each}


def definer_of(test_class: Any, function: str) -> Any:
    """Return the class that defines a test of a class, which may be a base of it."""
    above = test_class.__mro__ if test_class else ()
    return next((each for each in above if function in vars(each)), test_class)


def fixtures_of(item: Any) -> Iterable[tuple[str, str]]:
    """Return the files and names of the functions behind its fixtures."""
    for definitions in item._fixtureinfo.name2fixturedefs.values():  # noqa: SLF001 - no other way
        for each in definitions:
            code = code_of(getattr(each.func, "__wrapped__", each.func))
            if code:
                yield os.path.realpath(code.co_filename), code.co_name


OF_THE_CACHE = (
    ("--lf", "--last-failed"),
    ("--ff", "--failed-first"),
    ("--nf", "--new-first"),
    ("--sw", "--stepwise"),
    ("--sw-skip", "--stepwise-skip"),
    ("--cache-clear",),
)
