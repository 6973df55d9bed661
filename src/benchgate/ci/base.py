"""The job, its base commit, and whose rules and waivers judge the change.

They do if somebody with write access to the repository has accepted exactly this commit. The
base's configuration says whether that is possible, and how.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from benchgate.baselines.base import choose_base
from benchgate.baselines.base_config import judged_by_base, measured_by_base
from benchgate.baselines.own_benchmarks import has_no_benchmarks, with_benchmarks_of_head
from benchgate.config import brings_waivers
from benchgate.errors import BaselineError, GitHubError, UsageError
from benchgate.git.repository import ensure_commit
from benchgate.github.artifact_names import ArtifactKind
from benchgate.github.client import approver, labeler, merge_base, read_pull_request, read_run
from benchgate.github.plan import Head, plan_for
from benchgate.github.runner import MergeGroupEvent, PullRequestEvent, PushEvent
from benchgate.model.policy import Acceptance, AcceptanceMethod
from benchgate.model.result import by_reason
from benchgate.model.run import BenchmarkFiles, Source
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.config import Accept, Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.git.repository import Git
    from benchgate.github.client import Client
    from benchgate.github.objects import PullRequest as Pull
    from benchgate.github.plan import Base, EventPlan
    from benchgate.github.runner import Context
    from benchgate.model.environment import Environment
    from benchgate.model.result import Result


@dataclass(frozen=True, slots=True)
class NoBase:
    """There is nothing to compare with, and why."""

    why: str


def checked_out(git: Git) -> Head:
    sha = git.head_sha()
    return Head(sha, git.parents(sha))


def find_base(base: Base, git: Git, merge_base: Callable[[str, str], str]) -> Source | NoBase:
    """Find the base commit of an event; fetch it if the checkout does not have it.

    Args:
        merge_base: asks GitHub for the merge base of a commit or branch and a commit, if the
            checkout does not hold enough of the history.
    """
    head = git.head_sha()
    sha = base.sha
    if sha is None:
        if base.merge_base_with is None:
            return NoBase(base.why)
        sha = _local_merge_base(git, base.merge_base_with, head)
        sha = sha or merge_base(base.merge_base_with, head)
    if sha == head:
        return NoBase(f"the base is the head itself, so nothing changed ({base.why})")
    ensure_commit(git, sha)
    return Source(sha=sha, ref=base.merge_base_with, why=base.why)


def _local_merge_base(git: Git, other: str, head: str) -> str | None:
    """Find the merge base in a complete clone; in a shallow one it could be too old."""
    if git.is_shallow():
        return None
    for name in (f"refs/remotes/origin/{other}", other):
        if git.rev_parse(name) is not None:
            return git.merge_base(head, name)
    return None


@dataclass(frozen=True, slots=True)
class ComparisonBase:
    """The base commit of a job, and the configuration that judges.

    Attributes:
        base: the commit, which the checkout has; None if there is none.
        why: the reason if there is no base.
        config: says what is measured, and how it is judged.
        files: whose benchmarks both sides run: the base's, or the head's if the base has none.
    """

    base: Source | None
    why: str
    config: Config
    warnings: tuple[str, ...] = ()
    files: BenchmarkFiles = BenchmarkFiles.BASE


def compare_with(plan: EventPlan, config: Config, job: Job, start: Path) -> ComparisonBase:
    """Find the base of an event, and use the base's configuration to judge.

    Args:
        start: the folder where the search for the head's configuration started.
    """
    lost: tuple[str, ...] = ()
    try:
        repository = job.context.repository.full_name
        base = find_base(plan.base, job.git, partial(merge_base, job.client, repository))
    except (BaselineError, GitHubError) as error:
        # A pushed commit is on the branch already: later changes start from it in any case.
        if plan.keeping.kind is not ArtifactKind.BASELINE:
            raise
        base = NoBase(plan.base.why)
        lost = (f"the base was not measured: {error.message}",)
    if isinstance(base, NoBase):
        _require_no_change(base, job)
        return ComparisonBase(None, base.why, config, lost)
    judged_by, unread = judged_by_base(job.git, base.sha or "", config, start)
    against = judged_by.baseline.against
    if against is None:
        return _with_benchmarks(job.git, base, judged_by, unread)
    named = choose_base(job.git, against)
    if named.sha == job.git.head_sha():
        why = f"{against} is the head itself"
        return ComparisonBase(None, why, judged_by, (*unread, f"nothing is compared: {why}"))
    measured, unlike = measured_by_base(job.git, named.sha or "", judged_by, start)
    return _with_benchmarks(job.git, named, measured, (*unread, *unlike))


def _with_benchmarks(
    git: Git, base: Source, config: Config, warnings: tuple[str, ...]
) -> ComparisonBase:
    """Measure both sides with the head's benchmarks if the base has none of its own."""
    if not has_no_benchmarks(git, base.sha or "", config):
        return ComparisonBase(base, "", config, warnings)
    return ComparisonBase(base, "", with_benchmarks_of_head(config), warnings, BenchmarkFiles.HEAD)


def _require_no_change(base: NoBase, job: Job) -> None:
    """Fail if the checked-out commit is not the event's: it would be called unchanged."""
    event = job.context.event
    is_change = isinstance(event, MergeGroupEvent) or (
        isinstance(event, PullRequestEvent) and event.is_open
    )
    if is_change:
        head = job.git.head_sha()
        raise UsageError(
            f"the checked-out commit {head[:12]} holds no change to measure: {base.why}",
            hint="Remove `ref` from actions/checkout: it then checks out the commit of the event.",
        )


def require_baseline(judged: JudgedRuns, result: Result, config: Config, why: str) -> None:
    """Fail if a baseline is required, but no benchmark of any baseline is known.

    Args:
        why: the reason if there is no commit to measure.
    """
    if judged.judgment.base_benchmarks or not config.baseline.required:
        return
    reasons = [why] if why else []
    if screening := result.screening:
        reasons += screening.warnings
        if screening.skipped:
            reasons.append(f"{counted(len(screening.skipped), 'stored result')} cannot be used")
    raise BaselineError(
        f"there is nothing to compare with, but {config.where('baseline.required')} requires it: "
        f"{'; '.join(reasons) or 'the base has no benchmarks'}",
        hint="Run the workflow on the default branch: its result becomes a baseline.",
        details="\n".join(f"{one.what}: {one.reason}" for one in by_reason(judged.skipped)),
    )


_SHORT = 7
_MERGE = "They apply once they are merged."


@dataclass(frozen=True, slots=True)
class AcceptanceAnswer:
    """Who accepted a change's waivers, or why they do not count.

    Attributes:
        accepted: None if nobody accepted them, or nobody had to.
        warnings: why its waivers do not count, and what to do about it.
    """

    accepted: Acceptance | None = None
    warnings: tuple[str, ...] = ()


def ask(config: Config, job: Job) -> AcceptanceAnswer:
    """Find out in the job that measured. It asks GitHub only if the answer makes a difference."""
    if config.sides is None or not brings_waivers(config.sides.base, config.sides.head):
        return AcceptanceAnswer()
    context = job.context
    match context.event:
        case PushEvent() if context.ref == f"refs/heads/{context.default_branch}":
            return AcceptanceAnswer(Acceptance(context.actor, AcceptanceMethod.PUSH))
        case PullRequestEvent(number=number, head_sha=head):
            return ask_about(number, head, context.run_id, config.accept, job)
        case MergeGroupEvent(pull_request=int(number)):
            return ask_about(number, None, context.run_id, config.accept, job)
        case _:
            return AcceptanceAnswer()


def ask_about(
    number: int, head: str | None, run_id: int, accept: Accept, job: Job
) -> AcceptanceAnswer:
    """Find out about a pull request.

    Args:
        head: the commit that was measured; None for the current head of the pull request.
        run_id: of the run that measured it; the commit was there before the run began.
        accept: the [accept] table of the base's configuration.
    """
    repository = job.context.repository
    try:
        pull = read_pull_request(job.client, repository.full_name, number)
        if head is not None and pull.head.sha != head:
            return _nobody("the pull request has a newer head by now")
        is_own = pull.head.repo is not None and pull.head.repo.id == repository.id
        if not is_own and not accept.forks:
            return _nobody("they come from a fork, and `forks` in [accept] is false", _MERGE)
        accepted = _accepted(pull, run_id, accept, job)
    except GitHubError as error:
        return _nobody(f"GitHub does not say who accepted them: {error.message}", error.hint)
    if accepted:
        return AcceptanceAnswer(accepted)
    return _nobody("nobody has accepted them", _how_to(accept, pull.head.sha[:_SHORT]))


def _accepted(pull: Pull, run_id: int, accept: Accept, job: Job) -> Acceptance | None:
    repository = job.context.repository.full_name
    if accept.review and (by := approver(job.client, repository, pull)):
        return Acceptance(by, AcceptanceMethod.REVIEW)
    if accept.label is not None:
        since = read_run(job.client, repository, run_id).created_at
        if since and (by := labeler(job.client, repository, pull, accept.label, since=since)):
            return Acceptance(by, AcceptanceMethod.LABEL)
    return None


def _how_to(accept: Accept, head: str) -> str:
    ways = [f"approve {head} in a review"] if accept.review else []
    if accept.label is not None:
        ways.append(f'set the label "{accept.label}" (remove it first if it is already set)')
    if not ways:
        return _MERGE
    return f"Somebody with write access can {' or '.join(ways)}; then run the failed job again."


def _nobody(why: str, hint: str = "") -> AcceptanceAnswer:
    return AcceptanceAnswer(
        warnings=(f"the waivers in this change do not apply: {why}. {hint}".rstrip(),)
    )


@dataclass(frozen=True)
class Job:
    """A job of GitHub Actions, with access to GitHub.

    Attributes:
        git: the repository that the workflow checked out, with credentials to fetch from it.
    """

    context: Context
    client: Client
    git: Git
    here: Environment

    @cached_property
    def plan(self) -> EventPlan:
        """What the event asks for."""
        return plan_for(self.context, checked_out(self.git))
