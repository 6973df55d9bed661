"""What differs between a commit and the working tree, hidden or not.

Every function raises a UsageError if the commit is not here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate.git.repository import Git


_ABSENT = "000000"
_GITLINK = "160000"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes to a checkout: paths relative to its root; renamed files have both names.

    Attributes:
        modified: tracked files that exist and differ from HEAD, staged or not.
        absent: files in HEAD or staged that are missing in the checkout or no longer tracked.
        untracked: files that are neither tracked nor ignored.
        conflicts: files with unresolved merge conflicts.
        repositories: untracked folders that are git repositories.
        submodules: submodules at another commit than in HEAD, or changed inside.
    """

    modified: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()

    @property
    def dirty(self) -> bool:
        """Whether tracked files were changed."""
        return bool(self.modified or self.absent or self.conflicts or self.submodules)

    @property
    def differs(self) -> bool:
        """Whether the measured files differ from HEAD; new files are measured too."""
        return self.dirty or bool(self.untracked)


def read_changes(git: Git, index: Path | None = None) -> Changes:
    """Read `git status` without refreshing the index, and leave out benchgate's own files.

    Args:
        index: instead of the index of the checkout.
    """
    outputs = (os.path.relpath(path, git.root) for path in git.outputs)
    ours = [f":(top,exclude,literal){path}" for path in outputs if not path.startswith("..")]
    status = git.run(
        "status",
        *("--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"),
        "--ignore-submodules=untracked",
        *(("--", ".", *ours) if ours else ()),
        variables={"GIT_INDEX_FILE": str(index)} if index else None,
    )
    return parse_status(status)


def parse_status(status: str) -> Changes:
    """Sort the records of `git status --porcelain=v2 -z --no-renames`."""
    found: dict[str, list[str]] = {name: [] for name in Changes.__dataclass_fields__}
    for record in filter(None, status.split("\0")):
        kind, path = _classify(record)
        found[kind].append(path)
    return Changes(**{name: tuple(paths) for name, paths in found.items()})


def gitlinks(git: Git, commit: str | None = None) -> dict[str, str]:
    """Return the commit of each submodule by its path: in a commit, or else as staged."""
    if commit is None:
        listed = git.run("ls-files", "--stage", "-z")
    else:
        listed = git.run("ls-tree", "-r", "-z", "--full-tree", commit, may_fetch=True)
    links = {}
    for entry in filter(None, listed.split("\0")):
        head, path = entry.split("\t", 1)
        mode, *rest = head.split(" ")
        if mode == _GITLINK:
            links[path] = rest[0] if commit is None else rest[1]
    return links


def _classify(record: str) -> tuple[str, str]:
    """Return the field of Changes that a record belongs to, and its path."""
    if record.startswith("? "):
        path = record[2:]
        return ("repositories" if path.endswith("/") else "untracked"), path
    if record.startswith("u "):
        return "conflicts", record.split(" ", 10)[10]
    _, _, _, _, _, mode_in_checkout, _, _, path = record.split(" ", 8)
    if mode_in_checkout == _ABSENT:
        return "absent", path
    return ("submodules" if mode_in_checkout == _GITLINK else "modified"), path


_ATTRIBUTES: Final = ("info/attributes", "info/sparse-checkout", "info/grafts", "shallow")


def settings_digest(git: Git) -> str:
    """Return a digest of git's configuration, including the files that it refers to.

    The configuration matters: a filter, for example, changes files during a checkout.
    """
    hasher = hashlib.sha256(
        git.run("config", "--list", "--show-origin", "-z").encode("utf-8", "surrogateescape")
    )
    places = [git.run("rev-parse", "--git-path", name).strip() for name in _ATTRIBUTES]
    places += filter(None, [git.ask("config", "--path", "core.attributesFile")])
    for place in places:
        path = git.root / Path(place)
        hasher.update(f"\0{place}\0".encode("utf-8", "surrogateescape"))
        if path.is_file():
            hasher.update(path.read_bytes())
    return hasher.hexdigest()


def is_ignored(git: Git, path: Path) -> bool:
    """Whether git ignores a path of the checkout, so that it is not part of the code."""
    return git.ask("check-ignore", "--quiet", "--", str(path)) is not None


def ignored_by(git: Git, path: Path) -> str:
    """The line that makes git ignore a path of the checkout, `.gitignore:3`; "" if it does not."""
    if not is_ignored(git, path):
        return ""
    source, line, _ = git.run("check-ignore", "--verbose", "--", str(path)).split(":", 2)
    return f"{source}:{line}"


_SKIPPED: Final = "skip-worktree"
_ASSUMED: Final = "assume-unchanged"


def hidden_changes(git: Git, seen: Changes, scratch: Path) -> dict[str, tuple[str, ...]]:
    """Return the files with hidden changes, by the flag of `git update-index` that hides them.

    A file that a sparse checkout leaves out has no changes.

    Args:
        seen: the changes that are not hidden.
        scratch: a folder for temporary files.
    """
    hidden = _hidden(git)
    if not hidden:
        return {}
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        changes = read_changes(git, _index_without(git, hidden, Path(folder)))
    changed = {*changes.modified, *changes.absent}.difference(seen.modified, seen.absent)
    found = {flag: tuple(sorted(changed.intersection(paths))) for flag, paths in hidden.items()}
    return {flag: paths for flag, paths in found.items() if paths}


def _hidden(git: Git) -> dict[str, tuple[str, ...]]:
    """Return the files with each flag; of those that git skips, only those that are there."""
    listed = git.run("ls-files", "-v", "-z").split("\0")
    tagged = [entry.split(" ", 1) for entry in filter(None, listed)]
    skipped = [path for tag, path in tagged if tag in "Ss" and os.path.lexists(git.root / path)]
    found = {_SKIPPED: skipped, _ASSUMED: [path for tag, path in tagged if tag.islower()]}
    return {flag: tuple(paths) for flag, paths in found.items() if paths}


def _index_without(git: Git, hidden: Mapping[str, Collection[str]], folder: Path) -> Path:
    """Write an index as that of the checkout, but without the flags; return its path."""
    copy = folder / "index"
    # With its time: git reads files that are as new as the index, because it may not have seen a
    # change of the same size.
    shutil.copy2(git.root / git.run("rev-parse", "--git-path", "index").strip(), copy)
    for flag, paths in hidden.items():
        git.run(
            *("-c", "core.splitIndex=false"),  # it would write into the user's repository
            *("update-index", f"--no-{flag}", "-z", "--stdin"),
            variables={"GIT_INDEX_FILE": str(copy)},
            stdin="\0".join(paths),
        )
    return copy


_DOCUMENTS: Final = (".md", ".rst")


def changed_since(git: Git, commit: str, most: int) -> tuple[str, ...]:
    """Return the tracked files that differ from a commit, those with most changed lines first.

    Args:
        most: how many, at most. Documents are left out: they change no measurement.
    """
    listed = git.run("diff", "--numstat", "-z", "--no-renames", commit, may_fetch=True)
    found = []
    for record in filter(None, listed.split("\0")):
        added, deleted, path = record.split("\t", 2)
        # Of a binary file, git does not count the lines.
        lines = int(added) + int(deleted) if added != "-" else 0
        if not path.endswith(_DOCUMENTS):
            found.append((-lines, path))
    return tuple(path for _, path in sorted(found)[:most])
