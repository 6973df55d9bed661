"""A function is short enough to read at once, and few enough arguments tell what it needs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[2] / "src" / "benchgate"
MOST_LINES: Final = 60
MOST_ARGUMENTS: Final = 6

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

MORE_ARGUMENTS: Final = {
    "_worker/pytest_fixture.py: BenchmarkFixture.pedantic": "those of pytest-benchmark",
    "_worker/workloads.py: Workloads.__init__": "the fields of a request, which tells some of them",
    "stats/bootstrap.py: ratio_of_percentile": "all intervals take a seed and resamples like this",
}


def _functions(node: ast.AST, name: str = "") -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef):
            own = f"{name}.{child.name}" if name else child.name
            if isinstance(child, _Function):
                yield own, child
            yield from _functions(child, own)
        else:
            yield from _functions(child, name)


def _in_source() -> Iterator[tuple[str, _Function]]:
    for file in sorted(SOURCE.rglob("*.py")):
        path = file.relative_to(SOURCE).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        yield from ((f"{path}: {name}", function) for name, function in _functions(tree))


def _arguments(function: _Function) -> int:
    """The number of arguments that have a name; a command gets one for each option from click."""
    if any("click.command" in ast.unparse(one) for one in function.decorator_list):
        return 0
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_a_function_is_short() -> None:
    lines = {name: (one.end_lineno or 0) - one.lineno + 1 for name, one in _in_source()}
    assert not [name for name, count in lines.items() if count > MOST_LINES]


def test_a_function_has_few_arguments() -> None:
    counts = {name: _arguments(one) for name, one in _in_source()}
    assert {name for name, count in counts.items() if count > MOST_ARGUMENTS} == set(MORE_ARGUMENTS)
