"""The records of one GitHub, and the questions that GitHub answers about them."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from tests.contract.clock import Clock
from tests.contract.records import (
    Artifact,
    CheckRun,
    Collaborator,
    Comment,
    Commit,
    Comparison,
    IssueEvent,
    Pull,
    Record,
    Repository,
    Review,
    Run,
    Token,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

R = TypeVar(
    "R",
    Token,
    Repository,
    Run,
    Artifact,
    Pull,
    Comment,
    Review,
    IssueEvent,
    Collaborator,
    CheckRun,
    Commit,
    Comparison,
)
P = TypeVar("P", Comment, Review, IssueEvent)

_RUN_FILTERS: dict[str, Callable[[Run], tuple[str | None, ...]]] = {
    "branch": lambda run: (run.head_branch,),
    "event": lambda run: (run.event,),
    "head_sha": lambda run: (run.head_sha,),
    "status": lambda run: (run.status, run.conclusion),
}


class State:
    """A mutable store of frozen records; the server holds `lock` while it answers."""

    def __init__(self, *records: Record) -> None:
        self.clock = Clock()
        self.lock = threading.RLock()
        self._tables: defaultdict[type, dict[Hashable, Any]] = defaultdict(dict)
        self._ids = itertools.count(1_000_001)
        self.add(*records)

    def add(self, *records: Record) -> None:
        """Add records that are new.

        Raises:
            ValueError: there is one of this identity already.
        """
        with self.lock:
            for record in records:
                if record.key in self._tables[type(record)]:
                    raise ValueError(f"added twice: {record}")
                self._tables[type(record)][record.key] = record

    def put(self, record: Record) -> None:
        """Replace the record of the same identity, or add it."""
        with self.lock:
            self._tables[type(record)][record.key] = record

    def remove(self, record: Record) -> None:
        with self.lock:
            del self._tables[type(record)][record.key]

    def get(self, kind: type[R], *key: Hashable) -> R | None:
        with self.lock:
            found: R | None = self._tables[kind].get(key[0] if len(key) == 1 else key)
            return found

    def all(self, kind: type[R]) -> list[R]:
        """Those of a kind, as they were added."""
        with self.lock:
            return list(self._tables[kind].values())

    def new_id(self) -> int:
        return next(self._ids)

    def repository(self, full_name: str) -> Repository | None:
        """GitHub does not care about case in names."""
        return self.get(Repository, full_name.lower())

    def need(self, kind: type[R], *key: Hashable) -> R:
        """Give what another record names.

        Raises:
            LookupError: a test has not added it.
        """
        record = self.get(kind, *key)
        if record is None:
            raise LookupError(f"no {kind.__name__} {', '.join(map(str, key))} was added")
        return record

    def repository_of(self, record: Run | Pull) -> Repository:
        return self.need(Repository, record.repository.lower())

    def head_of(self, record: Run | Pull) -> Repository | None:
        name = record.head_repository
        return None if name is None else self.need(Repository, name.lower())

    def run_of(self, artifact: Artifact) -> Run:
        return self.need(Run, artifact.run_id)

    def is_expired(self, artifact: Artifact) -> bool:
        return artifact.expires_at <= self.clock.now()

    def runs(self, repository: Repository, wanted: Mapping[str, str]) -> list[Run]:
        """Newest first.

        `status` is a status or a conclusion. `branch` is the head's branch in whichever repository
        the head is: a pull request from a fork's `main` is listed as a run of `main`.
        """
        found = [
            run
            for run in self.all(Run)
            if run.repository.lower() == repository.key
            and all(wanted[name] in of(run) for name, of in _RUN_FILTERS.items() if name in wanted)
        ]
        return sorted(found, key=lambda run: (run.created_at, run.id), reverse=True)

    def artifacts(self, repository: Repository, name: str | None) -> list[Artifact]:
        """Newest first, expired ones included; a name is matched as a whole."""
        found = [
            artifact
            for artifact in self.all(Artifact)
            if self.run_of(artifact).repository.lower() == repository.key
            and name in {None, artifact.name}
        ]
        return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)

    def pulls(self, repository: Repository, state: str, head: str | None) -> list[Pull]:
        """Newest first; `head` is owner:branch and never matches a head that was deleted."""
        found = [
            pull
            for pull in self.all(Pull)
            if pull.repository.lower() == repository.key
            and state in {"all", pull.state}
            and head in {None, self._label(pull)}
        ]
        return sorted(found, key=lambda pull: (pull.created_at, pull.number), reverse=True)

    def comments(self, repository: Repository, number: int) -> list[Comment]:
        """Those of one pull request, oldest first."""
        return sorted(self._of_pull(Comment, repository, number), key=lambda one: one.id)

    def reviews(self, repository: Repository, number: int) -> list[Review]:
        """Those of one pull request, oldest first."""
        return sorted(self._of_pull(Review, repository, number), key=lambda one: one.id)

    def issue_events(self, repository: Repository, number: int) -> list[IssueEvent]:
        """Those of one pull request, oldest first."""
        return sorted(self._of_pull(IssueEvent, repository, number), key=lambda one: one.id)

    def _of_pull(self, kind: type[P], repository: Repository, number: int) -> list[P]:
        where = (repository.key, number)
        return [one for one in self.all(kind) if (one.repository.lower(), one.number) == where]

    def _label(self, pull: Pull) -> str:
        head = self.head_of(pull)
        return f"{head.owner if head else ''}:{pull.head_branch}"
