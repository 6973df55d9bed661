"""The map of the code has every room, in the order of the import contract, and real paths."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from tests.conftest import NIGHTLY, SLOW

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "benchgate"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = TEXT.partition("## The rooms")[2].partition("\n## ")[0]
ENTRIES = re.findall(r"^\d+\. (.*)", ROOMS, re.MULTILINE)
NAMED = [re.findall(r"`(\w+)`", one.partition(":")[0]) for one in ENTRIES]


def test_the_rooms_stand_in_the_order_of_the_import_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        one["layers"]
        for one in project["tool"]["importlinter"]["contracts"]
        if one["name"] == "layers"
    )
    assert [sorted(one) for one in NAMED] == [sorted(one.split(" | ")) for one in reversed(layers)]


def test_every_room_is_named() -> None:
    rooms = {
        one.stem for one in SOURCE.iterdir() if not one.name.startswith("__") and one.stem != "py"
    }
    assert {name for one in NAMED for name in one} == rooms


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+\.(?:py|toml))`", TEXT))))
def test_a_path_that_is_named_exists(path: str) -> None:
    assert (SOURCE / path).is_file() or (ROOT / path).is_file()


def test_it_stays_a_map() -> None:
    assert len(TEXT.split()) <= 900


def _deep_imports(file: Path) -> list[str]:
    """What a module imports from the inside of a room of `measure` that is not its own."""
    own = file.relative_to(SOURCE).parts[:2]
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            _, *path = node.module.split(".")
            is_inside = path[:1] == ["measure"] and len(path) > 2
            if is_inside and tuple(path[:2]) != own:
                found.append(f"{file.relative_to(SOURCE)}: {node.module}")
    return found


def test_other_rooms_import_only_the_face_of_a_room_of_measure() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 200
    assert [one for file in files for one in _deep_imports(file)] == []


def test_words_of_the_field_name_one_module_each() -> None:
    named = [file.stem for file in SOURCE.rglob("*.py") if file.parent.name != "cli"]
    named += [file.name for file in SOURCE.iterdir() if file.is_dir()]
    for word in ("history", "files", "statistics", "reference", "bisect"):
        assert named.count(word) <= 1, word


def test_the_lists_of_slow_tests_name_tests() -> None:
    tests = ROOT / "tests"
    assert [one for one in (*SLOW, *NIGHTLY) if not (tests / one).exists()] == []
