"""Where a command keeps builds: importing this takes a moment, so only those that build do."""

from __future__ import annotations

import os

from benchgate.cli.world import is_in_ci
from benchgate.measure.builds import BuildCache, builds_folder


def kept_builds(*, reads: bool) -> BuildCache | None:
    """The user's kept builds; None in CI, where code of a change could have written them.

    Args:
        reads: whether they are used; new builds replace them in any case.
    """
    if is_in_ci(os.environ):
        return None
    return BuildCache(builds_folder(os.environ), reads=reads)
