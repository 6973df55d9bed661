"""Tells coding agents, in AGENTS.md, how to check a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError
from benchgate.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "AGENTS.md"
SECTION: Final = """\
## Performance

After you change code that a benchmark runs, run `benchgate check --json -`. Standard output gets
the verdict as JSON, and standard error gets the messages.

- Exit code 0: nothing fails. 3: slower. 4: no verdict. 5: a benchmark crashed. If standard output
  is empty, a line `error:` on standard error says why, and often a line `hint:` what to do.
- The list `next` in the verdict has what helps: an `edit`, a place in a file, or a `command`.
  Repeat this until the exit code is 0.
- Do not make a check pass by a `[[waive]]`, a wider margin, a higher limit, or a benchmark that
  does less. Steps of the kind `accept` need the consent of a person.
"""


def has_section(folder: Path) -> bool:
    """Whether the file of a folder names the command already."""
    path = folder / FILE
    return path.is_file() and "benchgate check" in read_bytes(path).decode("utf-8", "replace")


def add_section(path: Path) -> None:
    """Add the section at the end of the file, or create the file."""
    try:
        text = path.read_bytes() if path.exists() else b""
        gap = b"" if not text else b"\n" if text.endswith(b"\n") else b"\n\n"
        with path.open("ab") as stream:
            stream.write(gap + SECTION.encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
