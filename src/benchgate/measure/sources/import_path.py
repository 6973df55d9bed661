"""Where an arm imports from: the folders of its tree, and the packages of its environment."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from benchgate.measure.sources.provided import PROJECT_FILES, SOURCE_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm


def holds_python(root: Path) -> bool:
    """Tell whether a tree belongs to a Python project."""
    return any((root / name).is_file() for name in PROJECT_FILES) or any(
        any(folder.glob("*/__init__.py")) for folder in (root / "src", root)
    )


_PACKAGES = "lib*/python*/site-packages"


@dataclass(frozen=True, slots=True)
class ImportPath:
    """The folders that are added to an interpreter's own search path.

    Attributes:
        before: folders that come first.
        after: folders that come last, so that installed packages are found before them.
    """

    before: tuple[str, ...]
    after: tuple[str, ...] = ()


def import_path(
    arm: Arm,
    pythonpath: Sequence[str] | None,
    inherited: Sequence[str] = (),
    *,
    in_env: bool = True,
) -> ImportPath:
    """Return the folders that make an arm's code importable.

    The tree comes first, unless it was installed into the arm's environment. Then the tree would
    hide compiled code, which only the environment has.

    Args:
        pythonpath: the configured folders, relative to the configuration; None for its
            folder and the root of the tree, each after its `src`.
        inherited: the user's own entries, already replaced by the arm's; see `moved`.
        in_env: whether the interpreter belongs to the arm's environment.
    """
    if pythonpath is not None:
        named = (str(arm.folder / arm.substitute(p)) for p in pythonpath)
        return ImportPath((*named, *inherited))
    own = tuple(map(str, _source_folders(arm)))
    others = tuple(entry for entry in inherited if entry not in own)
    if in_env and is_installed(arm):
        return ImportPath(others, after=own)
    return ImportPath((*own, *others))


def _source_folders(arm: Arm) -> tuple[Path, ...]:
    """The folders of an arm's tree that Python code is imported from by default."""
    wanted = (top for folder in (arm.folder, arm.root) for top in (folder / "src", folder))
    return tuple(dict.fromkeys(top for top in wanted if top.is_dir()))


def module_folders(arm: Arm) -> tuple[Path, ...]:
    """The folders of an arm's tree that usually hold the modules of a project."""
    tops = dict.fromkeys((arm.folder, arm.root))
    return tuple(top / name for top in tops for name in (".", *sorted(SOURCE_FOLDERS)))


def moved(entries: str, arm: Arm, checkout: Path | None, cwd: Path) -> tuple[str, ...]:
    """Split the user's search path, and replace the checkout in it by the arm's tree.

    Args:
        entries: as in PATH and PYTHONPATH; an empty entry is dropped.
        checkout: the user's tree; None if the arm itself is the user's tree.
        cwd: folder that relative entries start from.

    Returns:
        Absolute paths. If the arm's tree lacks an entry, such as a virtual environment in the
        checkout, the entry stays as it is.
    """
    return tuple(
        _moved(os.path.normpath(cwd / entry), arm, checkout)
        for entry in filter(None, entries.split(os.pathsep))
    )


def _moved(entry: str, arm: Arm, checkout: Path | None) -> str:
    if checkout is None:
        return entry
    inner = Path(os.path.relpath(os.path.realpath(entry), os.path.realpath(checkout)))
    own = arm.root / inner
    return str(own) if ".." not in inner.parts and own.is_dir() else entry


def is_installed(arm: Arm) -> bool:
    """Tell whether the arm's environment holds a package that was installed from its tree.

    An editable install does not count, because it leads back to the tree. Installers record what
    they installed from (PEP 610).
    """
    for source in _sources(arm.env):
        parts = urlsplit(str(source.get("url", "")))
        place = Path(unquote(parts.path))
        own = any(place.is_relative_to(folder) for folder in (arm.root, arm.env))
        details = source.get("dir_info")
        editable = isinstance(details, dict) and details.get("editable", False)
        if parts.scheme == "file" and own and not editable:
            return True
    return False


def hidden_by_tree(arm: Arm, opened: frozenset[Path]) -> Path | None:
    """Find a file of the arm's tree that was opened instead of its installed copy.

    Args:
        opened: files that were opened in the tree and in the environment.

    Returns:
        The file, relative to the root; None if there is none.
    """
    if not is_installed(arm):
        return None
    packages = list(arm.env.glob(_PACKAGES))
    for file in sorted(path for path in opened if path.suffix == ".py"):
        for top in _source_folders(arm):
            if file.is_relative_to(top):
                copies = {folder / file.relative_to(top) for folder in packages}
                if any(copy.exists() for copy in copies) and not copies & opened:
                    return file.relative_to(arm.root)
                break
    return None


def packages_in(arm: Arm) -> tuple[str, ...]:
    """What is installed in an arm's environment, apart from what was installed from its tree.

    Returns:
        Names with versions, and the settings of the environment.
    """
    found = [
        place.name
        for place in arm.env.glob(f"{_PACKAGES}/*-info")
        if not (place / "direct_url.json").exists()
    ]
    with suppress(OSError):
        lines = (arm.env / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        found += [line for line in lines if line.startswith("version")]
    return tuple(sorted(found))


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of packages, by name, from what `packages_in` returns."""
    names = (one.rpartition(".")[0] for one in packages if one.endswith("-info"))
    pairs = (name.partition("-py")[0].rpartition("-") for name in names)
    return {name: version for name, _, version in pairs if name}


def _sources(env: Path) -> Iterator[Mapping[str, object]]:
    for file in env.glob(f"{_PACKAGES}/*.dist-info/direct_url.json"):
        try:
            source = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(source, dict):
            yield source
