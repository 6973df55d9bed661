from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.measure.sources.provided import ProvidedModules, provided_by

if TYPE_CHECKING:
    from pathlib import Path


def grow(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_packages_and_modules_are_found_with_their_folders(tmp_path: Path) -> None:
    grow(tmp_path, "lib/pkg/__init__.py", "lib/pkg/inner/__init__.py", "src/one.py", "top.py")
    grow(tmp_path, "node_modules/x/__init__.py", ".hidden/y/__init__.py", "docs/conf.py")
    grow(tmp_path, "venv/pyvenv.cfg", "venv/lib/z/__init__.py", "bench_it.py", "setup.py")
    assert provided_by(tmp_path).modules == {"pkg": "lib", "one": "src", "top": "."}


def test_a_tree_may_be_a_package_itself(tmp_path: Path) -> None:
    grow(tmp_path, "__init__.py", "pkg/__init__.py")
    assert provided_by(tmp_path).modules == {"pkg": "."}


def test_the_names_of_projects_are_read(tmp_path: Path) -> None:
    grow(tmp_path, "a/x", "b/x", "c/x", "d/x")
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "One_Two"\n')
    (tmp_path / "b" / "setup.cfg").write_text("[metadata]\nname = three\n")
    (tmp_path / "c" / "setup.py").write_text('from x import setup\nsetup(name="four.five")\n')
    (tmp_path / "d" / "pyproject.toml").write_text("[project\n")
    found = provided_by(tmp_path)
    assert found.projects == {"one-two", "three", "four-five"}
    # A compiled project shows no module, so its name is taken for one.
    assert found.modules == dict.fromkeys(("one_two", "three", "four_five"), "")


@pytest.mark.parametrize(
    ("projects", "is_copy"), [((), True), (("other",), False), (("other", "my-pkg"), True)]
)
def test_if_a_tree_names_projects_the_installed_copy_must_be_one_of_them(
    tmp_path: Path, projects: tuple[str, ...], *, is_copy: bool
) -> None:
    about = tmp_path / "my_pkg-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: My_Pkg\nVersion: 1.0\n")
    (about / "RECORD").write_text("one.py,,\n")
    (tmp_path / "one.py").touch()  # newer versions of importlib.metadata leave out missing files
    provided = ProvidedModules({"one": "src"}, frozenset(projects))
    assert provided.is_installed_copy("one", tmp_path / "one.py") is is_copy
