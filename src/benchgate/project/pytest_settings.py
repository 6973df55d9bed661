"""Reads which files and functions of a project pytest takes for tests."""

from __future__ import annotations

import configparser
import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from benchgate.project.tree import table_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath

    from benchgate.project.python_source import PythonTest
    from benchgate.project.tree import ProjectTree


@dataclass(frozen=True, slots=True)
class PytestSettings:
    """The settings of pytest that decide what it collects.

    Attributes:
        files: patterns of the names of files, as `python_files`.
        functions: prefixes or patterns of names, as `python_functions`.
        classes: the same, as `python_classes`.
        options: the words of `addopts`.
    """

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)
    options: tuple[str, ...] = ()

    def is_test_file(self, path: PurePosixPath) -> bool:
        """Whether pytest finds a file in its folder."""
        return any(path.match(pattern) for pattern in self.files)

    def is_test(self, test: PythonTest) -> bool:
        """Whether pytest collects a function, or a method of a class."""
        if test.is_fixture or not _matches(test.name, self.functions):
            return False
        return not test.owner or _matches(test.owner, self.classes)


def read_settings(tree: ProjectTree, folder: PurePosixPath) -> PytestSettings:
    """Read the settings that hold in a folder: those of the nearest file that has any."""
    for place in (folder, *folder.parents):
        for name, section in (
            ("pytest.ini", "pytest"),
            (".pytest.ini", "pytest"),
            ("pyproject.toml", ""),
            ("tox.ini", "pytest"),
            ("setup.cfg", "tool:pytest"),
        ):
            if tree.has(place / name) and (found := _read(tree, place / name, section)) is not None:
                return _settings(found)
    return PytestSettings()


def _read(tree: ProjectTree, path: PurePosixPath, section: str) -> Mapping[str, Any] | None:
    """Read a section of a file; None if the file does not have it."""
    if not section:
        return table_at(tree.read_toml(path), "tool", "pytest", "ini_options") or None
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(tree.read(path))
    except configparser.Error:
        return None
    return parser[section] if parser.has_section(section) else None


def _settings(found: Mapping[str, Any]) -> PytestSettings:
    default = PytestSettings()
    return PytestSettings(
        _words(found.get("python_files")) or default.files,
        _words(found.get("python_functions")) or default.functions,
        _words(found.get("python_classes")) or default.classes,
        _words(found.get("addopts")),
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    try:
        return tuple(shlex.split(str(value or "")))
    except ValueError:
        return tuple(str(value).split())


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name begins with one of the prefixes, or matches one of the patterns."""
    return any(
        fnmatchcase(name, each) if re.search(r"[*?\[]", each) else name.startswith(each)
        for each in patterns
    )
