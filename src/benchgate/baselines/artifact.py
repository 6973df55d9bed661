"""Decides which artifacts of earlier runs can be trusted, and in which order they are used.

Whoever opens a pull request can cause a run in this repository, on a branch of any name and with
an artifact of any name. So only the origin of an artifact counts: the repository that the commit
came from, the branch, and the event. The list of artifacts tells all of that except the event,
so there are two steps: artifacts that the list rules out cost no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from benchgate.gate.stored import EXPIRED, FROM_ELSEWHERE, OF_PULL_REQUEST, OWN_COMMIT
from benchgate.model.result import SkippedResult
from benchgate.units import counted, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.github.objects import Artifact, ArtifactRun, WorkflowRun

TRUSTED_EVENTS: Final = ("push", "schedule", "workflow_dispatch")
"""Events whose runs measure what is on a branch.

`merge_group` is not among them: its commit is on a branch of the queue and may never be merged. If
it is merged, the push of that commit is measured. GitHub lists `pull_request_target`,
`workflow_run` and `issue_comment` as runs of the default branch, but they may run untrusted code.
"""

_REASONS = {
    "merge_group": "its run was for the merge queue, whose commits may never have been merged",
    "pull_request": OF_PULL_REQUEST,
}
_OLDEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ArtifactQuery:
    """Criteria for artifacts that can serve as a baseline.

    Attributes:
        repository_id: of this repository.
        branch: the branch whose results are baselines, such as "main".
        name: full name of the artifact.
        head_sha: the commit to judge; its own results are not a baseline for it.
        preferred: commits in order of preference: the base, then its ancestors, nearest first.
        most_bytes: size limit of an archive.
    """

    repository_id: int
    branch: str
    name: str
    head_sha: str
    preferred: Sequence[str]
    most_bytes: int

    def rank(self, sha: str | None) -> int:
        """The commit's rank in the order of preference; commits without a rank come last."""
        known = sha is not None and sha in self.preferred
        return self.preferred.index(sha) if known else len(self.preferred)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An artifact that the list does not rule out, and the run that left it."""

    artifact: Artifact
    run_id: int
    head_sha: str | None

    @property
    def name(self) -> str:
        """The name that messages use: enough for a person to find the artifact and the run."""
        return _called(self.artifact)


@dataclass(frozen=True, slots=True)
class ArtifactChoice:
    """Artifacts of a list, split by whether they are ruled out.

    Attributes:
        kept: artifacts that are not ruled out, in order of preference.
    """

    kept: tuple[Candidate, ...]
    skipped: tuple[SkippedResult, ...]


def choose_artifacts(listed: Iterable[Artifact], wanted: ArtifactQuery) -> ArtifactChoice:
    """Rule out artifacts by what the list says of them, and order the rest.

    The base commit's own artifacts come first, then those of its nearest ancestors, then the
    newest.
    """
    kept: list[Candidate] = []
    skipped: list[SkippedResult] = []
    for artifact in {one.id: one for one in listed}.values():
        run = artifact.workflow_run
        if run is None or run.id is None:
            skipped.append(
                SkippedResult(_called(artifact), "GitHub does not say which run uploaded it")
            )
        elif why := _why_not(artifact, run, wanted):
            skipped.append(SkippedResult(_called(artifact), why))
        else:
            kept.append(Candidate(artifact, run.id, run.head_sha))
    kept.sort(key=lambda one: (one.artifact.created_at or _OLDEST, one.artifact.id), reverse=True)
    kept.sort(key=lambda one: wanted.rank(one.head_sha))
    return ArtifactChoice(tuple(kept), tuple(skipped))


def why_not_run(candidate: Candidate, run: WorkflowRun, wanted: ArtifactQuery) -> str | None:
    """The reason not to trust an artifact of this run; None if it can be trusted.

    The run itself is checked for everything that the list said.
    """
    if (candidate.run_id, candidate.head_sha) != (run.id, run.head_sha):
        return "GitHub's list of artifacts contradicts its run"
    if run.event not in TRUSTED_EVENTS:
        unknown = f"its run was triggered by {run.event}, which may run untrusted code"
        return _REASONS.get(run.event, unknown)
    head_repository_id = run.head_repository.id if run.head_repository else None
    return _why_not_origin(run.repository.id, head_repository_id, run.head_branch, wanted)


def is_of_branch(run: WorkflowRun, repository_id: int, branch: str) -> bool:
    """Whether a run measured a commit on a branch of this repository, not of a fork."""
    if run.event not in TRUSTED_EVENTS or run.head_repository is None:
        return False
    origin = (run.repository.id, run.head_repository.id, run.head_branch)
    return origin == (repository_id, repository_id, branch)


def relation(run: WorkflowRun, wanted: ArtifactQuery) -> str:
    """Describe why a run's artifact serves as the base."""
    rank = wanted.rank(run.head_sha)
    if not wanted.preferred:
        what = f"a run of {wanted.branch}"
    elif rank == 0:
        what = "the base commit's own run"
    elif rank < len(wanted.preferred):
        what = f"the run of an ancestor of the base, {counted(rank, 'commit')} before it"
    else:
        what = f"a run of {wanted.branch} that is not a known ancestor of the head"
    return f"{what} ({run.event}, run {run.id})"


def _called(artifact: Artifact) -> str:
    run = artifact.workflow_run
    return f"artifact {artifact.id} of run {run.id if run and run.id else 'unknown'}"


def _why_not(artifact: Artifact, run: ArtifactRun, wanted: ArtifactQuery) -> str | None:
    """The reason to rule out an artifact by the list alone; None if there is none."""
    if artifact.name != wanted.name:
        return "it has a different name"
    if why := _why_not_origin(run.repository_id, run.head_repository_id, run.head_branch, wanted):
        return why
    if run.head_sha == wanted.head_sha:
        return OWN_COMMIT
    if artifact.expired:
        return EXPIRED
    if artifact.size_in_bytes > wanted.most_bytes:
        return f"its archive is larger than {format_value(wanted.most_bytes, 'B')}"
    return None


def _why_not_origin(
    repository_id: int | None,
    head_repository_id: int | None,
    branch: str | None,
    wanted: ArtifactQuery,
) -> str | None:
    if repository_id != wanted.repository_id:
        return "its run belongs to another repository"
    if head_repository_id != wanted.repository_id:
        return FROM_ELSEWHERE
    if branch != wanted.branch:
        return f"its run was of {branch or 'no branch'}, not of {wanted.branch}"
    return None
