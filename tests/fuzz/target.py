"""What a fuzzer needs to know of a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.formats.contents import ForeignFile


class Target(Protocol):
    """A reader, and inputs for it."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def finds(self) -> Path:
        """The folder of the inputs that once were too much for it."""

    def inputs(self, seed: int) -> Iterator[ForeignFile]:
        """Make inputs without end; the same ones for the same seed."""

    def check(self, source: ForeignFile, index: int) -> bool:
        """Read an input, the `index`-th one; give whether it was accepted.

        Raises:
            Exception: the reader must neither accept nor refuse it in this way.
        """
