"""Where the Python code of an arm is imported from: its tree, or what was installed from it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.measure.engine import Arm

_PACKAGES = "lib*/python*/site-packages"
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class ImportPath:
    """What is added to an interpreter's own search path.

    Attributes:
        before: comes first.
        after: comes last: what was installed is found before it.
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
    """Give what makes an arm's code importable.

    The tree comes first, unless it was installed into the arm's environment: what is compiled is
    there alone, and the tree would hide it.

    Args:
        pythonpath: as configured, relative to the root; None for the root and its `src`.
        inherited: the user's own entries, already those of the arm; see `moved`.
        in_env: whether the arm's environment is what imports.
    """
    if pythonpath is not None:
        named = (str(arm.root / arm.substitute(p)) for p in pythonpath)
        return ImportPath((*named, *inherited))
    own = tuple(str(p) for p in (arm.root / "src", arm.root) if p.is_dir())
    others = tuple(entry for entry in inherited if entry not in own)
    if in_env and is_installed(arm):
        return ImportPath(others, after=own)
    return ImportPath((*own, *others))


def moved(entries: str, arm: Arm, checkout: Path | None, cwd: Path) -> tuple[str, ...]:
    """Split a search path of the user's; what lies in the checkout is replaced by the arm's own.

    Args:
        entries: as in PATH and PYTHONPATH; an empty entry is dropped.
        checkout: the user's tree; None if the arm is it.
        cwd: what relative entries are relative to.

    Returns:
        Absolute paths. An entry that the arm's tree does not have, such as a virtual environment
        in the checkout, stays what it is.
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

    An editable install is none: it leads back to the tree. Installers write down what they
    installed from (PEP 610).
    """
    for source in _sources(arm.env):
        parts = urlsplit(str(source.get("url", "")))
        place = Path(url2pathname(parts.path))
        own = any(place.is_relative_to(folder) for folder in (arm.root, arm.env))
        details = source.get("dir_info")
        editable = isinstance(details, dict) and details.get("editable", False)
        if parts.scheme == "file" and own and not editable:
            return True
    return False


def hidden_by_tree(arm: Arm, opened: frozenset[Path]) -> Path | None:
    """Find a file of the arm's tree that was opened in place of its installed copy.

    Args:
        opened: in the tree and in the environment, while something ran.

    Returns:
        It, relative to the root; None if there is none.
    """
    if not is_installed(arm):
        return None
    packages = list(arm.env.glob(_PACKAGES))
    for file in sorted(path for path in opened if path.suffix == ".py"):
        for top in (arm.root / "src", arm.root):
            if file.is_relative_to(top):
                copies = {folder / file.relative_to(top) for folder in packages}
                if any(copy.exists() for copy in copies) and not copies & opened:
                    return file.relative_to(arm.root)
                break
    return None


def _sources(env: Path) -> Iterator[Mapping[str, object]]:
    for file in env.glob(f"{_PACKAGES}/*.dist-info/direct_url.json"):
        try:
            source = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(source, dict):
            yield source


def holds_python(root: Path) -> bool:
    """Tell whether a tree is that of a Python project."""
    return any((root / name).is_file() for name in _PROJECT_FILES) or any(
        any(folder.glob("*/__init__.py")) for folder in (root / "src", root)
    )
