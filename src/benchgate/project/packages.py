"""Finds the packages of a project that are to be measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.measure.sources import PROJECT_FILES, SOURCE_FOLDERS, normalized, provided_by

if TYPE_CHECKING:
    from pathlib import Path


_DEFAULT_FOLDERS = frozenset({".", "src"})
_NOT_MEASURED = frozenset(
    {
        *("tests", "test", "testing", "docs", "doc", "examples", "example", "samples"),
        *("benchmarks", "benchmark", "benches", "perf", "asv_bench", "scripts", "tools"),
        *("build", "dist", "vendor", "third_party", "templates", "fixtures"),
    }
)


@dataclass(frozen=True, slots=True)
class Package:
    """A package or module of the project.

    Attributes:
        name: as it is imported.
        folder: to import it from, relative to the folder that was searched; "." is that folder
            itself, and "" means that only an installed copy can be imported.
        project: folder of the project that it belongs to, relative in the same way.
    """

    name: str
    folder: str
    project: str

    @property
    def is_found_by_default(self) -> bool:
        """Whether Python finds it without a `pythonpath`."""
        return self.folder in _DEFAULT_FOLDERS or not self.folder


def find_packages(top: Path) -> tuple[Package, ...]:
    """Find the packages to measure, the most important first.

    If the folder itself holds packages, these are all. If it holds only folders with packages, as
    in a repository with several projects, the packages of all of them are returned.
    """
    provided = provided_by(top)
    found = [
        _package(top, name, folder)
        for name, folder in provided.modules.items()
        if folder and _is_measured(name, folder, provided.projects)
    ]
    own = [one for one in found if one.project == "."]
    named = [one for one in own if normalized(one.name) in provided.projects]
    chosen = named or own or found
    if not chosen and (top / "pyproject.toml").exists():
        compiled = [name for name, folder in provided.modules.items() if not folder]
        chosen = [Package(name, "", ".") for name in compiled]
    return tuple(
        sorted(chosen, key=lambda one: (not one.is_found_by_default, one.folder, one.name))
    )


def _is_measured(name: str, folder: str, projects: frozenset[str]) -> bool:
    if not name.isidentifier() or not _NOT_MEASURED.isdisjoint(PurePosixPath(folder).parts):
        return False
    return name not in _NOT_MEASURED or normalized(name) in projects


def _package(top: Path, name: str, folder: str) -> Package:
    """Complete a package; one that lies deeper in a source folder is part of a namespace."""
    place = PurePosixPath(folder)
    for source in (place, *place.parents):
        beside = source.parent
        if source.name in SOURCE_FOLDERS and (source == place or is_project(top / beside)):
            full = ".".join((*place.relative_to(source).parts, name))
            return Package(full, source.as_posix(), beside.as_posix())
    return Package(name, folder, place.as_posix())


def is_project(folder: Path) -> bool:
    """Whether a folder holds a file that declares a Python project."""
    return any((folder / name).is_file() for name in PROJECT_FILES)
