"""Puts runs in the order of their commits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.history.query import StoredRun


_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the repository knows.

    Attributes:
        position: in an order in which each commit comes after its parents.
        committed: as `StoredRun.started`.
        subject: first line of its message.
    """

    position: int
    committed: str
    subject: str = ""


def commit_order(runs: Sequence[StoredRun], commits: Mapping[str, Commit]) -> tuple[StoredRun, ...]:
    """Order runs: by their commits, and by time where commits are not known.

    A run of an unknown commit comes before the first commit that is younger. Runs of one commit
    stay beside each other, in the order in which they were measured.

    Args:
        commits: those that are known, by hash.
    """
    known = sorted(
        (run for run in runs if run.sha in commits),
        key=lambda run: (commits[run.sha].position, run.started, run.id),
    )
    placed = []
    newest = _EARLIEST
    for run in known:
        newest = max(newest, _time(commits[run.sha].committed))
        placed.append((newest, run))
    return tuple(run for _, run in merge(placed, _by_time(runs, commits), key=lambda one: one[0]))


def _by_time(
    runs: Sequence[StoredRun], commits: Mapping[str, Commit]
) -> list[tuple[datetime, StoredRun]]:
    """The runs of unknown commits, those of one commit at the time of its first one."""
    unknown = [run for run in runs if run.sha not in commits]
    first: dict[str, datetime] = {}
    for run in unknown:
        time = _time(run.committed or run.started)
        key = run.sha or run.id
        first[key] = min(first.get(key, time), time)
    return sorted(
        ((first[run.sha or run.id], run) for run in unknown),
        key=lambda one: (one[0], one[1].sha, one[1].started, one[1].id),
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
