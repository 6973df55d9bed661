"""Whether what an untrusted result says of its times and its base can be true."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError
from benchgate.git.repository import FULL_SHA

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.model.result import Result
    from benchgate.model.run import (
        Source,
    )


CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""How far a runner's clock and GitHub's may be apart."""

_AGAIN: Final = "If the pull request is honest, run its workflow again to measure again."


@dataclass(frozen=True, slots=True)
class RunPeriod:
    """The time of a run, as GitHub knows it."""

    began: datetime
    ended: datetime


def require_possible_times(result: Result, period: RunPeriod) -> None:
    """Refuse a result that says it was measured outside of its run."""
    earliest, latest = period.began - CLOCKS_DIFFER, period.ended + CLOCKS_DIFFER
    lasted = f"lasted from {_shown(period.began)} to {_shown(period.ended)}"
    for part in result.shards or (result,):  # the shards were measured at the same time
        for run in (part.head, part.base):
            started = datetime.fromisoformat(run.started) if run else earliest
            if not earliest <= started <= latest:
                raise _lie(f"it was measured at {_shown(started)}, but the run {lasted}")
        if part.duration_s > (latest - earliest).total_seconds():
            raise _lie(f"measuring took longer than the whole run, which {lasted}")


def require_base_of_branch(
    base: Source,
    *,
    branch: str,
    head: str,
    merge_base: Callable[[str, str], str | None],
) -> None:
    """Refuse a base that the pull request cannot have been compared with.

    The base must be a commit of the pull request's target branch, and not older than the commit
    where the pull request started: an older base could hide more changes.

    Args:
        base: the base, according to the result.
        branch: the name of the target branch.
        head: the commit that the run measured.
        merge_base: finds that of two commits or branches; None if GitHub does not know one of them.
    """
    sha = _base_sha(base)
    if merge_base(sha, branch) != sha:
        raise _lie(
            f"{sha[:7]} is the base, but that is not a commit of the pull request's target branch"
        )
    began = merge_base(branch, head)
    if began is None or merge_base(sha, head) != began:
        raise _lie(
            f"{sha[:7]} is the base, but that is older than the commit that this pull request "
            f"starts from{f', {began[:7]}' if began else ''}"
        )


def require_named_base(base: Source, name: str, commit: str | None) -> None:
    """Refuse a base that is not the one that the configuration names.

    Args:
        base: the base, according to the result.
        name: the base's name in the configuration.
        commit: the commit with that name; None if there is none.
    """
    sha = _base_sha(base)
    if sha != commit:
        raise _lie(f"{sha[:7]} is the base, but that is not {name}")


def _base_sha(base: Source) -> str:
    if base.dirty or not FULL_SHA.fullmatch(base.sha or ""):
        raise UsageError("the result does not say which base commit was measured", hint=_AGAIN)
    return base.sha or ""


def _lie(claim: str) -> UsageError:
    return UsageError(f"the result says that {claim}", hint=_AGAIN)


def _shown(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
