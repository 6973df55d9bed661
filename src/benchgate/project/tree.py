"""Lists the files of a project once, for everything that looks for something in them."""

from __future__ import annotations

import configparser
import json
import os
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SKIPPED = frozenset(
    {
        *("__pycache__", "node_modules", "bower_components", "site-packages", "dist-packages"),
        *("vendor", "third_party", "thirdparty", "_deps", "build", "dist", "venv", "testdata"),
    }
)
_COMPILED_BY = frozenset({"Cargo.toml", "pom.xml"})
_MAX_FILES = 100_000
_MAX_BYTES = 1_000_000
_UNREADABLE = (OSError, ValueError, RecursionError)


@dataclass(slots=True)
class ProjectTree:
    """The files of a project, without hidden, installed and generated ones.

    Attributes:
        top: the folder that was listed.
        files: their paths relative to it, those of a folder together.
        notes: what a person should know about the search, one sentence each.
        is_ignored: whether git ignores a path, so that base and head do not have it.
    """

    top: Path
    files: tuple[PurePosixPath, ...]
    notes: list[str] = field(default_factory=list)
    is_ignored: Callable[[Path], bool] = lambda _: False

    def named(self, *patterns: str) -> Iterator[PurePosixPath]:
        """The files whose name matches one of the patterns."""
        return (
            path for path in self.files if any(fnmatchcase(path.name, each) for each in patterns)
        )

    def below(self, folder: PurePosixPath) -> Iterator[PurePosixPath]:
        """The files in a folder and in its folders."""
        prefix = "" if str(folder) == "." else f"{folder}/"
        return (path for path in self.files if str(path).startswith(prefix))

    def has(self, path: PurePosixPath) -> bool:
        """Whether base and head can have a file."""
        return (self.top / path).is_file() and not self.is_ignored(self.top / path)

    def read(self, path: PurePosixPath) -> str:
        """Read a text file; "" if it is missing, no regular file, or cannot be read.

        A file of more than 1 MB was hardly written by a person. It is not read.
        """
        try:
            if not (self.top / path).is_file() or (self.top / path).stat().st_size > _MAX_BYTES:
                return ""
            return (self.top / path).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self.note(f"{path} was not looked at: {error.strerror}.")
            return ""

    def read_toml(self, path: PurePosixPath) -> Mapping[str, Any]:
        """Read a TOML file; empty, with a note, if it is not valid."""
        try:
            return tomllib.loads(self.read(path))
        except _UNREADABLE as error:
            self._note_broken(path, "TOML", error)
            return {}

    def read_json(self, path: PurePosixPath, text: str | None = None) -> Mapping[str, Any]:
        """Read a JSON file whose value is an object; empty, with a note, if it is not valid.

        Args:
            text: what to read instead of the file's own text.
        """
        text = self.read(path) if text is None else text
        try:
            value = json.loads(text) if text.strip() else {}
        except _UNREADABLE as error:
            self._note_broken(path, "JSON", error)
            return {}
        return value if isinstance(value, dict) else {}

    def note(self, sentence: str) -> None:
        """Keep a sentence for the person, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def _note_broken(self, path: PurePosixPath, language: str, error: Exception) -> None:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        self.note(f"{path} was not looked at: it is not valid {language} ({reason}).")


def list_tree(top: Path, is_ignored: Callable[[Path], bool] = lambda _: False) -> ProjectTree:
    """List the files below a folder, without following symbolic links to folders.

    Folders that are hidden, that hold what was installed or generated, and that are repositories
    of their own are left out.
    """
    files: list[PurePosixPath] = []
    tree = ProjectTree(top, (), is_ignored=is_ignored)

    def unread(error: OSError) -> None:
        folder = Path(error.filename).relative_to(top).as_posix()
        tree.note(f"The folder {folder} was not looked at: {error.strerror}.")

    for folder, folders, names in os.walk(top, onerror=unread):
        place = PurePosixPath(Path(folder).relative_to(top).as_posix())
        if str(place) != "." and {".git", "pyvenv.cfg"} & {*folders, *names}:
            folders.clear()
            continue
        if len(files) + len(names) > _MAX_FILES:
            tree.note(f"Only the first {len(files):,} files were looked at.")
            break
        generated = {"target"} if not _COMPILED_BY.isdisjoint(names) else set()
        folders[:] = sorted(
            one for one in folders if one not in _SKIPPED | generated and not one.startswith(".")
        )
        files += [place / name for name in sorted(names) if name.isprintable()]
    tree.files = tuple(files)
    return tree


def table_at(document: object, *keys: str) -> Mapping[str, Any]:
    """Return a table inside a document; empty if it is not there, or is no table."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def words_at(document: object, *keys: str) -> tuple[str, ...]:
    """Return the texts in a list inside a document; empty if it is not there, or is no list."""
    *folders, last = keys
    return texts_in(table_at(document, *folders).get(last))


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts in a list; empty if it is no list."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def read_ini(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI file; none if it is broken."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def in_folder(folder: PurePosixPath) -> str:
    """Say where something is; "" for the folder that was searched."""
    return "" if str(folder) == "." else f" in {folder}"


def in_places(places: Sequence[PurePosixPath]) -> str:
    """Say where several things are, and name at most three places."""
    named = [str(place) for place in places if str(place) != "."][:3]
    more = len(places) - len(named)
    if not named:
        return ""
    return f" in {', '.join(named)}{f' and {more} more places' if more > 0 else ''}"
