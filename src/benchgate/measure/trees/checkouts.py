"""Creates the trees to measure: two checkouts that differ only by the change.

Both are git worktrees in a temporary folder. Their paths have equal length and do not show which
side they are. The head's tree also gets the uncommitted changes. Submodules become worktrees of
their local repositories. Only a commit that these lack, as in a shallow clone, is fetched.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import re
import shlex
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, Interrupted, UsageError
from benchgate.git.changes import gitlinks, read_changes
from benchgate.git.repository import Git, ensure_commit
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.session_folder import (
    SessionFolder,
    forget_worktree,
    no_room,
    remove_abandoned,
    session_folder_of,
    session_folders,
)
from benchgate.measure.trees.file_state import FileState, entries_below
from benchgate.measure.trees.git_failures import explain, hint_on_access
from benchgate.measure.trees.ground import Ground
from benchgate.measure.trees.laying import Laying
from benchgate.measure.trees.uncommitted import overlay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from benchgate.config import Config


SECRET = random.SystemRandom()
# Long ago: git reads files again that are as old as its index. And the same in every session, so
# that what a build compiled from them is not older than they are when it is used again.
_CHECKED_OUT_S = 1_500_000_000
_NAME_DIGITS = 8
_MOST_AT_ONCE = 16  # sessions of a project that find their places again


@dataclass(frozen=True, slots=True)
class _Code:
    """A commit, and whether the uncommitted changes go on top of it."""

    commit: str
    with_changes: bool = False


@dataclass(frozen=True, slots=True)
class Trees:
    """The trees to measure.

    Attributes:
        folder: a folder outside of the user's tree; it is removed at the end with all its content.
        arms: each has its own tree, and a path for its own environment, which does not exist yet.
        ground: moves the trees, and checks that they do not change.
        notes: notes that a reader of the numbers must see, e.g. on submodules that are left out.
    """

    folder: Path
    arms: Mapping[ArmName, Arm]
    ground: Ground
    notes: tuple[str, ...] = ()


def two_arms(
    git: Git,
    base_sha: str,
    configs: Mapping[ArmName, Config] | None = None,
    *,
    same_places: bool = False,
) -> AbstractContextManager[Trees]:
    """Create the base from its commit, and the head from the working tree.

    Args:
        configs: for each arm the configuration that names its benchmarks, if those of one side are
            to be laid over the other's tree; see `Laying`.
        same_places: whether the same code gets the same paths in every session.
    """
    wanted = {ArmName.BASE: _Code(base_sha), ArmName.HEAD: _working_tree(git)}
    return _trees(git, wanted, configs, same_places=same_places)


def one_arm(git: Git, *, same_places: bool = False) -> AbstractContextManager[Trees]:
    """Create only the head, from the working tree; see `two_arms`."""
    return _trees(git, {ArmName.HEAD: _working_tree(git)}, same_places=same_places)


def same_arms(git: Git) -> AbstractContextManager[Trees]:
    """Create both arms from the working tree, so every difference is noise; see `two_arms`."""
    code = _working_tree(git)
    return _trees(git, {ArmName.BASE: code, ArmName.HEAD: code})


def sweep(git: Git) -> tuple[str, ...]:
    """Remove the leftovers of killed sessions, of this and other repositories.

    Running sessions are not touched.

    Returns:
        A warning for every folder that could not be removed.
    """
    repositories = [git, *_submodules(git)]
    registered = [(owner, tree) for owner in repositories for tree in owner.worktrees()]
    # For this repository, also the leftovers in folders that TMPDIR pointed to earlier.
    folders = {folder for _, tree in registered if (folder := session_folder_of(tree))}
    left = remove_abandoned(sorted(folders.union(session_folders())))
    for owner, tree in registered:
        lost = session_folder_of(tree)
        if lost is not None and not lost.exists():
            forget_worktree(owner, tree)
    return tuple(
        f"{folder}, left by a killed run, cannot be removed: remove it by hand" for folder in left
    )


def _working_tree(git: Git) -> _Code:
    return _Code(git.head_sha(), with_changes=True)


@contextmanager
def _trees(
    git: Git,
    wanted: Mapping[ArmName, _Code],
    configs: Mapping[ArmName, Config] | None = None,
    *,
    same_places: bool = False,
) -> Iterator[Trees]:
    """Create the trees in an order and with names that do not show which is which."""
    folder = _create_folder(git, same_places=same_places)
    try:
        drawn = {}
        notes: list[str] = []
        for name in SECRET.sample(list(wanted), len(wanted)):
            code = wanted[name]
            places = map(
                folder.path.joinpath,
                _names_of(_identity(git, code)) if same_places else _random_names(),
            )
            place = next(place for place in places if not place.exists())
            root = place / _safe_name(git.root)
            notes += _grow(folder, git, code, root)
            env = place.with_name(f"{place.name}-env")
            drawn[name] = Arm(name=name, root=root, env=env, sha=code.commit)
        laying = _laying(drawn, configs, folder.path) if configs else None
        scratch = folder.path / next(_random_names())
        yield Trees(
            folder=folder.path,
            arms={name: drawn[name] for name in wanted},
            ground=Ground(list(drawn.values()), scratch, laying),
            notes=tuple(dict.fromkeys(notes)),
        )
    except (KeyboardInterrupt, Interrupted):
        folder.leave()
        raise
    except BaseException:
        folder.remove()
        raise
    folder.remove()


def _random_names() -> Iterator[str]:
    return iter(lambda: f"{SECRET.getrandbits(32):08x}", "")


def _names_of(identity: object) -> Iterator[str]:
    """Names that look random, in the same order in every session."""
    for number in itertools.count():
        yield hashlib.sha256(f"{identity!r}{number}".encode()).hexdigest()[:_NAME_DIGITS]


def _identity(git: Git, code: _Code) -> list[object]:
    """Tell code from all other code.

    Each has paths of its own: caches of tools outside of the trees know files by path, time and
    size, and the times of all are the same.
    """
    found: list[object] = [_safe_name(git.root), code.commit]
    checkouts = (git, *_submodules(git)) if code.with_changes else ()
    seen = [(one, read_changes(one)) for one in checkouts]
    if any(changes.differs for _, changes in seen):
        for one, changes in seen:
            found += [os.path.relpath(one.root, git.root), one.head_sha(), changes]
            paths = [str(one.root / path) for path in (*changes.modified, *changes.untracked)]
            states = [(path, FileState.of(path)) for path in paths]
            found += [(state.mode, state.read(path).digest) for path, state in states if state]
    return found


def _create_folder(git: Git, *, same_places: bool) -> SessionFolder:
    try:
        place = Path(tempfile.gettempdir()).resolve()
    except FileNotFoundError:
        raise UsageError(
            "there is no folder for temporary files: none can be written",
            hint="Set TMPDIR to a folder that you may write to.",
        ) from None
    if place.is_relative_to(git.root):
        raise UsageError(
            f"temporary files go to {place}, which is inside the repository",
            hint="Set TMPDIR to a folder outside the repository.",
        )
    try:
        names = _names_of(_safe_name(git.root)) if same_places else ()
        return SessionFolder.create(itertools.islice(names, _MOST_AT_ONCE))
    except OSError as error:
        raise no_room(error.strerror or str(error)) from None


def _grow(folder: SessionFolder, git: Git, code: _Code, tree: Path) -> list[str]:
    """Create one tree with its submodules; return notes about it."""
    folder.announce_worktree(git, tree)
    try:
        command = ("worktree", "add", "--quiet", "--detach", str(tree), code.commit)
        git.run(*command, may_fetch=True)
    except UsageError as error:
        if refusal := explain(git, code.commit, error.details):
            raise refusal from None
        if code.with_changes:
            error.hint = hint_on_access(error.details) or error.hint
            raise
        raise BaselineError(
            f"the base commit {code.commit[:12]} cannot be checked out",
            hint=hint_on_access(error.details)
            or "Name another base: benchgate check --against REF",
            details=error.details,
        ) from None
    try:
        notes = list(overlay(git, tree, folder.path)) if code.with_changes else []
        _date(tree)
    except OSError as error:
        raise no_room(error.strerror or str(error)) from None
    for path, recorded in gitlinks(git, None if code.with_changes else code.commit).items():
        submodule = git.submodule(path)
        if _is_checked_out(submodule):
            wanted = _working_tree(submodule) if code.with_changes else _Code(recorded)
            _require(submodule, wanted)
            notes += _grow(folder, submodule, wanted, tree / path)
        else:
            notes.append(
                f"the submodule {path} is not measured, because it is not checked out: "
                "git submodule update --init --recursive"
            )
    return notes


def _laying(arms: Mapping[ArmName, Arm], configs: Mapping[ArmName, Config], folder: Path) -> Laying:
    store = folder / next(_random_names())
    try:
        return Laying.of(arms[ArmName.BASE], arms[ArmName.HEAD], configs, store)
    except OSError as error:
        raise no_room(error.strerror or str(error)) from None


def _date(tree: Path) -> None:
    """Set one time on all files of a fresh checkout, so that equal files are equally old."""
    for entry in entries_below(tree):
        if not entry.is_symlink():
            os.utime(entry.path, (_CHECKED_OUT_S, _CHECKED_OUT_S))
    # Tools that ask git for the state of the tree then let it open none of them. What is staged
    # leaves unreferenced objects in the user's repository, as `git stash drop` does.
    Git(tree).ask("update-index", "-q", "--refresh")
    Git(tree).ask("add", "--update")


def _require(submodule: Git, code: _Code) -> None:
    try:
        ensure_commit(submodule, code.commit)
    except BaselineError as error:
        raise BaselineError(
            f"the base needs commit {code.commit[:12]} of the submodule {submodule.root}, "
            "which is not in this clone and cannot be fetched",
            hint=f"git -C {shlex.quote(str(submodule.root))} fetch origin {code.commit}",
            details=error.details,
        ) from None


def _submodules(git: Git) -> Iterator[Git]:
    for path in gitlinks(git):
        submodule = git.submodule(path)
        if _is_checked_out(submodule):
            yield submodule
            yield from _submodules(submodule)


def _is_checked_out(submodule: Git) -> bool:
    return (submodule.root / ".git").exists()


def _safe_name(root: Path) -> str:
    """The name of the user's folder, safe for a shell; some tools use it as the project's name."""
    return re.sub(r"[^\w.+-]", "-", root.name) or "tree"
