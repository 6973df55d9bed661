"""Reads a result from a file that benchgate wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.files import read_bytes
from benchgate.model.codec import decode_result

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.model.result import Result


def read_result(path: Path) -> Result:
    """Read the result in a file.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        FormatError: it is not a result file, or it is damaged.
    """
    return decode_result(read_bytes(path), str(path))
