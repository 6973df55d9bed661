"""Reads the results in trusted artifacts, and checks them like any untrusted input."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Final

from benchgate.baselines.artifact import choose_artifacts, relation, why_not_run
from benchgate.errors import FormatError, GitHubError
from benchgate.files import MAX_FILE_BYTES, expand
from benchgate.gate.stored import OFF_BRANCH, EarlierResult, StoredResults
from benchgate.model.codec import decode_result
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.baselines.artifact import ArtifactQuery, Candidate
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.model.run import Run

MOST_LISTED: Final = 300
"""Artifacts of one name over all runs, including those of forks."""

MOST_TRIED: Final = 30
MOST_BYTES: Final = 256 << 20
"""Size limit of one result, expanded; all together get the limit of a single file."""

_MOST_FAILURES = 3
_GONE = frozenset({404, 410})


def read_artifacts(
    listed: Iterable[Artifact],
    wanted: ArtifactQuery,
    *,
    run_of: Callable[[int], WorkflowRun],
    fetch: Callable[[Artifact], bytes],
    limit: int,
    counts: Callable[[Run], bool] = lambda _: True,
    is_of_branch: Callable[[str], bool] = lambda _: True,
) -> StoredResults:
    """Read the results of artifacts that can be trusted, in order of preference.

    If anything is wrong with an artifact, it is skipped, with the reason. At most `MOST_TRIED` are
    requested, and none after GitHub has failed repeatedly.

    GitHub names the run of a tag after the tag, and whoever may push a branch may also push a tag
    with the name of the default branch. So the commit must be on that branch, too.

    Args:
        listed: in any order; its length must be limited.
        run_of: gets a run by its id.
        fetch: gets the one file in an artifact.
        limit: how many results that count are enough.
        counts: whether a run counts; a run of another machine does not.
        is_of_branch: whether a commit is on the default branch; called only for commits that are
            not known to be the base or its ancestors.

    Raises:
        GitHubError: while the list is read.
    """
    chosen = choose_artifacts(listed, wanted)
    earlier: list[EarlierResult] = []
    skipped = list(chosen.skipped)
    warnings: tuple[str, ...] = ()
    enough, failures, left_bytes = limit, 0, MAX_FILE_BYTES
    for candidate in chosen.kept[:MOST_TRIED]:
        if not enough or failures == _MOST_FAILURES:
            break
        try:
            run = run_of(candidate.run_id)
            if why := _why_not(candidate, run, wanted, is_of_branch):
                skipped.append(SkippedResult(candidate.name, why))
                continue
            limit_bytes = min(MOST_BYTES, left_bytes)
            data = expand(fetch(candidate.artifact), candidate.name, limit_bytes=limit_bytes)
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


def _why_not(
    candidate: Candidate,
    run: WorkflowRun,
    wanted: ArtifactQuery,
    is_of_branch: Callable[[str], bool],
) -> str | None:
    """The reason not to read an artifact of this run; None if there is none."""
    if why := why_not_run(candidate, run, wanted):
        return why
    is_known = wanted.rank(run.head_sha) < len(wanted.preferred)
    return None if is_known or is_of_branch(run.head_sha) else OFF_BRANCH


def read_earlier(
    data: bytes, candidate: Candidate, run: WorkflowRun, wanted: ArtifactQuery
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
