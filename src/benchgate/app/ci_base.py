"""What a job compares the head with, and whose configuration judges it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.app.event_base import NoBase, find_base
from benchgate.baselines.git import choose_base
from benchgate.baselines.policy import BASE_HAS_NONE, judged_by_base, measured_by_base
from benchgate.errors import BaselineError, GitHubError, UsageError
from benchgate.git.fetching import ensure_commit
from benchgate.github.artifact_names import ArtifactKind
from benchgate.github.events import MergeGroup, PullRequest
from benchgate.github.pulls import merge_base

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.app.job import Job
    from benchgate.config import Config
    from benchgate.github.plan import Plan
    from benchgate.model.run import Source


@dataclass(frozen=True, slots=True)
class Compared:
    """With what the head is compared.

    Attributes:
        base: the commit, which is here; None if there is none.
        why: the reason, then.
        config: what is measured, and how it is judged.
        introduces: whether the base has no configuration, and the head brings the first one.
    """

    base: Source | None
    why: str
    config: Config
    warnings: tuple[str, ...] = ()
    introduces: bool = False


def compare_with(plan: Plan, config: Config, job: Job, start: Path) -> Compared:
    """Find the base of an event, and judge by its configuration.

    Args:
        start: the folder that the head's configuration was searched from.

    Raises:
        BaselineError: the base cannot be had.
        GitHubError: GitHub has to be asked for it, and does not answer.
        UsageError: what is checked out is no change of the event's.
    """
    lost: tuple[str, ...] = ()
    try:
        base = _base(plan, job)
    except (BaselineError, GitHubError) as error:
        # What was pushed is there, and later changes start from it, whatever came before it.
        if plan.keeping.kind is not ArtifactKind.BASELINE:
            raise
        base = NoBase(plan.base.why)
        lost = (f"not compared with the commit before: {error.message}",)
    if isinstance(base, NoBase):
        _require_no_change(base, job)
        return Compared(None, base.why, config, lost)
    judged_by, unread = judged_by_base(job.git, base.sha or "", config, start)
    introduces = unread == (BASE_HAS_NONE,)
    against = judged_by.baseline.against
    if against is None:
        return Compared(base, "", judged_by, unread, introduces)
    named = choose_base(job.git, against)
    if named.sha == job.git.head_sha():
        why = f"{against} is the head itself"
        return Compared(None, why, judged_by, (*unread, f"nothing is compared: {why}"))
    measured, unlike = measured_by_base(job.git, named.sha or "", judged_by, start)
    return Compared(named, "", measured, (*unread, *unlike))


def _base(plan: Plan, job: Job) -> Source | NoBase:
    repository = job.context.repository.full_name
    return find_base(
        plan.base,
        job.git,
        merge_base=lambda base, head: merge_base(job.client, repository, base, head),
        fetch=lambda sha: ensure_commit(job.git, sha, job.git_variables),
    )


def _require_no_change(base: NoBase, job: Job) -> None:
    """Refuse to call a change unchanged because something else is checked out."""
    event = job.context.event
    is_change = isinstance(event, MergeGroup) or (isinstance(event, PullRequest) and event.is_open)
    if is_change:
        head = job.git.head_sha()
        raise UsageError(
            f"the checked-out commit {head[:12]} holds no change to measure: {base.why}",
            hint="Remove `ref` from actions/checkout: it then checks out the commit of the event.",
        )
