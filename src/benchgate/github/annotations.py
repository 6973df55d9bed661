"""Annotations of a job, and what keeps the runner from obeying what is printed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO


ANNOTATIONS_PER_STEP: Final = 10
"""GitHub shows so many annotations of each level for a step, and silently drops the rest."""

_IN_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_LOCATION = re.compile(r"(?P<file>[^:\\\x00-\x1f\x7f]{1,1000}):(?P<line>[1-9][0-9]{0,8})")


class Level(StrEnum):
    """The level of an annotation; no level fails a step."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message on the page of a run and, if it has a location, in the diff.

    Attributes:
        message: one or more lines.
        location: `path:line` in the checkout; ignored if it leads out of the checkout.
    """

    message: str
    title: str = ""
    location: str = ""


def annotate(level: Level, annotations: Sequence[Annotation]) -> list[str]:
    """The commands for all annotations of one level in a step, most important first.

    If there are more than GitHub shows, the last one says how many.
    """
    shown = list(annotations)
    if len(shown) > ANNOTATIONS_PER_STEP:
        del shown[ANNOTATIONS_PER_STEP - 1 :]
        rest = len(annotations) - len(shown)
        shown.append(Annotation(f"and {rest} more: see the summary of the run"))
    return [_annotation(level, annotation) for annotation in shown]


@contextmanager
def stopped(stream: TextIO, draw: Callable[[], str]) -> Iterator[None]:
    """Make the runner ignore workflow commands that anything prints inside this block.

    This applies to both output streams. But the runner reads them separately: what was written to
    the other stream just before the end may be read after it.

    Args:
        draw: returns a word that nobody can guess, such as 128 random bits in hexadecimal.
    """
    token = draw()
    print(_command("stop-commands", token), file=stream, flush=True)
    try:
        yield
    finally:
        # The output may have ended in the middle of a line.
        print(f"\n{_command(token)}", file=stream, flush=True)


def _annotation(level: Level, annotation: Annotation) -> str:
    file, line = _place(annotation.location)
    return _command(level, annotation.message, file=file, line=line, title=annotation.title)


def _place(location: str) -> tuple[str, str]:
    """File and line as properties; none if they are not in a file of the checkout."""
    match = _LOCATION.fullmatch(location)
    if match is None:
        return "", ""
    path = PurePosixPath(match["file"])
    if path.is_absolute() or ".." in path.parts:
        return "", ""
    return str(path), match["line"]


def _command(name: str, data: str = "", **properties: str) -> str:
    """Format one command; properties without a value are left out."""
    pairs = [f"{key}={value.translate(_IN_PROPERTY)}" for key, value in properties.items() if value]
    head = f"{name} {','.join(pairs)}" if pairs else name
    return f"::{head}::{data.translate(_IN_DATA)}"
