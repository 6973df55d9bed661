"""Which modules a tree provides itself, so that none of them may be imported from elsewhere.

Where a project is installed for everybody, and its code lies in the tree where Python does not look
for it, both arms would import the installed modules, and be the same code.
"""

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
_PROJECT_FILES = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
_NO_MODULES = frozenset({"setup", "conftest", "noxfile", "__init__", "__main__"})
_MAX_FOLDERS = 20_000


@dataclass(frozen=True, slots=True)
class Provided:
    """What one tree provides.

    Attributes:
        modules: top-level names that can be imported from somewhere in it, and from which
            folder, relative to its root; "" where that is not known.
        projects: normalized names of the distributions that it is the source of.
    """

    modules: Mapping[str, str]
    projects: frozenset[str]

    def is_installed_copy(self, module: str, file: Path) -> bool:
        """Tell whether a module that came from elsewhere is one of this tree's.

        Of a distribution that has another name than the tree's it is another module of that name.
        """
        owner = distribution_of(file)
        if owner is None or not self.projects:
            return module in self.modules
        return _normalized(owner.name) in self.projects


def provided_by(root: Path) -> Provided:
    """Look through a tree for packages, modules and the names of projects."""
    modules: dict[str, str] = {}
    projects: set[str] = set()
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count >= _MAX_FOLDERS:
            break
        place = Path(folder)
        if "__init__.py" in files and place != root:
            modules[place.name] = place.parent.relative_to(root).as_posix()
            folders.clear()  # what lies below is imported by way of it
            continue
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = [f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith(".")]
        projects |= _projects_in(place, files)
        if place.name in _SOURCE_FOLDERS or not _PROJECT_FILES.isdisjoint(files):
            stems = {Path(file).stem for file in files if file.endswith(".py")}
            named = {stem for stem in stems - _NO_MODULES if not stem.startswith("bench_")}
            modules |= dict.fromkeys(named, place.relative_to(root).as_posix())
    # Of compiled projects the tree shows no module: it has the project's name.
    compiled = {name.replace("-", "_") for name in projects}
    return Provided(dict.fromkeys(compiled, "") | modules, frozenset(projects))


@lru_cache
def distribution_of(file: Path) -> Distribution | None:
    """Find the installed distribution that a module came from.

    Args:
        file: of a top-level module.
    """
    site = file.parent.parent if file.name.startswith("__init__.") else file.parent
    inside = file.relative_to(site).as_posix()
    for each in distributions(path=[str(site)]):
        listed = each.files or ()
        if any(path.as_posix() == inside for path in listed):
            return each
    return None


def versions_of(modules: Iterable[tuple[str, Path]]) -> dict[str, str]:
    """Give name and version of the distributions of modules; of others the name of the module."""
    found = {}
    for module, file in modules:
        owner = distribution_of(file)
        found[owner.name if owner else module] = owner.version if owner else str(file)
    return found


def _projects_in(folder: Path, files: Iterable[str]) -> set[str]:
    """Read the names of projects from the files that declare them, where they are text."""
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
    return {_normalized(name) for name in names if name}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def note_on_versions(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[str, ...]:
    """Say which versions of what is installed each arm ran, by name."""
    if base == head:
        ran = ", ".join(f"{name} {version}" for name, version in base.items())
        return (f"both arms ran the same versions: {ran}",) if ran else ()
    changed = (name for name in sorted({**base, **head}) if base.get(name) != head.get(name))
    return tuple(
        f"the base ran {name} {base.get(name, '(none)')}, the head {head.get(name, '(none)')}"
        for name in changed
    )
