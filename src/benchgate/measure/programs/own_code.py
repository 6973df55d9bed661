"""Checks that each arm runs its own code, by the files that its command opens.

If both arms run the same code, nothing is compared. So an arm's command must not open files of
the user's checkout or of another arm, and must open a file of its own.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.git.repository import Git
from benchgate.measure.reach import (
    CACHED_CODE,
    CannotWatchError,
    Folders,
    Watch,
    folders_below,
    source_of,
)
from benchgate.measure.sources import hidden_by_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.measure.arm import Arm, ArmName


# Every worktree shares the repository's own files, and the project's dependencies.
_REPOSITORY = frozenset({".git"})
_SKIPPED = _REPOSITORY | {"node_modules", "__pypackages__"}
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_COMPILED_SUFFIXES = frozenset({".so", ".dylib", ".pyd", ".dll", ".jar", ".class", ".wasm"})
_METADATA_SUFFIXES = (".egg-info", ".dist-info")

_NAMES = ("its own tree", "the other side's tree", "the checkout")
_ASKED_AT_ONCE = 500
_REPEATS = 2
_QUIET_S = (0.2, 5.0)


class ForeignCodeError(Exception):
    """A command does not run the code of its own arm; the message is one line, then a hint."""


@dataclass(frozen=True, slots=True)
class _OpenedFiles:
    """The files that were opened while a command ran.

    Attributes:
        own: files of the arm's own tree and environment.
        foreign: files of other arms, and those files of the checkout that are code under test.
        gaps: descriptions of what could not be watched.
        is_complete: whether `own` has all of them that were opened below what was watched.
    """

    own: frozenset[Path]
    foreign: frozenset[Path]
    gaps: tuple[str, ...] = ()
    is_complete: bool = True


class OwnCode:
    """Checks the commands of a session.

    Args:
        checkout: the user's tree, which no arm may run code of.

    Attributes:
        opened: by arm, the files of its own that its command opened when it was checked last; an
            arm is missing if that is not known.
    """

    def __init__(self, checkout: Path) -> None:
        self._checkout = Path(os.path.realpath(checkout))
        self.opened: dict[ArmName, frozenset[Path]] = {}

    @cached_property
    def _users_folders(self) -> Folders:
        """The folders of the checkout, listed once: there may be many, and they do not change."""
        listed = folders_below([self._checkout], _SKIPPED, _ENVIRONMENT_MARKS)
        # Except those that Python creates when it compiles an import.
        caches = [path / CACHED_CODE for path in listed.found if path.name != CACHED_CODE]
        return replace(listed, found=tuple(dict.fromkeys((*listed.found, *caches))))

    def check(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        *,
        named: bool,
        what: str,
        besides: Sequence[Path] = (),
    ) -> tuple[str, ...]:
        """Run a command of one arm, and check that it runs the arm's own code.

        Other programs may open files of the checkout at the same time. So if files seem foreign,
        the command runs again. They count if they are opened every time, but not while nothing
        runs.

        Args:
            others: the other arms.
            run: executes the command; its exceptions are passed on.
            named: whether the command names its own arm, so that it runs the arm's code in any
                case.
            what: the program, for the error.
            besides: files and folders that do not count, whoever opens something of them.

        Returns:
            Notes that a reader of the numbers must see.

        Raises:
            ForeignCodeError: it runs other code.
        """
        try:
            opened = self._opened(arm, others, run, besides)
        except CannotWatchError as problem:
            run()
            return (_unknown(str(problem)),)
        if opened.is_complete and not opened.gaps:
            self.opened[arm.name] = opened.own
        if opened.foreign:
            raise ForeignCodeError(self._foreign(arm, others, opened.foreign))
        if opened.gaps:
            return (_unknown(", ".join(opened.gaps)),)
        if not opened.own and not named:
            raise ForeignCodeError(_nothing_own(arm, what))
        hidden = hidden_by_tree(arm, opened.own)
        return (_hidden(hidden),) if hidden else ()

    def _opened(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        besides: Sequence[Path],
    ) -> _OpenedFiles:
        """Watch one execution, and more if files seem foreign."""
        started_s = time.perf_counter()
        opened = self._watched(arm, others, run, besides)
        pause_s = min(max(time.perf_counter() - started_s, _QUIET_S[0]), _QUIET_S[1])
        foreign = opened.foreign
        for _ in range(_REPEATS if foreign else 0):
            foreign &= self._watched(arm, others, run, besides).foreign
        if foreign:
            quiet = self._watched(arm, others, lambda: time.sleep(pause_s), besides)
            foreign -= quiet.foreign
        return replace(opened, foreign=foreign)

    def _watched(
        self,
        arm: Arm,
        others: Sequence[Arm],
        run: Callable[[], object],
        besides: Sequence[Path],
    ) -> _OpenedFiles:
        own_folders = folders_below(_places([arm]), _REPOSITORY)
        their_folders = folders_below(_places(others), _REPOSITORY)
        users_folders = self._users_folders
        with (
            Watch(own_folders.found) as own,
            Watch(their_folders.found) as theirs,
            Watch(users_folders.found) as users,
        ):
            run()
            seen = frozenset(map(source_of, own.opened()))
            foreign = frozenset(map(source_of, theirs.opened()))
            foreign |= code_among(users.opened(), self._checkout)
        folders = (own_folders, their_folders, users_folders)
        gaps = tuple(
            f"{name} has more folders than can be watched"
            for name, each in zip(_NAMES, folders, strict=True)
            if not each.complete
        )
        left_out = [Path(os.path.realpath(place)) for place in besides]
        seen, foreign = (
            frozenset(f for f in files if not any(map(f.is_relative_to, left_out)))
            for files in (seen, foreign)
        )
        return _OpenedFiles(seen, foreign, gaps, own.is_complete)

    def _foreign(self, arm: Arm, others: Sequence[Arm], files: frozenset[Path]) -> str:
        file = min(files)
        place, whose = self._checkout, f"your checkout {self._checkout}"
        for other in others:
            if file.is_relative_to(other.root) or file.is_relative_to(other.env):
                place = other.root if file.is_relative_to(other.root) else other.env
                whose = f"the {other.name}"
        name = file.relative_to(place) if file.is_relative_to(place) else file
        return (
            f"the {arm.name} opened {name} of {whose}, not of its own tree: "
            f"base and head would run the same code\n{_REMEDY}"
        )


def _places(arms: Iterable[Arm]) -> tuple[Path, ...]:
    return tuple(place for arm in arms for place in (arm.root, arm.env))


def code_among(opened: Iterable[Path], checkout: Path) -> frozenset[Path]:
    """Of the files that were opened in a checkout, keep those that are code under test.

    These are the files that git tracks or would add, and code compiled from them. Other files that
    git ignores, such as data sets, are the same for both arms.

    Args:
        opened: the opened files; a compiled Python file stands for its source.
        checkout: without symbolic links.
    """
    found = {source_of(path) for path in opened}
    code = (path for path in found if not any(p.endswith(_METADATA_SUFFIXES) for p in path.parts))
    inside = {path for path in code if path.is_relative_to(checkout)}
    ignored = _ignored(inside, checkout) if inside else frozenset()
    return frozenset(path for path in inside if path not in ignored or _is_compiled(path))


def _is_compiled(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IXUSR) or path.suffix in _COMPILED_SUFFIXES


def _ignored(paths: Iterable[Path], checkout: Path) -> frozenset[Path]:
    """Say which files git ignores."""
    names = sorted(str(path.relative_to(checkout)) for path in paths)
    listing = ("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored")
    found: set[Path] = set()
    for start in range(0, len(names), _ASKED_AT_ONCE):
        asked = names[start : start + _ASKED_AT_ONCE]
        with suppress(UsageError):  # such as a submodule's files
            listed = Git(checkout).run(*listing, "--exclude-standard", "--", *asked)
            found.update(checkout / name for name in filter(None, listed.split("\0")))
    return frozenset(found)


def _nothing_own(arm: Arm, what: str) -> str:
    return (
        f"the {arm.name} opened no file of its own tree: base and head would run the same code, "
        f"{what}\n"
        f"{_REMEDY}"
    )


_REMEDY = (
    "Install each side into its own environment in [build], and run `{env}/bin/PROGRAM`; or set "
    "`pythonpath` in [[benchmark]] to the folders of its Python code. If you do not want to "
    "measure the code of the tree, set `allow_foreign = true`."
)


def _hidden(file: Path) -> str:
    return (
        f"it used {file} of the tree, not the copy that [build] installed: `python -m` looks in "
        "its working folder first; `python -I -m` does not"
    )


def _unknown(why: str) -> str:
    return (
        f"benchgate could not check that each side runs its own code: {why}; it does if [build] "
        "installs it and the command is `{env}/bin/PROGRAM`"
    )
