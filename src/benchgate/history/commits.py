"""Asks git about the commits of runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from benchgate.git.repository import FULL_SHA
from benchgate.history.order import Commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.git.repository import Git

# The year 10000, which no date of ours can name; a commit may claim any.
_END_OF_TIME_S: Final = 253_402_300_800


def commits_of(git: Git | None, shas: Iterable[str]) -> Mapping[str, Commit]:
    """Those of the commits that the repository has, by hash.

    Raises:
        UsageError: git fails.
    """
    wanted = sorted({sha for sha in shas if FULL_SHA.fullmatch(sha)})
    if git is None or not wanted:
        return {}
    walked = _log(git, "%H %ct", "--topo-order", "--reverse", *wanted)
    told = (line.partition(" ") for line in _log(git, "%H %s", "--no-walk", *wanted))
    subjects = {sha: subject for sha, _, subject in told}
    found = {}
    for position, line in enumerate(walked):
        sha, _, seconds = line.partition(" ")
        if sha in subjects and int(seconds) < _END_OF_TIME_S:
            found[sha] = Commit(position, _date(int(seconds)), subjects[sha])
    return found


def _log(git: Git, form: str, *arguments: str) -> list[str]:
    """Lines about commits; those that the repository lacks are left out."""
    fixed = ("--ignore-missing", "--no-color", "--no-show-signature", f"--format={form}")
    return git.run("log", *fixed, *arguments, "--").splitlines()


def _date(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
