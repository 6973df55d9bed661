"""Finds and reads the results and histories that earlier runs on GitHub left as artifacts.

Everything except `read_stored` raises a GitHubError if GitHub refuses or does not answer.

As for a baseline, only the origin of an artifact counts, not its name: its run must have measured
a commit of the default branch.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from benchgate.baselines.artifacts import (
    MOST_BYTES,
    MOST_LISTED,
    MOST_TRIED,
    ArtifactQuery,
    ArtifactRequests,
    read_artifacts,
)
from benchgate.ci.own_runs import OwnRuns
from benchgate.errors import FormatError, GitHubError, UsageError
from benchgate.files import expand
from benchgate.gate.stored import OFF_BRANCH, StoredResults
from benchgate.github.artifact_names import ArtifactKind, leg_in
from benchgate.github.artifacts import LIMITS, download_artifact, list_artifacts, read_member
from benchgate.github.client import commit_of, merge_base, read_run
from benchgate.github.objects import ApiObject, FullName, Id, Ref
from benchgate.github.runner import EventRepository
from benchgate.history.record import record_of, why_not_kept
from benchgate.model.codec import decode_result
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.ci.base import Job
    from benchgate.git.repository import Git
    from benchgate.github.client import Client
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.history.record import RunRecord
    from benchgate.model.environment import Environment
    from benchgate.model.result import Result
    from benchgate.model.run import Run


MEMBERS: Final = ("result.json.gz", "result.json")
"""The name of the one file in an artifact."""

_MOST_ANCESTORS = 200
_UNKNOWN = frozenset({404, 422})


def read_stored(job: Job, *, name: str, base: str | None, limit: int) -> StoredResults:
    """Read the results of earlier runs of the default branch, or say why that is impossible.

    Args:
        base: the commit whose own run comes first, and its ancestors after it.
        limit: the number of results, from machines like this one, that are enough.
    """
    client, context = job.client, job.context
    repository = context.repository.full_name
    wanted = ArtifactQuery(
        repository_id=context.repository.id,
        branch=context.default_branch,
        name=name,
        head_sha=context.sha,
        preferred=_line_of(job.git, base),
        most_bytes=LIMITS.archive_bytes,
    )
    try:
        own = OwnRuns.listed(client, context.repository, context.default_branch)
        listed, warnings = _listed(own, wanted)
        known = {run.id: run for run in own.runs}
        found = read_artifacts(
            listed,
            wanted,
            ArtifactRequests(
                run_of=lambda id_: known.get(id_) or read_run(client, repository, id_),
                fetch=lambda artifact: _file(client, repository, artifact),
                is_of_branch=branch_holds(client, repository, context.default_branch),
            ),
            limit=limit,
            counts=lambda run: is_like(run, job.here),
        )
    except GitHubError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return StoredResults("artifact", warnings=(f"no stored results: {error.message}{hint}",))
    return replace(found, warnings=(*warnings, *found.warnings))


def branch_holds(client: Client, repository: str, branch: str) -> Callable[[str], bool]:
    """Make a function that says whether a commit is on a branch: its newest, or an ancestor."""

    @cache
    def newest() -> str:
        # The full ref, because a tag may have the same name.
        return commit_of(client, repository, f"heads/{branch}")

    def holds(sha: str) -> bool:
        tip = newest()
        try:
            return sha == tip or merge_base(client, repository, tip, sha) == sha
        except GitHubError as error:
            if error.status in _UNKNOWN:
                return False
            raise

    return holds


def _listed(own: OwnRuns, wanted: ArtifactQuery) -> tuple[list[Artifact], tuple[str, ...]]:
    """The artifacts of a name, those of the default branch's runs first; and a warning.

    GitHub lists a name over all runs, the newest first. If artifacts of other people fill the part
    of that list that is read, each run of the default branch is asked, in order of preference.
    """
    every = list_artifacts(own.client, own.repository, name=wanted.name)
    listed = list(islice(every, MOST_LISTED))
    if len(listed) < MOST_LISTED:
        return listed, ()
    seen = {one.workflow_run.id for one in listed if one.workflow_run}
    unseen = [run for run in own.runs if run.id not in seen]
    unseen.sort(key=lambda run: wanted.rank(run.head_sha))
    found: list[Artifact] = []
    try:
        for _, left in own.left(unseen, name=wanted.name):
            found += left
            if len(found) >= MOST_TRIED:
                break
    except GitHubError as error:
        return [*found, *listed], (f"not all stored results were searched: {error.message}",)
    unsearched = (f"{one.what} were not searched: {one.reason}" for one in own.not_asked)
    return [*found, *listed], tuple(unsearched)


def read_result_of(client: Client, repository: str, artifact: Artifact) -> Result:
    """Read the result in one artifact, whichever run left it.

    Raises:
        FormatError: it is not a result, or it is damaged.
    """
    return decode_result(read_file_of(client, repository, artifact), artifact.name)


def read_file_of(client: Client, repository: str, artifact: Artifact) -> bytes:
    """Read and expand the one file in an artifact. Error messages hold no text of the file."""
    return expand(_file(client, repository, artifact), artifact.name, limit_bytes=MOST_BYTES)


def is_like(run: Run, here: Environment) -> bool:
    """Whether a run is of such a machine; its toolchains are known only after measuring."""
    return not replace(run.environment, toolchains={}).differences(here)


def environment_key(environ_os: str, machine: str) -> str:
    """The machine's part of artifact names; machines that cannot be compared get different ones.

    Args:
        environ_os: RUNNER_OS, e.g. "Linux".
        machine: the architecture, e.g. "x86_64".
    """
    return f"{environ_os}-{machine}".lower()


def _line_of(git: Git, base: str | None) -> tuple[str, ...]:
    """A commit and its ancestors by first parents, as far as the checkout holds them."""
    if base is None:
        return ()
    if git.rev_parse(base) is None:
        return (base,)
    listed = git.run("rev-list", "--first-parent", f"--max-count={_MOST_ANCESTORS}", base)
    return tuple(listed.split())


def _file(client: Client, repository: str, artifact: Artifact) -> bytes:
    return read_member(download_artifact(client, repository, artifact), MEMBERS, artifact.name)


MOST_ASKED_FOR_HISTORY: Final = 300
"""Runs whose artifacts are listed."""

_MOST_FAILURES = 3
_GONE = frozenset({404, 410})


class _Described(ApiObject):
    """A repository as GitHub describes it."""

    id: Id
    full_name: FullName
    default_branch: Ref


def _record(
    client: Client,
    repository: str,
    run: WorkflowRun,
    artifact: Artifact,
    holds: Callable[[str], bool],
) -> RunRecord | SkippedResult:
    """Read one artifact; its origin is taken from GitHub, not from the file."""
    name = f"artifact {artifact.id} of run {run.id}"
    if artifact.expired:
        return SkippedResult(name, "it has expired")
    if not holds(run.head_sha):
        return SkippedResult(name, OFF_BRANCH)
    try:
        head = read_result_of(client, repository, artifact).head
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
    """
    path = f"/repos/{repository}"
    described = _Described.read(client.get(path), path)
    own = OwnRuns.listed(
        client, EventRepository(described.id, described.full_name), described.default_branch
    )
    holds = branch_holds(client, repository, described.default_branch)
    failures = count = 0
    for run, artifacts in own.left(own.runs, most=MOST_ASKED_FOR_HISTORY):
        for artifact in artifacts:
            if leg_in(ArtifactKind.BASELINE, artifact.name) is None:
                continue
            count += 1
            try:
                yield _record(client, repository, run, artifact, holds)
            except GitHubError as error:
                failures += error.status not in _GONE
                if failures == _MOST_FAILURES:
                    raise
                yield SkippedResult(f"artifact {artifact.id} of run {run.id}", error.message)
    not_asked = tuple(own.not_asked)
    yield from not_asked
    if not count:
        raise UsageError(
            f"no job of {described.default_branch} in {repository} left a result as an artifact",
            hint="`benchgate ci` leaves them for runs of the default branch, if "
            '`[baseline] source` is "auto" or "artifact"; they expire.',
            details="\n".join(f"{one.what} were not searched: {one.reason}" for one in not_asked),
        )
