"""What a tree provides: the modules that can be imported from it, and the projects in it."""

from __future__ import annotations

import configparser
import os
import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
PROJECT_FILES = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})
"""The files that declare a Python project."""

SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
"""Names of folders that hold packages but are not packages themselves."""

_NO_MODULES = frozenset({"setup", "conftest", "noxfile", "__init__", "__main__"})
_MAX_FOLDERS = 20_000


@dataclass(frozen=True, slots=True)
class ProvidedModules:
    """The modules and projects that a tree provides.

    Attributes:
        modules: top-level names that can be imported from somewhere in it, with the folder to
            import from, relative to its root; "" if the folder is unknown.
        projects: normalized names of the distributions that are built from it.
    """

    modules: Mapping[str, str]
    projects: frozenset[str]

    def is_installed_copy(self, module: str, file: Path) -> bool:
        """Tell whether a module that came from elsewhere is an installed copy of this tree's.

        If its distribution has a different name, it is another module that has the same name.
        """
        owner = distribution_of(file)
        if owner is None or not self.projects:
            return module in self.modules
        return normalized(owner.name) in self.projects


def provided_by(root: Path) -> ProvidedModules:
    """Search a tree for packages, modules and the names of projects."""
    modules: dict[str, str] = {}
    projects: set[str] = set()
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count >= _MAX_FOLDERS:
            break
        place = Path(folder)
        if "__init__.py" in files and place != root:
            modules[place.name] = place.parent.relative_to(root).as_posix()
            folders.clear()  # modules below it are imported through it
            continue
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = [f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith(".")]
        projects |= _projects_in(place, files)
        if place.name in SOURCE_FOLDERS or not PROJECT_FILES.isdisjoint(files):
            stems = {Path(file).stem for file in files if file.endswith(".py")}
            named = {stem for stem in stems - _NO_MODULES if not stem.startswith("bench_")}
            modules |= dict.fromkeys(named, place.relative_to(root).as_posix())
    # The tree of a compiled project shows no module; assume that it has the project's name.
    compiled = {name.replace("-", "_") for name in projects}
    return ProvidedModules(dict.fromkeys(compiled, "") | modules, frozenset(projects))


def modules_in(folder: Path) -> dict[str, Path]:
    """The modules and packages that a project may import from a folder: their places by name."""
    files = (place for place in folder.glob("*.py") if place.stem not in _NO_MODULES)
    found = {place.stem: place for place in files}
    return found | {place.parent.name: place.parent for place in folder.glob("*/*.py")}


@lru_cache
def distribution_of(file: Path) -> Distribution | None:
    """Find the installed distribution that a module came from.

    Args:
        file: file of a top-level module.
    """
    site = file.parent.parent if file.name.startswith("__init__.") else file.parent
    inside = file.relative_to(site).as_posix()
    for each in distributions(path=[str(site)]):
        listed = each.files or ()
        if any(path.as_posix() == inside for path in listed):
            return each
    return None


def versions_of(modules: Iterable[tuple[str, Path]]) -> dict[str, str]:
    """Return the modules' distributions with versions; if a module has none, its own name."""
    found = {}
    for module, file in modules:
        owner = distribution_of(file)
        found[owner.name if owner else module] = owner.version if owner else str(file)
    return found


def _projects_in(folder: Path, files: Iterable[str]) -> set[str]:
    """Read project names from the files that declare them, if these are plain text."""
    names: set[str] = set()
    present = set(files)
    with suppress(OSError, ValueError, AttributeError):
        if "pyproject.toml" in present:
            table = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
            names.add(str(table.get("project", {}).get("name", "")))
            names.add(str(table.get("tool", {}).get("poetry", {}).get("name", "")))
    with suppress(OSError, ValueError, configparser.Error):
        if "setup.cfg" in present:
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string((folder / "setup.cfg").read_text("utf-8"))
            names.add(parser.get("metadata", "name", fallback=""))
    with suppress(OSError, ValueError):
        if "setup.py" in present:
            text = (folder / "setup.py").read_text("utf-8")
            names.update(re.findall(r"""\bname\s*=\s*["']([\w.-]+)["']""", text))
    return {normalized(name) for name in names if name}


def normalized(name: str) -> str:
    """Return the form of a distribution's name in which equal names are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def note_on_versions(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note on which versions of installed packages each arm ran."""
    if base == head:
        ran = ", ".join(f"{name} {version}" for name, version in base.items())
        return (f"both sides ran the same versions: {ran}",) if ran else ()
    changed = (name for name in sorted({**base, **head}) if base.get(name) != head.get(name))
    return tuple(
        f"the base ran {name} {base.get(name, '(none)')}, the head {head.get(name, '(none)')}"
        for name in changed
    )
