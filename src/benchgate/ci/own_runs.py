"""The default branch's own runs, and the artifacts that they left.

Any fork can have runs in this repository, and artifacts of any name. How many of them there are
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
"""Of each event."""

MOST_ASKED: Final = 40
"""Runs that are asked one by one for what they left."""

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
        """Ask GitHub for them.

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
        """What runs left, each asked for when the one before has been used up.

        Other workflows run on the branch, too: one of which several runs left nothing is asked no
        more.

        Args:
            runs: in the order in which they are asked.
            name: of the artifacts, all of it; None for those of benchgate.
            most: how many are asked.

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
