"""Appends runs to a store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.history.commits import commits_of
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.git.repository import Git
    from benchgate.history.record import RunRecord
    from benchgate.history.store import Store
    from benchgate.json_object import Redact


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

    Raises:
        UsageError: the store cannot be reached, or not be written to.
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
