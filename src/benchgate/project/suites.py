"""A suite of benchmarks that a project has, and what benchgate needs to run it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.project.needs import Build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import PurePosixPath

    from benchgate.project.requirements import PythonSuite

Value = str | bool | tuple[str, ...] | dict[str, str]
"""What a key of the configuration is set to."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that was found.

    Attributes:
        found: what was found and where, without "Found" and the full stop.
        table: the keys of its [[benchmark]].
        comment: what the table measures, one sentence.
        build: what it needs before it can run; see `python` for a suite in Python.
        python: what a suite in Python needs to be installed; None for any other suite.
        to_edit: what only a person can know, one sentence each.
        place: the folder or file that is measured.
    """

    found: str
    table: Mapping[str, Value]
    comment: str
    place: PurePosixPath
    build: Build = field(default_factory=Build)
    python: PythonSuite | None = None
    to_edit: tuple[str, ...] = ()


def command_table(command: str, folder: PurePosixPath, **more: Value) -> dict[str, Value]:
    """The keys of a [[benchmark]] whose suite is a command that runs in a folder."""
    table: dict[str, Value] = {"suite": command, **more}
    if str(folder) != ".":
        table["cwd"] = str(folder)
    return table


def run_in(folder: PurePosixPath, command: str) -> str:
    """Return the command of `[build]` that runs another command in a folder."""
    if str(folder) == ".":
        return command
    return shlex.join(["sh", "-c", f"cd {shlex.quote(str(folder))} && {command}"])


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
