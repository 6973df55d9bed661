"""What differs between the files of both sides, after they are built."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.measure.arm import ArmName
from benchgate.measure.reach.comparison import FileComparison
from benchgate.measure.reach.python_edit import PythonEdit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.arm import Arm

ENV: Final = "{env}"
"""The name of the environment of a side; other names are of files in its tree, "" of the tree."""

_SIDES: Final = (ArmName.BASE, ArmName.HEAD)
_SKIPPED: Final = frozenset({".git", "__pycache__"})
# What benchgate has built there is compared by itself.
_BUILT: Final = "benchgate"
_TOO_LARGE: Final = "the files of both sides are too large to compare"
_PYTHON: Final = ".py"


@dataclass(frozen=True)
class Differences:
    """What differs between the files of both sides.

    Attributes:
        files: names of files and folders that differ, or that only one side has.
        common: those of them that both sides have.
        folders: names of folders that have other names in them.
        why_unknown: why nobody can say; "" if it is known.
    """

    arms: Mapping[ArmName, Arm]
    files: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    why_unknown: str = ""
    _edits: dict[str, PythonEdit] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files or self.why_unknown)

    @classmethod
    def between(cls, arms: Mapping[ArmName, Arm], ignored: Sequence[str] = ()) -> Differences:
        """Compare the trees and the environments of both sides.

        Args:
            ignored: globs over names of files on which no benchmark depends.
        """
        listed = {name: _listed(arms[name]) for name in _SIDES}
        base, head = (listed[name] for name in _SIDES)
        is_ignored = {
            name: any(fnmatchcase(name, glob) for glob in ignored) for name in base.keys() | head
        }
        alone = {name for name in base.keys() ^ head.keys() if not is_ignored[name]}
        compared = _comparison(arms)
        common = set()
        for name in base.keys() & head.keys():
            if not is_ignored[name] and not compared.are_equal(base[name], head[name]):
                common.add(name)
            if compared.left_bytes < 0:
                return cls(arms, why_unknown=_TOO_LARGE)
        folders = {os.path.dirname(name) for name in alone}  # noqa: PTH120 - strings
        return cls(arms, frozenset(alone | common), frozenset(common), frozenset(folders))

    def is_same_program(self, programs: Mapping[ArmName, Path]) -> bool:
        """Whether the programs of both sides are equal, but for the paths in them."""
        return _comparison(self.arms).have_equal_content(*(programs[arm] for arm in _SIDES))

    def paths(self, arm: ArmName) -> list[str]:
        """The real paths of what differs, or would have if it were there."""
        return [self.path(arm, name) for name in self.files]

    def watched(self, arm: ArmName) -> list[Path]:
        """The folders of a side that have something that differs."""
        parents = {Path(path).parent for path in self.paths(arm)}
        return [*parents, *(parent / "__pycache__" for parent in parents)]

    def asked(self, arm: ArmName) -> dict[str, object]:
        """What a worker is to look for."""
        return {
            "root": str(self.arms[arm].root),
            "files": self.paths(arm),
            "folders": [self.path(arm, name) for name in self.folders],
            "names": self.names(arm),
        }

    def alone_in(self, folder: str, suffixes: tuple[str, ...]) -> str:
        """A name in a folder that only one side has, with one of some suffixes; "" for none."""
        alone = (name for name in self.files - self.common if os.path.dirname(name) == folder)  # noqa: PTH120 - strings
        return min((name for name in alone if name.endswith(suffixes)), default="")

    def configures_pytest(self, name: str) -> bool:
        """Whether a file, which both sides have, differs in what pytest reads of it."""
        if not name.endswith("pyproject.toml"):
            return True
        try:
            texts = [Path(self.path(arm, name)).read_text(encoding="utf-8") for arm in _SIDES]
            tools = [tomllib.loads(text).get("tool", {}) for text in texts]
        except (OSError, ValueError):
            return True
        base, head = (tool.get("pytest") for tool in tools)
        return bool(base != head)

    def names(self, arm: ArmName) -> list[tuple[str, str, str]]:
        """The functions that only the other side has: name, file on this side, and class.

        Also `PythonEdit.unlike` of each file, without a class.
        """
        side = _SIDES.index(arm)
        edits = {name: self.edit(name) for name in sorted(self.common) if name.endswith(_PYTHON)}
        return [
            each
            for name, edit in edits.items()
            for each in (
                *((one.name, self.path(arm, name), one.owner) for one in edit.only[side]),
                *((one, self.path(arm, name), "") for one in edit.unlike),
            )
        ]

    def name(self, arm: ArmName, path: str) -> str:
        """The name of a real path."""
        env, root = (os.path.realpath(one) for one in (self.arms[arm].env, self.arms[arm].root))
        if path == env or path.startswith(env + os.sep):
            return ENV + path.removeprefix(env)
        return "" if path == root else os.path.relpath(path, root)

    def edit(self, name: str) -> PythonEdit:
        """How a file of Python differs that both sides have."""
        if name not in self._edits:
            try:
                texts = [Path(self.path(arm, name)).read_bytes() for arm in _SIDES]
            except OSError:
                texts = [b"\0", b"\0"]  # no Python
            self._edits[name] = PythonEdit.between(*texts)
        return self._edits[name]

    def path(self, arm: ArmName, name: str) -> str:
        """The real path that a name has, or would have, on a side."""
        if name == ENV or name.startswith(f"{ENV}/"):
            return os.path.realpath(self.arms[arm].env) + name.removeprefix(ENV)
        root = os.path.realpath(self.arms[arm].root)
        return os.path.join(root, name) if name else root  # noqa: PTH118 - strings


def _comparison(arms: Mapping[ArmName, Arm]) -> FileComparison:
    return FileComparison([(arms[name].env, arms[name].root) for name in _SIDES])


def _listed(arm: Arm) -> dict[str, os.DirEntry[str]]:
    """Everything in the tree and in the environment of a side, by its name."""
    found: dict[str, os.DirEntry[str]] = {}
    for top, prefix in ((arm.root, ""), (arm.env, f"{ENV}/")):
        waiting = [os.fspath(top)]
        size = len(waiting[0]) + 1
        while waiting:
            for entry in _entries(waiting.pop()):
                is_built = prefix and entry.path[size:] == _BUILT
                if entry.name not in _SKIPPED and not is_built:
                    found[prefix + entry.path[size:]] = entry
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return found


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return ()
