"""The earlier runs of a workflow, and their artifacts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchgate.baselines.artifacts import (
    TRUSTED_EVENTS,
    is_of_branch,
)
from benchgate.github.artifacts import list_artifacts
from benchgate.github.client import list_runs
from benchgate.model.result import SkippedResult
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.github.client import Client
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.github.runner import EventRepository


MOST_RUNS: Final = 100
"""Runs listed for each event."""

MOST_ASKED: Final = 40
"""Runs whose artifacts are listed one run at a time."""

_MOST_MISSES: Final = 3
_PREFIX: Final = "benchgate-"


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """The runs of the default branch that can be trusted, the newest first.

    Any fork can cause any number of runs in this repository, with artifacts of any name. That
    number must not decide what is found, so the default branch's runs are listed first.
    """

    client: Client
    repository: str
    runs: tuple[WorkflowRun, ...]
    _not_asked: Counter[str] = field(default_factory=Counter)

    @property
    def not_asked(self) -> Iterator[SkippedResult]:
        """The runs that `left` did not ask, because several of their workflow had nothing."""
        for path, count_ in self._not_asked.items():
            why = f"its {_MOST_MISSES} newer runs left no result"
            yield SkippedResult(f"{counted(count_, 'run')} of {path or 'a workflow'}", why)

    @classmethod
    def listed(cls, client: Client, repository: EventRepository, branch: str) -> OwnRuns:
        """List them through GitHub's API.

        Args:
            branch: the default branch.
        """
        name = repository.full_name
        runs = [
            run
            for event in TRUSTED_EVENTS
            for run in list_runs(client, name, branch=branch, event=event, most=MOST_RUNS)
            if is_of_branch(run, repository.id, branch)
        ]
        newest_first = sorted({run.id: run for run in runs}.values(), key=lambda x: -x.id)
        return cls(client, name, tuple(newest_first))

    def left(
        self, runs: Iterable[WorkflowRun], *, name: str | None = None, most: int = MOST_ASKED
    ) -> Iterator[tuple[WorkflowRun, tuple[Artifact, ...]]]:
        """The artifacts of runs; a run is asked only when the previous run's have been used up.

        Other workflows run on the branch, too: once several runs of one workflow had no artifacts,
        no more of its runs are asked.

        Args:
            name: full name of the artifacts; None for all those of benchgate.
        """
        misses: Counter[str] = Counter()
        asked = 0
        for run in runs:
            if asked == most:
                return
            if misses[run.path] == _MOST_MISSES:
                self._not_asked[run.path] += 1
                continue
            asked += 1
            listed = list_artifacts(self.client, self.repository, name=name, run_id=run.id)
            found = tuple(one for one in listed if one.name.startswith(_PREFIX))
            misses[run.path] = 0 if found else misses[run.path] + 1
            if found:
                yield run, found
