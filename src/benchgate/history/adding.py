"""Adds runs to a store, and knows when their commits were made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import merge
from typing import TYPE_CHECKING, Final

from benchgate.git.repository import FULL_SHA
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.git.repository import Git
    from benchgate.history.record import RunRecord
    from benchgate.history.store import Store
    from benchgate.history.stored_rows import ListedRun
    from benchgate.json_object import Redact


_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """A commit that the repository knows.

    Attributes:
        position: in an order in which each commit comes after its parents.
        committed: as `ListedRun.started`.
        subject: first line of its message.
        author: who wrote it.
    """

    position: int
    committed: str
    subject: str = ""
    author: str = ""


def commit_order(
    runs: Sequence[ListedRun], commits: Mapping[str, KnownCommit]
) -> tuple[ListedRun, ...]:
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
    runs: Sequence[ListedRun], commits: Mapping[str, KnownCommit]
) -> list[tuple[datetime, ListedRun]]:
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


# The year 10000, which no date of ours can name; a commit may claim any.
_END_OF_TIME_S: Final = 253_402_300_800


def commits_of(git: Git | None, shas: Iterable[str]) -> Mapping[str, KnownCommit]:
    """Those of the commits that the repository has, by hash."""
    wanted = sorted({sha for sha in shas if FULL_SHA.fullmatch(sha)})
    if git is None or not wanted:
        return {}
    walked = _log(git, "%H %ct", "--topo-order", "--reverse", *wanted)
    told = (line.split("\t", 2) for line in _log(git, "%H%x09%an%x09%s", "--no-walk", *wanted))
    known = {sha: (author, subject) for sha, author, subject in told}
    found = {}
    for position, line in enumerate(walked):
        sha, _, seconds = line.partition(" ")
        if sha in known and int(seconds) < _END_OF_TIME_S:
            author, subject = known[sha]
            found[sha] = KnownCommit(position, _date(int(seconds)), subject, author)
    return found


def _log(git: Git, form: str, *arguments: str) -> list[str]:
    """Lines about commits; those that the repository lacks are left out."""
    fixed = ("--ignore-missing", "--no-color", "--no-show-signature", f"--format={form}")
    # A subject may hold what Python takes for the end of a line.
    return [line for line in git.run("log", *fixed, *arguments, "--").split("\n") if line]


def _date(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of some runs.

    Attributes:
        added: those that were appended.
        present: those that the store had already.
        skipped: results that cannot be part of a history.
    """

    added: tuple[RunRecord, ...]
    present: tuple[RunRecord, ...]
    skipped: tuple[SkippedResult, ...]


def add_runs(
    store: Store, runs: Iterable[RunRecord | SkippedResult], git: Git | None, redact: Redact
) -> Added:
    """Append each run that the store does not have.

    Args:
        git: the repository that may know the commits of the runs.
    """
    found = list(runs)
    records = [one for one in found if not isinstance(one, SkippedResult)]
    commits = commits_of(git, (one.sha for one in records)) if records else {}
    ids = set(store.ids())
    added, present = [], []
    for one in records:
        if one.id in ids:
            present.append(one)
            continue
        if commit := commits.get(one.sha):
            one = replace(one, subject=commit.subject, committed=commit.committed)  # noqa: PLW2901
        store.add(one, redact)
        ids.add(one.id)
        added.append(one)
    skipped = tuple(one for one in found if isinstance(one, SkippedResult))
    return Added(tuple(added), tuple(present), skipped)
