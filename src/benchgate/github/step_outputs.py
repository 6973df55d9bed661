"""The outputs and the summary of a step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


SUMMARY_BYTES: Final = 1 << 20
"""Size limit: the runner drops the whole summary of a step if it is larger."""

OUTPUT: Final = "GITHUB_OUTPUT"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
# The runner, and the redaction here, may replace a text with a longer one.
_SPARE_BYTES = 1024


def write_outputs(
    outputs: Mapping[str, str], environ: Mapping[str, str], draw: Callable[[], str]
) -> str:
    """Set the outputs of the step.

    Args:
        outputs: by name, as in action.yml.
        draw: returns a word that nobody can guess, such as 128 random bits in hexadecimal: a value
            that contained the word could end early and set outputs of its own.

    Returns:
        Why nothing was written, in words; "" if the outputs were written.

    Raises:
        UsageError: the file cannot be written.
    """
    entries = "".join(_entry(name, value, draw) for name, value in outputs.items())
    # The value of an output may be a path, whose bytes may not be valid text.
    return _append(OUTPUT, environ, lambda _: entries.encode("utf-8", "surrogateescape"))


def write_summary(render: Callable[[int], str], environ: Mapping[str, str]) -> str:
    """Append to the summary of the step.

    Args:
        render: makes the markdown, if possible within the number of UTF-8 bytes that it is given.

    Returns:
        Why nothing was written, in words; "" if the summary was written.
    """

    def fitting(used_bytes: int) -> bytes:
        room = SUMMARY_BYTES - _SPARE_BYTES - used_bytes
        data = render(room).encode() if room > 0 else b""
        return data if len(data) <= room else b""

    return _append(SUMMARY, environ, fitting)


def _append(name: str, environ: Mapping[str, str], data_for: Callable[[int], bytes]) -> str:
    """Append text to a file with a size limit, on lines of its own; the text fits what is left."""
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
    """The size of a file in bytes, and whether appended text begins a new line."""
    if not path.is_file():  # does not exist yet, or is a pipe or terminal for a manual test
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
