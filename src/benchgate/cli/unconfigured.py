"""What to say in a project that has no configuration: which suites it has, and how to begin."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.project_folder import choose_folder
from benchgate.errors import NoBenchmarksError
from benchgate.git.changes import is_ignored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.config import Config
    from benchgate.git.repository import Git


@contextmanager
def naming_suites(config: Config, git: Git | None) -> Iterator[None]:
    """Name the suites of the project, if there is nothing to measure and no configuration.

    Raises:
        NoBenchmarksError: instead of the one that was raised, if there are suites.
    """
    try:
        yield
    except NoBenchmarksError:
        if config.source:
            raise
        from benchgate.project.find_suites import find_benchmarks  # noqa: PLC0415 - seldom needed

        folder = choose_folder(Path.cwd(), git.root if git else None)
        found = find_benchmarks(folder, lambda path: git is not None and is_ignored(git, path))
        if not found.suites:
            raise
        raise NoBenchmarksError(
            "there is no configuration file that says what to measure",
            details="\n".join(found.sentences),
            hint="`benchgate init` writes a benchgate.toml that measures this.",
        ) from None
