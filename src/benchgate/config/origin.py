"""Where each key of the configuration comes from: a line of the file, or an option."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.errors import UsageError, did_you_mean
from benchgate.model.policy import OVERRIDES, Options
from benchgate.tables.document import Document, dotted, line_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.tables.document import KeyPath


_SOURCES = {
    "auto": "auto",
    "artifact": "artifact",
    "git": "git",
    "dir": "directory",
    "file": "file",
}


@dataclass(frozen=True)
class Origin:
    """The document that a configuration was read from; for the defaults, an empty one.

    Attributes:
        path: its file; None if the text did not come from a file here.
        folder: where its paths start, relative to the root of the tree; "." is the root.
        name: what messages call it.
        prefix: tables that contain benchgate's; ("tool", "benchgate") in pyproject.toml.
        tables: benchgate's tables as they were read.
        text: the whole text, to find line numbers.
        kept_lines: the line of each key by its dotted name, if the text was not stored.
        options: options of the command line, which override the file.
        named: whether the user named the file, so that it was not searched for.
    """

    path: Path | None = None
    folder: str = "."
    name: str = "defaults"
    prefix: tuple[str, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    kept_lines: Mapping[str, int] | None = None
    options: Options = field(default_factory=Options)
    named: bool = False

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The tables overridden by the options, unchecked."""
        given = self.options.given()
        document = dict(self.tables)
        for name, value in given.items():
            option = OVERRIDES[name]
            gone = {*option.keys, *option.gives_way} - (given.keys() - {name})
            rest = {k: v for k, v in document.get(option.table, {}).items() if k not in gone}
            document[option.table] = {**rest, **_set_by(self.options, name, value)}
        return document

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The line, from 1, of each table and key in the file, by its dotted name."""
        if self.kept_lines is not None:
            return self.kept_lines
        return {dotted(path): line for path, line in line_numbers(self.text).items()}

    @cached_property
    def _written(self) -> Document:
        return Document(self.name, self.tables, self.lines)

    def option(self, path: KeyPath) -> str | None:
        """The option that gave the value of a key, or of the list that contains the key."""
        for name in self.options.given():
            one = OVERRIDES[name]
            if path[:1] == (one.table,) and path[1:2] and path[1] in one.keys:
                return one.flag
        return None

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the innermost table around it that the file contains."""
        if self.option(path):
            return None
        return self._written.line((*self.prefix, *path))

    def file_and_line(self, path: KeyPath) -> str:
        """`benchgate.toml:3`, or only the file if the key is not in it."""
        line = self.line(path)
        return self.name if line is None else f"{self.name}:{line}"

    def place(self, path: KeyPath) -> str:
        """`benchgate.toml:3: gate.margin`, or the option: `--margin`."""
        if option := self.option(path):
            return option
        return self._written.place((*self.prefix, *path))

    def where(self, key: str) -> str:
        """Like `place`, for a dotted key; a key that nobody set is a default.

        Args:
            key: from the configuration's root, such as `gate.margin` or `rule[0].margin`.
        """
        table, _, name = key.partition(".")
        if option := self.option((table, name)):
            return option
        full = ".".join([*self.prefix, key])
        return (
            f"{self.name}:{self.lines[full]}: {full}" if full in self.lines else f"{key} (default)"
        )


def _set_by(options: Options, name: str, value: object) -> Mapping[str, object]:
    if name == "against":
        return {"source": "git", "against": value}
    if name != "baseline":
        return {name: value}
    if options.against is not None:
        raise UsageError(
            "--against and --baseline both say what to compare with",
            hint=f"give one of them: --against {options.against}, or --baseline {value}",
        )
    kind, _, rest = str(value).partition(":")
    if (
        kind not in _SOURCES
        or (kind in {"auto", "artifact"} and rest)
        or (kind == "file" and not rest)
    ):
        raise UsageError(
            f'--baseline "{value}": must be auto, artifact, git, git:REF, dir:PATH or file:PATH'
            f"{did_you_mean(kind, _SOURCES) if kind not in _SOURCES else ''}",
            hint="for example --baseline git:main or --baseline file:baseline.json",
        )
    if not rest:
        return {"source": _SOURCES[kind]}
    # A path on the command line is relative to the folder where it was typed.
    where = {"against": rest} if kind == "git" else {"path": str(Path(rest).absolute())}
    return {"source": _SOURCES[kind], **where}
