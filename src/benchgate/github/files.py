"""The files that a step writes for GitHub: its outputs and its summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SUMMARY_BYTES: Final = 1 << 20
"""More in all is not shown: the runner drops the step's whole summary."""

OUTPUT: Final = "GITHUB_OUTPUT"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"

# The runner, and what removes secrets here, may put a longer text for a shorter one.
_SPARE_BYTES = 1024


def write_outputs(
    outputs: Mapping[str, str], environ: Mapping[str, str], draw: Callable[[], str]
) -> str:
    """Set the outputs of the step.

    Args:
        outputs: by their names in action.yml.
        draw: gives a word that nobody can guess, e.g. 128 random bits in hexadecimal: a value
            that knew it could end early and set outputs of its own.

    Returns:
        Why nothing was written, in words; "" when it was.

    Raises:
        UsageError: the file cannot be written.
    """
    entries = "".join(_entry(name, value, draw) for name, value in outputs.items())
    # A path, which is the value of an output, may hold bytes that are no text.
    return _append(OUTPUT, environ, lambda _: entries.encode("utf-8", "surrogateescape"))


def write_summary(render: Callable[[int], str], environ: Mapping[str, str]) -> str:
    """Add to the summary of the step.

    Args:
        render: makes the markdown in at most so many UTF-8 bytes, as far as it can.

    Returns:
        Why nothing was written, in words; "" when it was.

    Raises:
        UsageError: the file cannot be written.
    """

    def fitting(used_bytes: int) -> bytes:
        room = SUMMARY_BYTES - _SPARE_BYTES - used_bytes
        data = render(room).encode() if room > 0 else b""
        return data if len(data) <= room else b""

    return _append(SUMMARY, environ, fitting)


def _append(name: str, environ: Mapping[str, str], data_for: Callable[[int], bytes]) -> str:
    """Append what is made for a file that holds so many bytes; on lines of its own."""
    where = environ.get(name)
    if not where:
        return f"{name} is not set, so nothing was written to it"
    path = Path(where)
    try:
        used_bytes, starts_line = _end_of(path)
        data = data_for(used_bytes + (not starts_line))
        if not data:
            return f"{name} is full: it already holds {used_bytes} bytes"
        with path.open("ab") as file:
            file.write(data if starts_line else b"\n" + data)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}, which {name} names: {error.strerror}",
            hint="GitHub creates this file for each step; no other step may remove or lock it.",
        ) from None
    return ""


def _end_of(path: Path) -> tuple[int, bool]:
    """How many bytes a file holds, and whether what is appended begins a line."""
    if not path.is_file():  # a pipe or terminal, where somebody tries it out, or nothing yet
        return 0, True
    with path.open("rb") as file:
        size_bytes = file.seek(0, 2)
        if not size_bytes:
            return 0, True
        file.seek(-1, 2)
        return size_bytes, file.read(1) == b"\n"


def _entry(name: str, value: str, draw: Callable[[], str]) -> str:
    delimiter = draw()
    while delimiter in value:
        delimiter = draw()
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"
