"""The default branch's own runs, and their artifacts.

Any fork can cause any number of runs in this repository, with artifacts of any name. That number
must not decide what is found, so the default branch's runs are listed first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.baselines.artifact import BELIEVED_EVENTS, is_of_branch
from benchgate.github.artifacts import list_artifacts
from benchgate.github.runs import list_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.github.client import Client
    from benchgate.github.context import Context
    from benchgate.github.models import Artifact, WorkflowRun

MOST_RUNS: Final = 100
"""Runs listed for each event."""

MOST_ASKED: Final = 40
"""Runs whose artifacts are listed one run at a time."""

_MOST_MISSES: Final = 3
_PREFIX: Final = "benchgate-"


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """The runs of the default branch that can be trusted, the newest first."""

    client: Client
    repository: str
    runs: tuple[WorkflowRun, ...]

    @classmethod
    def listed(cls, client: Client, context: Context) -> OwnRuns:
        """List them through GitHub's API.

        Raises:
            GitHubError: GitHub refuses, or does not answer.
        """
        name, branch = context.repository.full_name, context.default_branch
        runs = [
            run
            for event in BELIEVED_EVENTS
            for run in list_runs(client, name, branch=branch, event=event, most=MOST_RUNS)
            if is_of_branch(run, context.repository.id, branch)
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
            runs: in the order in which to ask them.
            name: full name of the artifacts; None for all those of benchgate.
            most: the number of runs to ask.

        Raises:
            GitHubError: GitHub refuses, or does not answer.
        """
        misses: Counter[str] = Counter()
        asked = 0
        for run in runs:
            if asked == most:
                return
            if misses[run.path] == _MOST_MISSES:
                continue
            asked += 1
            listed = list_artifacts(self.client, self.repository, name=name, run_id=run.id)
            found = tuple(one for one in listed if one.name.startswith(_PREFIX))
            misses[run.path] = 0 if found else misses[run.path] + 1
            if found:
                yield run, found
