"""Reads the runs of a history from the artifacts that jobs on GitHub left.

As for a baseline, only the origin of an artifact counts, not its name: its run must have measured
a commit of the default branch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.ci.stored_artifacts import Branch, OwnRuns, read_result_of
from benchgate.errors import FormatError, GitHubError, UsageError
from benchgate.gate.stored import OFF_BRANCH
from benchgate.github.artifacts import ArtifactKind, leg_in
from benchgate.github.events import EventRepository
from benchgate.github.objects import ApiObject, FullName, Id, Ref
from benchgate.history.record import record_of, why_not_kept
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.github.client import Client
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.history.record import RunRecord

MOST_ASKED: Final = 300
"""Runs whose artifacts are listed."""

_MOST_FAILURES = 3
_GONE = frozenset({404, 410})


class _Described(ApiObject):
    """A repository as GitHub describes it."""

    id: Id
    full_name: FullName
    default_branch: Ref


@dataclass(slots=True)
class _Reader:
    client: Client
    repository: str
    branch: Branch

    def record(self, run: WorkflowRun, artifact: Artifact) -> RunRecord | SkippedResult:
        """Read one artifact; its origin is taken from GitHub, not from the file."""
        name = f"artifact {artifact.id} of run {run.id}"
        if artifact.expired:
            return SkippedResult(name, "it has expired")
        if not self.branch.holds(run.head_sha):
            return SkippedResult(name, OFF_BRANCH)
        try:
            head = read_result_of(self.client, self.repository, artifact).head
        except FormatError as error:
            return SkippedResult(name, error.message)
        if head.source.sha not in {None, run.head_sha}:
            return SkippedResult(name, "it measured another commit than that of its run")
        source = replace(head.source, sha=run.head_sha, ref=run.head_branch)
        trusted = replace(head, source=source)
        record = replace(record_of(trusted), url=run.html_url)
        why = why_not_kept(trusted, record)
        return SkippedResult(name, why) if why else record


def read_runs(client: Client, repository: str) -> Iterator[RunRecord | SkippedResult]:
    """Read what the newest runs of the default branch measured, the newest first.

    Args:
        repository: "owner/name".

    Raises:
        UsageError: there is no artifact with a result.
        GitHubError: GitHub refuses, or does not answer.
    """
    path = f"/repos/{repository}"
    described = _Described.read(client.get(path), path)
    own = OwnRuns.listed(
        client, EventRepository(described.id, described.full_name), described.default_branch
    )
    reader = _Reader(client, repository, Branch(client, repository, described.default_branch))
    failures = count = 0
    for run, artifacts in own.left(own.runs, most=MOST_ASKED):
        for artifact in artifacts:
            if leg_in(ArtifactKind.BASELINE, artifact.name) is None:
                continue
            count += 1
            try:
                yield reader.record(run, artifact)
            except GitHubError as error:
                failures += error.status not in _GONE
                if failures == _MOST_FAILURES:
                    raise
                yield SkippedResult(f"artifact {artifact.id} of run {run.id}", error.message)
    if not count:
        raise UsageError(
            f"no job of {described.default_branch} in {repository} left a result as an artifact",
            hint="`benchgate ci` leaves them for runs of the default branch, if "
            '`[baseline] source` is "auto" or "artifact"; they expire.',
        )
