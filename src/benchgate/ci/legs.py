"""The legs of a matrix, by the names in their artifacts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from benchgate.ci.own_runs import OwnRuns
from benchgate.ci.stored_artifacts import read_result_of
from benchgate.errors import BenchgateError, FormatError, GitHubError
from benchgate.github.artifact_names import ArtifactKind, Leg, leg_in
from benchgate.session.result_file import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from benchgate.ci.base import Job
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.model.run import Run


USUAL_ENVIRONMENT: Final = "linux-x86_64"
"""The kind of GitHub's own Linux runners, on which most jobs run."""


_USUAL_ENVIRONMENTS: Final = tuple(
    f"{os}-{machine}" for os in ("linux", "macos") for machine in ("x86_64", "arm64", "aarch64")
)
"""The words that the action itself puts into names."""


_MOST_ASKED: Final = 30
_MOST_ASKED_AGAIN: Final = 10
"""Runs of the default branch: names that a fork makes up cost no additional requests."""

_OF_EACH: Final = 2


@dataclass(frozen=True, slots=True)
class Legs:
    """The suites and kinds of machine whose names may be shown.

    Attributes:
        newest_artifacts: artifacts of the default branch's newest run, for each of them.
        runs: the run that each of those is from.
        unlisted: why the default branch's runs are not known.
    """

    job: Job
    suites: frozenset[str]
    environments: frozenset[str]
    newest_artifacts: dict[Leg, Artifact] = field(default_factory=dict)
    runs: dict[Leg, WorkflowRun] = field(default_factory=dict)
    unlisted: GitHubError | None = None

    def __contains__(self, leg: Leg) -> bool:
        return leg.suite in self.suites and leg.environment in self.environments

    @classmethod
    def usual(cls, job: Job, suite: str = "") -> Legs:
        """The suites of a repository whose default branch has no results yet.

        Args:
            suite: one more that the default branch's own workflow names; "" for none.
        """
        suites = {Leg.of(one, USUAL_ENVIRONMENT).suite for one in (DEFAULT_SUITE, suite) if one}
        return cls(job, frozenset(suites), frozenset(_USUAL_ENVIRONMENTS))

    @classmethod
    def left(cls, job: Job, wanted: Collection[Leg], workflow: str, suite: str = "") -> Legs:
        """Search the artifacts of the default branch's newest runs until all legs are found.

        Args:
            wanted: the legs that the run of a pull request left.
            workflow: the file of the run's workflow, whose runs are searched first.

        Raises:
            GitHubError: GitHub refuses, or does not answer.
        """
        if not wanted:
            return cls.usual(job, suite)
        own = OwnRuns.listed(job.client, job.context.repository, job.context.default_branch)
        first, rest = _in_turn(own.runs, workflow)
        leaving: set[str] = set()
        others = (run for run in rest if _file_of_id(run.path) in leaving)
        found: dict[Leg, Artifact] = {}
        runs: dict[Leg, WorkflowRun] = {}
        for run, artifacts in chain(
            own.left(first, most=_MOST_ASKED), own.left(others, most=_MOST_ASKED_AGAIN)
        ):
            leaving.add(_file_of_id(run.path))
            for leg, artifact in _by_leg(artifacts):
                if leg not in found:
                    found[leg], runs[leg] = artifact, run
            if found.keys() >= set(wanted):
                break
        usual = cls.usual(job, suite)
        suites = usual.suites | {leg.suite for leg in found}
        environments = usual.environments | {leg.environment for leg in found}
        return cls(job, suites, environments, found, runs)

    def newest(self, leg: Leg) -> Run | BenchgateError | None:
        """What the default branch's newest run of it measured, or why that cannot be read."""
        artifact = self.newest_artifacts.get(leg)
        if artifact is None:
            return self.unlisted
        if artifact.expired:
            return FormatError(f"{artifact.name} of the default branch has expired")
        try:
            result = read_result_of(
                self.job.client, self.job.context.repository.full_name, artifact
            )
        except (FormatError, GitHubError) as error:
            return error
        if result.head.source.sha != self.runs[leg].head_sha:
            return FormatError(f"{artifact.name} is of another commit than its run")
        return result.head


def _by_leg(artifacts: tuple[Artifact, ...]) -> Iterator[tuple[Leg, Artifact]]:
    """The artifact of each leg; a whole measurement of the head is preferred to a comparison."""
    for kind in (ArtifactKind.BASELINE, ArtifactKind.RESULT):
        for artifact in artifacts:
            if leg := leg_in(kind, artifact.name):
                yield leg, artifact


def _in_turn(
    runs: Iterable[WorkflowRun], workflow: str
) -> tuple[list[WorkflowRun], list[WorkflowRun]]:
    """The newest two runs of each workflow, those of one workflow first; then the rest.

    The fork chooses the file of its workflow, so its choice must not hide the runs of others.
    """
    seen: Counter[str] = Counter()
    first, rest = [], []
    for run in runs:
        file = _file_of_id(run.path)
        if seen[file] < _OF_EACH:
            first.append((file != _file_of_id(workflow), seen[file], run))
        else:
            rest.append(run)
        seen[file] += 1
    return [run for _, _, run in sorted(first, key=lambda one: one[:2])], rest


def _file_of_id(path: str) -> str:
    return path.partition("@")[0]
