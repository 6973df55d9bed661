"""`benchgate publish`: comment on a pull request from a job that runs none of its code.

What a fork's run left is untrusted data. benchgate uses only its numbers. Everything else it knows
itself or asks GitHub: the pull request, the rules that judge it, the day, and the names of
benchmarks and suites.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from benchgate.baselines.claims import (
    RunPeriod,
)
from benchgate.ci.commenting import PublishOutcome, no_comment
from benchgate.ci.legs import Legs
from benchgate.ci.publication import Publication
from benchgate.ci.stored_artifacts import read_file_of
from benchgate.errors import (
    BenchgateError,
    FormatError,
    GitHubError,
    UsageError,
)
from benchgate.escape import plain_line
from benchgate.github.annotations import stopped
from benchgate.github.artifact_names import ArtifactKind, Leg, leg_in
from benchgate.github.artifacts import list_artifacts
from benchgate.github.client import find_pull_requests, read_run
from benchgate.github.plan import DEPENDABOT, CommentPlan, CommentTime
from benchgate.model.codec import decode_result
from benchgate.session.choice import EVERYTHING
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.ci.base import Job
    from benchgate.ci.step import JobStep
    from benchgate.config import Config
    from benchgate.github.objects import Artifact, PullRequest
    from benchgate.github.objects import WorkflowRun as KnownRun
    from benchgate.github.runner import WorkflowRunEvent
    from benchgate.model.result import Result
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects


MOST_RESULTS: Final = 5
"""Results of one run; each gets its own comment."""

MOST_OWN_RESULTS: Final = 20
"""Results of one run of a branch of this repository, for example from a matrix."""

MOST_PULL_REQUESTS: Final = 5
"""Pull requests with one head; each has another target branch."""

_MOST_LISTED: Final = 300
_BROKEN = frozenset({"failure", "timed_out", "startup_failure"})
_ENDED = _BROKEN | {"success"}
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PullRequestSuite:
    """The suite of pull requests, as far as it differs from that of the default branch.

    Attributes:
        choice: the benchmarks that pull requests measure, if the default branch measures more.
        name: of a suite that the default branch does not measure; "" for none.
    """

    choice: Choice = EVERYTHING
    name: str = ""


ALIKE: Final = PullRequestSuite()


def publish(
    run: WorkflowRunEvent,
    config: Config,
    effects: Effects,
    job: Job,
    step: JobStep,
    *,
    theirs: PullRequestSuite = ALIKE,
) -> int:
    """Comment on what a run of a pull request measured; return the exit code.

    Args:
        config: of the default branch, which is checked out.
    """
    planned = job.plan.comment
    if not step.comments:
        planned = CommentPlan(CommentTime.NEVER, "comments are turned off")
    if planned.when is CommentTime.NEVER:
        step.write([f"nothing to comment on: {planned.why}"])
        return 0
    repository = job.context.repository.full_name
    pulls = find_pull_requests(job.client, repository, run)
    if not pulls:
        step.write([f"nothing to comment on: no open pull request has the head {run.head_sha[:7]}"])
        return 0
    if len(pulls) > MOST_PULL_REQUESTS:
        more = f"{len(pulls)} open pull requests have the head {run.head_sha[:7]}"
        step.warn((f"{more}: only {MOST_PULL_REQUESTS} of them get a comment",))
    known = read_run(job.client, repository, run.id)
    is_strange = _is_strange(known, pulls, job)
    publications = [
        Publication(
            run, pull, len(pulls) > 1, is_strange, config, effects, job, step, theirs.choice
        )
        for pull in pulls[:MOST_PULL_REQUESTS]
    ]
    errors = _publish(publications, job, step, known, theirs.name)
    if errors:
        raise errors[0]
    return 0


def _publish(
    publications: list[Publication], job: Job, step: JobStep, known: KnownRun, suite: str
) -> list[GitHubError]:
    """Comment on all results of the run; return the errors of GitHub that prevented a comment."""
    run, is_strange = publications[0].run, publications[0].is_strange
    artifacts = _results(job, known, run)
    legs = _legs(artifacts, job, known, suite, step) if is_strange else None
    left = [(one, leg) for one, leg in artifacts if legs is None or leg in legs]
    done: list[PublishOutcome] = []
    most = MOST_RESULTS if is_strange else MOST_OWN_RESULTS
    for artifact, leg in left[:most]:
        try:
            read = _read(job, artifact, step, is_strange=is_strange)
        except GitHubError as error:  # the existing comment says more than this one would
            done.append(no_comment(error))
            step.warn(done[-1].warnings)
        else:
            own = legs.newest(leg) if legs and not isinstance(read, UsageError) else None
            if isinstance(own, BenchgateError):
                step.warn((f"the default branch's newest result is not known: {own.message}",))
            period = _period(known, artifact)
            done += [one.of_result(leg, read, period, own) for one in publications]
    _warn(step, run, len(artifacts) - len(left), len(left), most)
    if not left:
        step.write([f"run {run.id} left no result"])
        if run.conclusion in _ENDED:
            is_broken = run.conclusion in _BROKEN
            done += [told for one in publications for told in one.of_nothing(first=is_broken)]
    return [one.error for one in done if one.error]


def _is_strange(known: KnownRun, pulls: Iterable[PullRequest], job: Job) -> bool:
    """Whether a fork's code, or a dependency update that nobody reviewed, was measured.

    The actor of a run is whoever updated the pull request's branch or reopened the pull request.
    """
    head = known.head_repository
    is_own = head is not None and head.id == job.context.repository.id
    by = (known.actor, *(pull.user for pull in pulls))
    return not is_own or any(one is not None and one.login == DEPENDABOT for one in by)


def _warn(step: JobStep, run: WorkflowRunEvent, unknown: int, left: int, most: int) -> None:
    if unknown:
        message = (
            f"run {run.id} left {counted(unknown, 'result')} of suites that the default branch's "
            "runs do not have: they were not read, because the fork chose their names. If pull "
            "requests have their own suite, set the input `suite` in this job"
        )
        step.warn((message,))
    if left > most:
        step.warn((f"run {run.id} left {left} results: only {most} of them were read",))


def _legs(
    artifacts: list[tuple[Artifact, Leg]], job: Job, known: KnownRun, suite: str, step: JobStep
) -> Legs:
    """Find out which suites there are, from the default branch's own runs."""
    try:
        return Legs.left(job, {leg for _, leg in artifacts}, known.path, suite)
    except GitHubError as error:
        step.warn((f"cannot find out which suites exist: {error.message}",))
        return replace(Legs.usual(job, suite), unlisted=error)


def _results(job: Job, known: KnownRun, run: WorkflowRunEvent) -> list[tuple[Artifact, Leg]]:
    """The results of this attempt of the run; those of earlier ones already have comments.

    If a newer attempt has begun, GitHub tells the start of the newest one only. Then all results
    count: otherwise those that the newest attempt does not measure again would be lost.
    """
    repository = job.context.repository.full_name
    began = known.run_started_at if known.run_attempt <= run.attempt else None
    listed = islice(list_artifacts(job.client, repository, run_id=run.id), _MOST_LISTED)
    return [
        (one, leg)
        for one in listed
        if (leg := leg_in(ArtifactKind.RESULT, one.name))
        and not one.expired
        and (began is None or (one.created_at is not None and one.created_at >= began))
    ]


def _period(known: KnownRun, artifact: Artifact) -> RunPeriod:
    """The time from the start of the run to the upload of the artifact.

    All attempts count: one that repeats failed jobs joins what the earlier ones measured.
    """
    began = known.created_at or _LONG_AGO
    return RunPeriod(began, artifact.created_at or began)


def _read(job: Job, artifact: Artifact, step: JobStep, *, is_strange: bool) -> Result | UsageError:
    """The result in it, or what is wrong with it, in words that are not from the file.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    try:
        data = read_file_of(job.client, job.context.repository.full_name, artifact)
    except UsageError as error:
        return error
    try:
        return decode_result(data, artifact.name)
    except FormatError as error:
        if not is_strange:
            return error
        with stopped(step.stream, step.draw):
            step.write([step.redact(plain_line(error.message, 1000))])
        return FormatError(
            f"{artifact.name}: this version of benchgate cannot read the result in it",
            hint="The log of the job that writes this comment says what is wrong.",
        )
