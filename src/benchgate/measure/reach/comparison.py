"""Compares files of both sides, in which each may name its own folders."""

from __future__ import annotations

import math
import os
import re
import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_READ_BYTES: Final = 2**30
# The notes in a program that a linker computes from all of it, with the paths.
_BUILD_ID: Final = re.compile(
    rb"\x04\0{3}(?:[\x08\x10\x14]\0{3}\x03\0{3}GNU\0.{20}|.\0{3}\x04\0{3}Go\0{2}[^\0]*)", re.DOTALL
)
_ELF: Final = b"\x7fELF\x02\x01"  # of 64 bits, little-endian
# Where the headers of its segments and sections are, and how large and many they are.
_HEADERS: Final = struct.Struct("<2Q6x4H")
_HEADERS_AT: Final = 32
_SEGMENT: Final = struct.Struct("<2I6Q")
_LOADED: Final = 1


class FileComparison:
    """Compares files, until they are too large.

    Args:
        folders: of base and head, the folders whose paths count as equal.

    Attributes:
        left_bytes: how much it may still read; below 0, it is too much.
    """

    def __init__(self, folders: Sequence[Sequence[Path]]) -> None:
        self.left_bytes = _MOST_READ_BYTES
        self._folders = [[os.fsencode(each) for each in side] for side in folders]

    def are_equal(self, base: os.DirEntry[str], head: os.DirEntry[str]) -> bool:
        """Whether two files, links or folders are equal."""
        one, other = base.stat(follow_symlinks=False), head.stat(follow_symlinks=False)
        if os.path.samestat(one, other) or one.st_mode != other.st_mode:
            return one.st_mode == other.st_mode
        if stat.S_ISDIR(one.st_mode):
            return True
        if stat.S_ISLNK(one.st_mode):
            return self._general(*(os.fsencode(os.readlink(each.path)) for each in (base, head)))  # noqa: PTH115 - strings
        if one.st_size != other.st_size or not stat.S_ISREG(one.st_mode):
            return False
        return self.have_equal_content(Path(base.path), Path(head.path))

    def have_equal_content(self, base: Path, head: Path) -> bool:
        """Whether two files are equal; of programs, what is loaded when they start."""
        try:
            texts = [each.read_bytes() for each in (base, head)]
        except OSError:
            return False
        self.left_bytes -= len(texts[0])
        return texts[0] == texts[1] or self._general(*texts)

    def _general(self, base: bytes, head: bytes) -> bool:
        texts = []
        for folders, text in zip(self._folders, (base, head), strict=True):
            general = b"".join(_loaded(text)) if text.startswith(_ELF) else text
            for number, folder in enumerate(folders):
                general = general.replace(folder, b"{%d}" % number)
            texts.append(general)
        return texts[0] == texts[1]


def _loaded(program: bytes) -> Iterator[bytes]:
    """What is loaded of a program, without its build ids; what debuggers read is not."""
    try:
        at, sections_at, size, count, *of_sections = _HEADERS.unpack_from(program, _HEADERS_AT)
        # Those of Go are loaded, too, and tell how long the text for debuggers is.
        end = sections_at + math.prod(of_sections)
        program = program[:sections_at] + bytes(end - sections_at) + program[end:]
        for number in range(count):
            kind, _, offset, *_, in_file, _, _ = _SEGMENT.unpack_from(program, at + number * size)
            if kind == _LOADED:
                yield _BUILD_ID.sub(b"", program[offset : offset + in_file])
    except struct.error:
        yield program
