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
"""How far a runner's clock and GitHub's may be apart."""

_AGAIN: Final = "If the pull request is honest, run its workflow again to measure again."


@dataclass(frozen=True, slots=True)
class Lie:
    """A claim that cannot be true.

    Attributes:
        what: what is wrong, in benchgate's own words, with both values.
        hint: what to do.
    """

    what: str
    hint: str = _AGAIN


_NAMELESS: Final = Lie("the result does not say which base commit was measured")


@dataclass(frozen=True, slots=True)
class RunPeriod:
    """The time of a run, as GitHub knows it."""

    began: datetime
    ended: datetime


def lie_about_time(result: Result, period: RunPeriod) -> Lie | None:
    """Say what is wrong with the times of measuring; None if they are possible."""
    earliest, latest = period.began - CLOCKS_DIFFER, period.ended + CLOCKS_DIFFER
    for part in result.shards or (result,):  # the shards were measured at the same time
        for run in (part.head, part.base):
            if run is None:
                continue
            started = datetime.fromisoformat(run.started)
            if not earliest <= started <= latest:
                return Lie(
                    f"the result says that it was measured at {_shown(started)}, but the run "
                    f"lasted from {_shown(period.began)} to {_shown(period.ended)}"
                )
        if part.duration_s > (latest - earliest).total_seconds():
            return Lie(
                "the result says that measuring took longer than the whole run, which lasted from "
                f"{_shown(period.began)} to {_shown(period.ended)}"
            )
    return None


def lie_about_base(
    base: Source,
    *,
    branch: str,
    head: str,
    merge_base: Callable[[str, str], str | None],
) -> Lie | None:
    """Say what is wrong with the base commit of a result; None if it is possible.

    The base must be a commit of the pull request's target branch, and not older than the commit
    where the pull request started: an older base could hide more changes.

    Args:
        base: the base, according to the result.
        branch: the name of the target branch.
        head: the commit that the run measured.
        merge_base: finds that of two commits or branches; None if GitHub does not know one of them.
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
    """Say what is wrong with the base if the configuration names one; None if it matches.

    Args:
        base: the base, according to the result.
        name: the base's name in the configuration.
        commit: the commit with that name; None if there is none.
    """
    sha = base.sha or ""
    if not FULL_SHA.fullmatch(sha) or base.dirty:
        return _NAMELESS
    if sha != commit:
        return Lie(f"the result says that {sha[:7]} is the base, but that is not {name}")
    return None


def _shown(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
