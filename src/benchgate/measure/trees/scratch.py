"""A place for the files of a run, which is emptied before each."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from benchgate.measure.session_folder import SessionFolder

if TYPE_CHECKING:
    from pathlib import Path


class Scratch:
    """A folder for the outputs of runs; if benchgate is killed, the next session removes it."""

    def __init__(self) -> None:
        self._folder: SessionFolder | None = None
        self._runs = 0

    def fresh(self) -> Path:
        """Make an empty folder for one run; all have paths of the same length.

        Raises:
            OSError: it cannot be created.
        """
        self._folder = self._folder or SessionFolder.create()
        self._runs += 1
        folder = self._folder.path / f"{self._runs:06d}"
        folder.mkdir()
        return folder

    def discard(self, folder: Path) -> None:
        """Remove the folder of a run that has ended."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        folder, self._folder = self._folder, None
        if folder:
            folder.remove()
