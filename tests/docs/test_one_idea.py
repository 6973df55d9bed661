"""A module holds one idea: its definitions refer to each other, and it can be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "benchgate"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 500
# A short module of several small helpers is one idea: reading it takes no longer than a function.
LEAST_LINES = 200
LEAST_GROUP_LINES = 40


def definitions(text: str) -> dict[str, ast.stmt]:
    """Functions, classes and constants of a module, by name."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id: node for one in targets if isinstance(one, ast.Name)}
    return found


def names_in(node: ast.stmt) -> set[str]:
    """The names that a definition uses, also those in strings: annotations, for example."""
    used = (getattr(one, "id", getattr(one, "value", None)) for one in ast.walk(node))
    return {one for one in used if isinstance(one, str)}


def groups(text: str) -> list[list[str]]:
    """The larger groups of functions and classes that never refer to each other."""
    defined = definitions(text)
    together = {name: {name} for name in defined}
    for name, node in defined.items():
        for used in names_in(node) & defined.keys():
            joined = together[name] | together[used]
            together |= dict.fromkeys(joined, joined)

    def lines(name: str) -> int:
        return (defined[name].end_lineno or 0) - defined[name].lineno + 1

    distinct = {min(group): group for group in together.values()}.values()
    return [
        sorted(one for one in group if not isinstance(defined[one], ast.Assign | ast.AnnAssign))
        for group in distinct
        if sum(map(lines, group)) >= LEAST_GROUP_LINES
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_is_one_idea_of_at_most_500_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    if text.count("\n") >= LEAST_LINES:
        apart = [names for names in groups(text) if names]
        assert len(apart) <= 1, f"split it: {apart}"


def test_definitions_that_never_refer_to_each_other_are_several_ideas() -> None:
    one = "def a():\n" + "    x()\n" * 50 + "def b():\n    a()\n"
    other = "def c():\n" + "    y()\n" * 50
    assert groups(one) == [["a", "b"]]
    assert groups(one + other) == [["a", "b"], ["c"]]
    assert groups(one + other + "    a()\n") == [["a", "b", "c"]]
