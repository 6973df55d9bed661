"""Checks what an untrusted result says about its origin against what GitHub says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from benchgate.git.repository import FULL_SHA

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.model.result import Result
    from benchgate.model.run import Source

CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""A runner's clock and GitHub's may be so far apart."""

_AGAIN: Final = "If the pull request is honest, run its workflow again to measure again."


@dataclass(frozen=True, slots=True)
class Lie:
    """What cannot be true.

    Attributes:
        what: in our own words, with the numbers of both.
        hint: what to do.
    """

    what: str
    hint: str = _AGAIN


_NAMELESS: Final = Lie("the result does not say which base commit was measured")


@dataclass(frozen=True, slots=True)
class Took:
    """When a run took place, as GitHub knows it."""

    began: datetime
    ended: datetime


def lie_about_time(result: Result, took: Took) -> Lie | None:
    """Say what is wrong with the times of measuring, None if nothing is."""
    earliest, latest = took.began - CLOCKS_DIFFER, took.ended + CLOCKS_DIFFER
    for part in result.shards or (result,):  # joined ones were measured at the same time
        for run in (part.head, part.base):
            if run is None:
                continue
            started = datetime.fromisoformat(run.started)
            if not earliest <= started <= latest:
                return Lie(
                    f"the result says that it was measured at {_shown(started)}, but the run "
                    f"lasted from {_shown(took.began)} to {_shown(took.ended)}"
                )
        if part.duration_s > (latest - earliest).total_seconds():
            return Lie(
                "the result says that measuring took longer than the whole run, which lasted from "
                f"{_shown(took.began)} to {_shown(took.ended)}"
            )
    return None


def lie_about_base(
    base: Source,
    *,
    branch: str,
    head: str,
    merge_base: Callable[[str, str], str | None],
) -> Lie | None:
    """Say what is wrong with the commit that the head was compared with, None if nothing is.

    The base is a commit of the branch that the pull request is made for, and none from before the
    pull request was begun: the older it is, the more can a change hide in between.

    Args:
        base: as the result tells it.
        branch: the name of the branch.
        head: the commit that the run measured.
        merge_base: of two commits or branches; None if GitHub does not know one of them.
    """
    sha = base.sha or ""
    if not FULL_SHA.fullmatch(sha) or base.dirty:
        return _NAMELESS
    if merge_base(sha, branch) != sha:
        return Lie(
            f"the result says that {sha[:7]} is the base, but that is not a commit of the pull "
            "request's target branch"
        )
    began = merge_base(branch, head)
    if began is None or merge_base(sha, head) != began:
        return Lie(
            f"the result says that {sha[:7]} is the base, but that is older than the commit that "
            f"this pull request starts from{f', {began[:7]}' if began else ''}"
        )
    return None


def lie_about_named_base(base: Source, name: str, commit: str | None) -> Lie | None:
    """Say what is wrong with the base if the configuration names one.

    Args:
        base: as the result tells it.
        name: as the base's configuration has it.
        commit: that it names; None if there is none.
    """
    sha = base.sha or ""
    if not FULL_SHA.fullmatch(sha) or base.dirty:
        return _NAMELESS
    if sha != commit:
        return Lie(f"the result says that {sha[:7]} is the base, but that is not {name}")
    return None


def _shown(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
