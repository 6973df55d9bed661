from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.measure.trees.tree_state import read_state, written_between

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def append(root: Path) -> None:
    with (root / "data/old.txt").open("a", encoding="utf-8") as file:
        file.write("more")


def come_and_go(root: Path) -> None:
    path = root / "data" / "scratch"
    path.write_bytes(b"x")
    path.unlink()


def compile_(root: Path) -> None:
    (root / "data" / "__pycache__").mkdir()
    (root / "data" / "__pycache__" / "x.pyc").write_bytes(b"x")


def compile_more(root: Path) -> None:
    (root / "pkg" / "__pycache__" / "y.pyc").write_bytes(b"x")


@pytest.mark.parametrize(
    ("act", "written"),
    [
        (lambda root: None, []),  # noqa: ARG005
        (lambda root: (root / "new.db").write_bytes(b"x"), ["new.db"]),
        (lambda root: (root / "data/new.db").write_bytes(b"x"), ["data/new.db"]),
        (append, ["data/old.txt"]),
        (come_and_go, ["data"]),
        (lambda root: (root / "data/old.txt").unlink(), ["data"]),
        (lambda root: (root / "data/old.txt").read_bytes(), []),
        (compile_, []),
        (compile_more, []),
    ],
)
def test_what_was_written(
    tmp_path: Path, act: Callable[[Path], object], written: list[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/old.txt").write_text("old", encoding="utf-8")
    (tmp_path / "pkg/__pycache__").mkdir(parents=True)
    before = read_state([tmp_path])
    act(tmp_path)
    assert written_between(before, read_state([tmp_path])) == [
        str(tmp_path / name) for name in written
    ]


def test_a_file_that_comes_and_goes_beside_compiled_code_is_seen(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "data").mkdir()
    before = read_state([tmp_path])
    (tmp_path / "scratch").write_bytes(b"x")
    (tmp_path / "scratch").unlink()
    assert written_between(before, read_state([tmp_path])) == [str(tmp_path)]
