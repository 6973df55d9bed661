"""Decides which artifacts of earlier runs can be trusted, and reads the results in them.

Whoever opens a pull request can cause a run in this repository, on a branch of any name and with
an artifact of any name. So only the origin of an artifact counts: the repository that the commit
came from, the branch, and the event. The list of artifacts tells all of that except the event,
so there are two steps: artifacts that the list rules out cost no request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, GitHubError
from benchgate.files import MAX_FILE_BYTES, expand
from benchgate.gate.stored import (
    EXPIRED,
    FROM_ELSEWHERE,
    OF_PULL_REQUEST,
    OFF_BRANCH,
    OWN_COMMIT,
    EarlierResult,
    StoredResults,
)
from benchgate.model.codec import decode_result
from benchgate.model.result import SkippedResult
from benchgate.units import counted, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.github.objects import Artifact, ArtifactRun, WorkflowRun
    from benchgate.model.run import Run


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
class ArtifactCandidate:
    """An artifact that the list does not rule out, and the run that left it."""

    artifact: Artifact
    run_id: int
    head_sha: str | None

    @property
    def name(self) -> str:
        """The name that messages use: enough for a person to find the artifact and the run."""
        return _called(self.artifact)


def choose_artifacts(
    listed: Iterable[Artifact], wanted: ArtifactQuery
) -> tuple[list[ArtifactCandidate], list[SkippedResult]]:
    """Rule out artifacts by what the list says of them; return the rest first.

    The base commit's own artifacts come first, then those of its nearest ancestors, then the
    newest.
    """
    kept: list[ArtifactCandidate] = []
    skipped: list[SkippedResult] = []
    for artifact in {one.id: one for one in listed}.values():
        run = artifact.workflow_run
        if run is None or run.id is None:
            why_not = "GitHub does not say which run uploaded it"
            skipped.append(SkippedResult(_called(artifact), why_not))
        elif why := _why_not_trusted(artifact, run, wanted):
            skipped.append(SkippedResult(_called(artifact), why))
        else:
            kept.append(ArtifactCandidate(artifact, run.id, run.head_sha))
    kept.sort(key=lambda one: (one.artifact.created_at or _OLDEST, one.artifact.id), reverse=True)
    kept.sort(key=lambda one: wanted.rank(one.head_sha))
    return kept, skipped


def why_not_run(
    candidate: ArtifactCandidate, run: WorkflowRun, wanted: ArtifactQuery
) -> str | None:
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


def _why_not_trusted(artifact: Artifact, run: ArtifactRun, wanted: ArtifactQuery) -> str | None:
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


MOST_LISTED: Final = 300
"""Artifacts of one name over all runs, including those of forks."""

MOST_TRIED: Final = 30
MOST_BYTES: Final = 256 << 20
"""Size limit of one result, expanded; all together get the limit of a single file."""

_MOST_FAILURES = 3
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class ArtifactRequests:
    """What GitHub is asked about an artifact that its list does not rule out.

    Attributes:
        run_of: gets a run by its id.
        fetch: gets the one file in an artifact.
        is_of_branch: whether a commit is on the default branch; called only for commits that are
            not known to be the base or its ancestors.
    """

    run_of: Callable[[int], WorkflowRun]
    fetch: Callable[[Artifact], bytes]
    is_of_branch: Callable[[str], bool] = lambda _: True


def read_artifacts(
    listed: Iterable[Artifact],
    wanted: ArtifactQuery,
    requests: ArtifactRequests,
    *,
    limit: int,
    counts: Callable[[Run], bool] = lambda _: True,
) -> StoredResults:
    """Read the results of artifacts that can be trusted, in order of preference.

    If anything is wrong with an artifact, it is skipped, with the reason. At most `MOST_TRIED` are
    requested, and none after GitHub has failed repeatedly.

    GitHub names the run of a tag after the tag, and whoever may push a branch may also push a tag
    with the name of the default branch. So the commit must be on that branch, too.

    Args:
        listed: in any order; its length must be limited.
        limit: how many results that count are enough.
        counts: whether a run counts; a run of another machine does not.

    Raises:
        GitHubError: while the list is read.
    """
    kept, skipped = choose_artifacts(listed, wanted)
    earlier: list[EarlierResult] = []
    warnings: tuple[str, ...] = ()
    enough, failures, left_bytes = limit, 0, MAX_FILE_BYTES
    for candidate in kept[:MOST_TRIED]:
        if not enough or failures == _MOST_FAILURES:
            break
        try:
            run = requests.run_of(candidate.run_id)
            why = why_not_run(candidate, run, wanted)
            if not why and wanted.rank(run.head_sha) == len(wanted.preferred):
                why = None if requests.is_of_branch(run.head_sha) else OFF_BRANCH
            if why:
                skipped.append(SkippedResult(candidate.name, why))
                continue
            limit_bytes = min(MOST_BYTES, left_bytes)
            data = expand(
                requests.fetch(candidate.artifact), candidate.name, limit_bytes=limit_bytes
            )
            one = read_earlier(data, candidate, run, wanted)
        except FormatError as error:
            reason = error.message.removeprefix(f"{candidate.name}: ")
            skipped.append(SkippedResult(candidate.name, reason))
        except GitHubError as error:
            skipped.append(SkippedResult(candidate.name, error.message))
            failures += error.status not in _GONE
        else:
            earlier.append(one)
            left_bytes -= len(data)
            enough -= counts(one.run)
    if failures == _MOST_FAILURES:
        warnings = (f"GitHub failed {failures} times, so no more stored results were read",)
    return StoredResults("artifact", tuple(earlier), tuple(skipped), warnings)


def read_earlier(
    data: bytes, candidate: ArtifactCandidate, run: WorkflowRun, wanted: ArtifactQuery
) -> EarlierResult:
    """Read the result in an artifact, and take its origin from GitHub.

    What the file says about its commit, branch and time is not trusted. If it names another commit
    than that of the run, it is refused.

    Args:
        data: the file in the artifact, expanded.

    Raises:
        FormatError: it is damaged, incomplete, not a result, or of another commit.
    """
    result = decode_result(data, candidate.name)
    head = result.head
    if head.source.sha not in {None, run.head_sha}:
        raise FormatError(
            f"{candidate.name}: it measured {head.source.sha}, but its run was for {run.head_sha}"
        )
    if not head.complete:
        raise FormatError(f"{candidate.name}: its measurement was interrupted")
    source = replace(head.source, sha=run.head_sha, ref=run.head_branch, why="")
    created_at = candidate.artifact.created_at
    started = f"{created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if created_at else head.started
    known = replace(head, source=source, started=started)
    # The base of that run and its shards are not needed here, and they are large.
    alone = replace(result, head=known, base=None, shards=())
    return EarlierResult(candidate.name, alone, relation(run, wanted))
