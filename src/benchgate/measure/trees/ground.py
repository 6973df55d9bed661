"""The ground: the trees of a session, which move to new random places while it measures.

Equal files of both commits become one file, so both arms read it from the same place. Before each
round, benchgate recreates the folders of the trees and their other files, in random order. So
a place that favors one arm is as likely to favor the other arm in the next round. After each
round, and at the end, the files are compared with their state after the build.

Reading the same bytes takes up to a tenth longer or shorter depending on the pages that hold them,
and writing depends on the folder's place on the disk. The OS chooses both when a file or folder is
created. So equal files of two commits become one file, and the rest is recreated: what a build has
made in a tree is its own to change.
"""

from __future__ import annotations

import filecmp
import heapq
import os
import stat
from itertools import chain
from typing import TYPE_CHECKING

from benchgate.measure.session_folder import no_room
from benchgate.measure.trees.file_state import (
    CACHED_CODE,
    IMPORTABLE,
    MOST_READ_BYTES,
    FileState,
    entries_below,
)
from benchgate.measure.trees.moving import is_in_use, remake, renew, share
from benchgate.measure.trees.shared_places import SharedPlaces
from benchgate.measure.trees.tree_state import read_state, written_between
from benchgate.measure.trees.witness import Witness
from benchgate.units import format_value

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.trees.laying import Laying
    from benchgate.measure.trees.tree_state import TreeState
    from benchgate.model.run import BenchmarkFiles


MOST_ENTRIES = 2_000
MOST_RENEWED_FILES = 200
MOST_RENEWED_BYTES = 32 * 2**20
_PAGE_BYTES = 4096
# Text is read only once, into memory that is randomized anyway.
_TEXT = (".py", ".pyc", ".pth")
_TEXT_OF_NODE = (".js", ".cjs", ".mjs", ".json", ".ts", ".map", ".md")
_NAMED = 5


class Ground:
    """The trees that benchmarks run in.

    Args:
        arms: fresh checkouts, in a random order that is not disclosed.
        scratch: a path that does not exist yet, next to the trees.
        laying: lays the benchmark files of one side over the other; None if each has its own.

    Attributes:
        shared: what both sides may import from elsewhere.
    """

    def __init__(self, arms: Sequence[Arm], scratch: Path, laying: Laying | None = None) -> None:
        self.laying = laying
        self._scratch = scratch
        self._witnesses = [Witness(arm, _files_below(arm.root)) for arm in arms]
        self.shared = SharedPlaces(folder for arm in arms for folder in (arm.root, arm.env))
        self._changed_since_built: tuple[str, ...] = ()
        self._shared: set[str] = set()
        self._installed: dict[Path, list[str]] = {}
        self._kept: dict[str, None] = {}
        self._is_remade = True

    def built(self, arm: ArmName) -> None:
        """Record an arm before another one is built, whose commands could reach it."""
        for witness in self._witnesses:
            if witness.arm.name is arm:
                witness.remember()
                witness.changes()  # records compiled code

    def settle(self) -> None:
        """Record the trees as what is measured; call it after every build has ended."""
        known = [witness for witness in self._witnesses if witness.seen]
        self._changed_since_built = tuple(
            f"in the {witness.arm.name}, {change} while another side was built"
            for witness in known
            for change in witness.changes()
        )
        for witness in self._witnesses:
            witness.remember()
        if len(self._witnesses) > 1:
            self._share(*self._witnesses)
        for witness in self._witnesses:
            env = witness.arm.env
            self._installed[env] = [path for path in _files_below(env) if _is_mapped(path)]
            witness.look_again()

    def draw(self, rng: random.Random) -> None:
        """Move the trees to other places, unless something such as a server runs in them."""
        arms = [witness.arm for witness in self._witnesses]
        if is_in_use(*(folder for arm in arms for folder in (arm.root, arm.env))):
            self._kept["folders that a process from an earlier step still uses"] = None
            return
        for witness in rng.sample(self._witnesses, len(self._witnesses)):
            self._remake(witness.arm)
        for witness in rng.sample(self._witnesses, len(self._witnesses)):
            renewed = self._renew(witness.arm)
            witness.look_again(None if self._is_remade else renewed)

    def lay(self, files: BenchmarkFiles) -> None:
        """Let both trees have the benchmark files of one side, or each its own."""
        if self.laying is None:
            return
        try:
            replaced = self.laying.lay(files)
        except OSError as error:
            raise no_room(error.strerror or str(error)) from None
        for witness in self._witnesses:
            witness.expect(replaced[witness.arm.name])

    def state(self) -> TreeState:
        """Look at all files and folders of the trees."""
        return read_state(witness.arm.root for witness in self._witnesses)

    def written_since(self, before: TreeState) -> list[str]:
        """Name files and folders of the trees that were written, each once; see `state`."""
        paths = written_between(before, self.state())
        roots = [str(witness.arm.root) for witness in self._witnesses]
        found = (
            os.path.relpath(path, root) + (os.sep if os.path.isdir(path) else "")  # noqa: PTH112 - strings
            for path in paths
            for root in roots
            if path.startswith(root)
        )
        return list(dict.fromkeys(found))

    def changes_of_round(self) -> tuple[str, ...]:
        """Report changed files of the trees. A large tree is only checked at the end."""
        now = self._said(Witness.changes_of_tree) if self._is_remade else ()
        return (*self._changed_since_built, *now, *self.shared.changes())

    def changes(self) -> tuple[str, ...]:
        """Report changed files of trees and environments, by their content."""
        return (*self._changed_since_built, *self._said(Witness.changes), *self.shared.changes())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about files and folders that were not moved."""
        return tuple(f"not moved between rounds: {what}" for what in self._kept)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about files that were written to but have the same content."""
        found = []
        for witness in self._witnesses:
            if names := list(witness.touched):
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                found.append(
                    f"during the measurement, something wrote to files of the {witness.arm.name}, "
                    f"but their content is unchanged: {', '.join(names[:_NAMED])}{more}"
                )
        return tuple(found)

    def _said(self, look: Callable[[Witness], list[str]]) -> tuple[str, ...]:
        return tuple(
            f"in the {witness.arm.name}, {change}"
            for witness in self._witnesses
            for change in look(witness)
        )

    def _share(self, kept: Witness, other: Witness) -> None:
        """Make equal files of the commits, and equal installed files, one file."""
        for path, twin in (*_equal_in_commits(kept, other), *_equal_installed(kept, other)):
            try:
                share(path, twin)
            except OSError as error:
                self._kept[f"files that are equal on both sides ({error.strerror})"] = None
                return
            self._shared |= {path, twin}

    def _remake(self, arm: Arm) -> None:
        if self._is_remade and sum(1 for _ in entries_below(arm.root)) > MOST_ENTRIES:
            self._is_remade = False
            self._kept[f"folders of the trees (more than {MOST_ENTRIES})"] = None
        if not self._is_remade:
            return
        try:
            remake(arm.root, self._scratch)
        except OSError as error:
            self._is_remade = False
            self._kept[f"folders of the trees ({error.strerror})"] = None

    def _renew(self, arm: Arm) -> list[str]:
        """Copy unshared files up to a limit: programs and libraries first, then by size."""
        renewed: list[str] = []
        left_bytes, left_files = MOST_RENEWED_BYTES, MOST_RENEWED_FILES
        for _, size, path in heapq.nsmallest(MOST_RENEWED_FILES + 1, self._own_files(arm)):
            left_bytes, left_files = left_bytes - size, left_files - 1
            if left_bytes < 0 or left_files < 0:
                bound = f"{MOST_RENEWED_FILES} files or {format_value(MOST_RENEWED_BYTES, 'B')}"
                self._kept[f"some files that the sides do not share (more than {bound})"] = None
                break
            try:
                renew(path)
                renewed.append(path)
            except OSError as error:
                self._kept[f"some files that the sides do not share ({error.strerror})"] = None
        return renewed

    def _own_files(self, arm: Arm) -> Iterator[tuple[bool, int, str]]:
        for path in chain(_files_below(arm.root), self._installed[arm.env]):
            is_text = path.endswith(_TEXT_OF_NODE) and _is_in(path, "node_modules")
            if path not in self._shared and not is_text and not _is_in(path, CACHED_CODE):
                seen = FileState.of(path)
                if seen and stat.S_ISREG(seen.mode) and seen.size:
                    is_program = bool(seen.mode & stat.S_IXUSR) or path.endswith(IMPORTABLE)
                    yield not is_program, seen.size, path


def _equal_in_commits(kept: Witness, other: Witness) -> Iterator[tuple[str, str]]:
    for path, seen in kept.seen.items():
        twin = other.path_of(kept.name(path))
        there = other.seen.get(twin)
        in_commits = path in kept.checked_out and twin in other.checked_out
        # Compiled Python code stores the modification time of its source.
        if in_commits and there and seen.is_twin_of(there) and seen.mtime_ns == there.mtime_ns:
            yield path, twin


def _equal_installed(kept: Witness, other: Witness) -> Iterator[tuple[str, str]]:
    left_bytes = MOST_READ_BYTES
    for path in _files_below(kept.arm.env):
        seen = FileState.of(path) if kept.is_installed(path) and _is_mapped(path) else None
        twin = other.path_of(kept.name(path))
        there = FileState.of(twin) if seen else None
        if seen and there and (seen.mode, seen.size) == (there.mode, there.size):
            left_bytes -= seen.size
            if left_bytes < 0:
                return
            if stat.S_ISREG(seen.mode) and filecmp.cmp(path, twin, shallow=False):
                yield path, twin


def _files_below(top: Path) -> Iterator[str]:
    return (e.path for e in entries_below(top) if not e.is_dir(follow_symlinks=False))


def _is_in(path: str, folder: str) -> bool:
    return f"{os.sep}{folder}{os.sep}" in path


def _is_mapped(path: str) -> bool:
    """Whether a file fills at least one page that programs may use as it is; text does not."""
    seen = None if path.endswith(_TEXT) else FileState.of(path)
    return seen is not None and seen.size >= _PAGE_BYTES
