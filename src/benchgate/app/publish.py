"""`benchgate publish`: comment on a fork's pull request from a job that may.

What the fork's run left is data from a stranger. It says what was measured, and nothing else: which
pull request it is for, by which rules it is judged, and on which day, is known here or asked of
GitHub. Stored runs that it says it was held against are not believed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from benchgate.app.event_base import checked_out
from benchgate.app.judging import judge_run, make_verdict
from benchgate.app.publishing import (
    USUAL_ENVIRONMENT,
    Published,
    Target,
    comment,
    name_of,
    no_comment,
    summarize,
)
from benchgate.app.records import DEFAULT_SUITE
from benchgate.app.stored_artifacts import read_result_of, read_run
from benchgate.baselines.policy import base_config, require_few
from benchgate.config import Sides, with_options
from benchgate.errors import BenchgateError, GitHubError, UsageError
from benchgate.git.fetching import ensure_commit
from benchgate.git.repository import FULL_SHA
from benchgate.github.artifact_names import ArtifactKind, Leg, leg_in
from benchgate.github.artifacts import list_artifacts
from benchgate.github.comments import mark, own_markers
from benchgate.github.plan import Comment, Commenting, plan_for
from benchgate.github.pulls import find_pull_requests
from benchgate.model.result import Source
from benchgate.report.comment import COMMENT_BYTES, render_comment
from benchgate.report.failure import render_failure
from benchgate.report.view import named, view_verdict, without_secrets

if TYPE_CHECKING:
    from benchgate.app.ci_step import Step
    from benchgate.app.effects import Effects
    from benchgate.app.job import Job
    from benchgate.config import Config
    from benchgate.github.comments import Marker
    from benchgate.github.events import WorkflowRun
    from benchgate.github.models import Artifact, PullRequest
    from benchgate.model.result import Result, Run
    from benchgate.model.verdict import Verdict

MOST_RESULTS: Final = 5
"""Of one run: each has a comment of its own."""

MOST_PULL_REQUESTS: Final = 5
"""Of one head: each is for another branch."""

_USUAL = Leg.of(DEFAULT_SUITE, USUAL_ENVIRONMENT)
_BROKEN = frozenset({"failure", "timed_out", "startup_failure"})
_WARNING = (
    "measured by the pull request's own run: read what it changes before you believe its numbers"
)
_SHARED = (
    "other open pull requests have the same head: this may have been measured for one of them, "
    "against another base"
)


def publish(run: WorkflowRun, config: Config, effects: Effects, job: Job, step: Step) -> int:
    """Comment on what a run of a fork's pull request measured; give the exit code.

    Args:
        run: that of the fork.
        config: of the default branch, which is checked out.

    Raises:
        GitHubError: GitHub refuses, or does not answer; what can be commented on is, all the same.
    """
    planned = plan_for(job.context, checked_out(job.git)).comment
    if not step.comments:
        planned = Comment(Commenting.NEVER, "comments are switched off")
    if planned.when is Commenting.NEVER:
        step.write([f"nothing to comment on: {planned.why}"])
        return 0
    repository = job.context.repository.full_name
    pulls = find_pull_requests(job.client, repository, run)
    if not pulls:
        step.write([f"nothing to comment on: no open pull request has {run.head_sha[:7]} as head"])
        return 0
    if len(pulls) > MOST_PULL_REQUESTS:
        more = f"{len(pulls)} open pull requests have {run.head_sha[:7]} as head"
        step.warn((f"{more}: {MOST_PULL_REQUESTS} of them are commented on",))
    publications = [
        _Publication(run, pull, len(pulls) > 1, config, effects, job, step)
        for pull in pulls[:MOST_PULL_REQUESTS]
    ]
    errors = _publish(publications, job, step, _results(job, run), run)
    if errors:
        raise errors[0]
    return 0


def _publish(
    publications: list[_Publication],
    job: Job,
    step: Step,
    left: list[tuple[Artifact, Leg]],
    run: WorkflowRun,
) -> list[GitHubError]:
    """Comment on all that the run left; give what GitHub kept from being commented on."""
    done: list[Published] = []
    for artifact, leg in left[:MOST_RESULTS]:
        try:
            read = _read(job, artifact)
        except GitHubError as error:  # the comment that there is says more than this
            done.append(no_comment(error))
            step.warn(done[-1].warnings)
        else:
            done += [one.of_result(leg, read) for one in publications]
    if not left:
        step.write([f"run {run.id} left no result"])
        if run.conclusion in _BROKEN:
            done += [told for one in publications for told in one.of_nothing()]
    if len(left) > MOST_RESULTS:
        step.warn((f"run {run.id} left {len(left)} results: {MOST_RESULTS} of them are read",))
    return [one.error for one in done if one.error]


def _results(job: Job, run: WorkflowRun) -> list[tuple[Artifact, Leg]]:
    """What this attempt of the run left: an earlier one's has been commented on.

    Where another one has followed, GitHub tells the beginning of that one alone, and all counts:
    what the newer one does not measure again would be lost.
    """
    repository = job.context.repository.full_name
    known = read_run(job.client, repository, run.id)
    began = known.run_started_at if known.run_attempt <= run.attempt else None
    return [
        (one, leg)
        for one in list_artifacts(job.client, repository, run_id=run.id)
        if (leg := leg_in(ArtifactKind.RESULT, one.name))
        and not one.expired
        and (began is None or (one.created_at is not None and one.created_at >= began))
    ]


def _read(job: Job, artifact: Artifact) -> Result | UsageError:
    """What it holds, or what is wrong with it.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    try:
        return read_result_of(job.client, job.context.repository.full_name, artifact)
    except UsageError as error:
        return error


@dataclass(frozen=True, slots=True)
class _Publication:
    """On one pull request.

    Attributes:
        is_shared: whether its head is others' head, too.
    """

    run: WorkflowRun
    pull: PullRequest
    is_shared: bool
    config: Config
    effects: Effects
    job: Job
    step: Step

    def of_result(self, leg: Leg, read: Result | UsageError) -> Published:
        """Judge it, and comment; or say why that cannot be done."""
        try:
            if isinstance(read, UsageError):
                raise read
            verdict = self._verdict(read)
        except BenchgateError as error:
            return self._of_failure(leg, error.message, error.hint)
        view = named(without_secrets(view_verdict(verdict), self.step.redact), _name(leg))
        body = render_comment(view, limit_bytes=COMMENT_BYTES, summary_url=self._run_url)
        self.step.output(verdict=verdict.decision.value)
        return self._post(self._marker(leg), body)

    def of_nothing(self) -> list[Published]:
        """Say that there is no result, in each comment of an earlier commit, or in a first one."""
        message, hint = "the run left no result", "Its log says why."
        try:
            found = own_markers(self.job.client, self._repository, self.pull.number)
        except GitHubError as error:
            done = no_comment(error)
            self.step.warn(done.warnings)
            return [done]
        if not found:
            return [self._of_failure(_USUAL, message, hint)]
        text = self._failure(message, hint)
        return [
            self._post(replace(self._marker(_USUAL), suite=one.suite), text)
            for one in found
            if one.head != self.run.head_sha
        ]

    def _of_failure(self, leg: Leg, message: str, hint: str) -> Published:
        """Say that there is no verdict: the one before it seems to be of this commit."""
        return self._post(self._marker(leg), self._failure(message, hint, _name(leg)))

    def _failure(self, message: str, hint: str, name: str = "") -> str:
        redact, head = self.step.redact, self.run.head_sha
        return render_failure(redact(message), hint=redact(hint), details="", head=head, name=name)

    def _marker(self, leg: Leg) -> Marker:
        run = self.run
        return mark(str(leg), head=run.head_sha, run=run.id, attempt=run.attempt)

    def _post(self, marker: Marker, text: str) -> Published:
        target = Target(self._repository, self.pull.number, marker)
        wanted = Comment(Commenting.NOW, "its head is what the run measured", self.pull.number)
        posted = comment(text, wanted, target, self.job.client)
        summarized = summarize(lambda _: text, self.step.environ)
        for one in (summarized, posted):
            self.step.write([self.step.redact(note) for note in one.notes])
            self.step.warn(one.warnings)
        if posted.comment_url:
            self.step.output(comment_url=posted.comment_url)
        return posted

    def _verdict(self, result: Result) -> Verdict:
        """Judge by the configuration of the branch that the pull request is for, as of today.

        Raises:
            UsageError: it is of no use alone: one arm, or a part of a suite.
            BaselineError: the base commit cannot be had.
        """
        if result.base is None:
            raise UsageError("the run measured the head alone, so there is nothing to compare")
        if result.shard and result.shard.count > 1:
            raise UsageError("the run left a part of a suite, and not the whole of it")
        known = replace(
            result,
            head=replace(result.head, source=self._head),
            base=replace(result.base, source=_claimed(result.base)),
            warnings=(_WARNING, *((_SHARED,) if self.is_shared else ()), *result.warnings),
            shard=None,  # the only one of its suite: a part is held to less than the whole
            screening=None,
            policy=None,
        )
        today = date.fromisoformat(self.effects.now()[:10])
        config = self._policy()
        return make_verdict(judge_run(known, config), config, day=today)

    @property
    def _head(self) -> Source:
        return Source(self.run.head_sha, self.run.head_branch)

    def _policy(self) -> Config:
        """The base's configuration, with what the head's would change of it."""
        found = self._configuration(self.pull.base.sha)
        base = with_options(found, self.config) if found else self.config
        head = self._configuration(self.run.head_sha)
        if head is None:
            return base
        require_few(head)
        return replace(base, aliases=head.aliases, sides=Sides(base, head))

    def _configuration(self, sha: str) -> Config | None:
        """What a commit is configured by; its files are read, and nothing of it is run."""
        ensure_commit(self.job.git, sha, self.job.git_variables)
        return base_config(self.job.git, sha, self.config, self.effects.cwd)

    @property
    def _repository(self) -> str:
        return self.job.context.repository.full_name

    @property
    def _run_url(self) -> str:
        repository = f"{self.job.context.server_url}/{self._repository}"
        return f"{repository}/actions/runs/{self.run.id}/attempts/{self.run.attempt}"


def _name(leg: Leg) -> str:
    return name_of(leg.suite, leg.environment)


def _claimed(base: Run) -> Source:
    """The base that the run says it measured, as what it is: its word."""
    sha = base.source.sha or ""
    return Source(sha if FULL_SHA.fullmatch(sha) else None, why="as the pull request's run says")
