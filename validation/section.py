"""What a page of evidence consists of: sections with a table each, and rows that can fail."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class BrokenError(Exception):
    """A row does not have the result that it must have."""


class Row(Protocol):
    """One line of a table."""

    def cells(self) -> Sequence[str]:
        """Compute the row, and return a text for each column; raise BrokenError if it fails."""
        ...


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what the reader has to know, and a table.

    Attributes:
        columns: the titles; those in `compare.MEASURED` hold what may differ between processors.
    """

    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def seeded(*names: str) -> np.random.Generator:
    """Give a generator that depends on the names alone, so that rows do not move each other."""
    return np.random.Generator(np.random.PCG64(zlib.crc32("/".join(names).encode())))
