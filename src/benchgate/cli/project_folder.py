"""Finds the folder of the user's project: there the configuration is, or belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.config.load import OWN_FILE
from benchgate.project.needs import read_toml
from benchgate.project.packages import is_project

if TYPE_CHECKING:
    from pathlib import Path

_OTHER_PROJECTS = (
    *("Cargo.toml", "go.mod", "package.json", "CMakeLists.txt", "meson.build", "Makefile"),
    *("pom.xml", "build.gradle", "build.gradle.kts"),
)


def choose_folder(cwd: Path, root: Path | None) -> Path:
    """Choose where the configuration goes: the innermost project around the current folder.

    Args:
        root: of the repository; None if there is none.
    """
    if root is None or not cwd.is_relative_to(root):
        return cwd
    for folder in (cwd, *cwd.parents):
        if folder == root or is_project(folder):
            return folder
        if any((folder / name).is_file() for name in _OTHER_PROJECTS):
            return folder
    return root


def configured_in(folder: Path) -> str | None:
    """The file in which a folder is configured already; None if there is none."""
    if (folder / OWN_FILE).exists():
        return f"{folder / OWN_FILE} exists"
    if "benchgate" in read_toml(folder / "pyproject.toml").get("tool", {}):
        return f"{folder / 'pyproject.toml'} has a [tool.benchgate] table"
    return None
