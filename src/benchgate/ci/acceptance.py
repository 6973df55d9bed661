"""Whether the waivers in a change apply before the change is merged.

They do if somebody with write access to the repository has accepted exactly this commit. The
base's configuration says whether that is possible, and how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.config import brings_waivers
from benchgate.errors import GitHubError
from benchgate.github.events import MergeGroupEvent, PullRequestEvent, PushEvent
from benchgate.github.queries import approver, labeler, read_pull_request, read_run
from benchgate.model.policy import Acceptance, AcceptanceMethod

if TYPE_CHECKING:
    from benchgate.ci.job import Job
    from benchgate.config import Accept, Config
    from benchgate.github.objects import PullRequest as Pull

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
