from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.project.packages import find_packages

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = '[project]\nname = "{}"\n'


def make(top: Path, *files: str) -> None:
    """Create files; a pyproject.toml declares a project with the name of its folder."""
    for name in files:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROJECT.format(path.parent.name) if path.suffix == ".toml" else "")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["src/pkg/__init__.py"], {"pkg": "src"}),
        (["pkg/__init__.py", "tests/__init__.py", "docs/__init__.py"], {"pkg": "."}),
        (["one/__init__.py", "two/__init__.py"], {"one": ".", "two": "."}),
        (["lib/yaml/__init__.py", "setup.py"], {"yaml": "lib"}),
        (["build/lib/pkg/__init__.py", "pkg/__init__.py"], {"pkg": "."}),
        (["pyproject.toml", "src/six.py"], {"six": "src"}),
        (["pyproject.toml", "src/google/cloud/store/__init__.py"], {"google.cloud.store": "src"}),
        (
            ["pkgs/alpha/pyproject.toml", "pkgs/alpha/src/alpha/__init__.py"],
            {"alpha": "pkgs/alpha/src"},
        ),
        (
            ["pkgs/alpha/src/alpha/__init__.py", "libs/textcore/textcore/__init__.py"],
            {"textcore": "libs/textcore", "alpha": "pkgs/alpha/src"},
        ),
        (["libs/textcore/__init__.py"], {"textcore": "libs"}),
        (["src/pkg/__init__.py", "plugins/more/src/more/__init__.py"], {"pkg": "src"}),
        (["tests/__init__.py", "main.c"], {}),
    ],
)
def test_packages_are_found_in_every_layout(
    tmp_path: Path, files: list[str], found: dict[str, str]
) -> None:
    make(tmp_path, *files)
    assert {one.name: one.folder for one in find_packages(tmp_path)} == found


def test_the_package_that_the_project_is_named_after_is_the_one(tmp_path: Path) -> None:
    make(tmp_path, "my_tool/__init__.py", "helpers/__init__.py", "setup.py")
    (tmp_path / "setup.py").write_text('setup(name="my-tool")')
    assert [one.name for one in find_packages(tmp_path)] == ["my_tool"]


def test_a_package_without_python_files_is_installed_only(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT.format("fast-sum"))
    (package,) = find_packages(tmp_path)
    assert (package.name, package.folder) == ("fast_sum", "")
    assert package.is_found_by_default
