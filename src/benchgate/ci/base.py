"""Finds the base commit of a job, and whose rules judge the change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchgate.baselines.base_config import judged_by_base, measured_by_base
from benchgate.baselines.git import choose_base
from benchgate.baselines.without_benchmarks import has_no_benchmarks, with_benchmarks_of_head
from benchgate.errors import BaselineError, GitHubError, UsageError
from benchgate.git.branches import ensure_commit
from benchgate.github.artifacts import ArtifactKind
from benchgate.github.events import MergeGroupEvent, PullRequestEvent
from benchgate.github.plan import Head
from benchgate.github.queries import merge_base
from benchgate.model.result import by_reason
from benchgate.model.run import BenchmarkFiles, Source
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.ci.job import Job
    from benchgate.config import Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.git.repository import Git
    from benchgate.github.plan import Base, EventPlan
    from benchgate.model.result import Result


@dataclass(frozen=True, slots=True)
class NoBase:
    """There is nothing to compare with, and why."""

    why: str


def checked_out(git: Git) -> Head:
    """What the workflow checked out."""
    sha = git.head_sha()
    return Head(sha, git.parents(sha))


def find_base(
    base: Base,
    git: Git,
    *,
    merge_base: Callable[[str, str], str],
    fetch: Callable[[str], None],
) -> Source | NoBase:
    """Find the base commit of an event; fetch it if the checkout does not have it.

    Args:
        merge_base: asks GitHub for the merge base of a commit or branch and a commit, if the
            checkout does not hold enough of the history.

    Raises:
        BaselineError: what was found is not a commit, or cannot be fetched here.
        GitHubError: GitHub has to be asked for it, and does not answer.
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
    fetch(sha)
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

    Raises:
        BaselineError: the base cannot be found or fetched.
        GitHubError: GitHub has to be asked for it, and does not answer.
        UsageError: the checked-out commit does not contain the event's change.
    """
    lost: tuple[str, ...] = ()
    try:
        base = _base(plan, job)
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


def _base(plan: EventPlan, job: Job) -> Source | NoBase:
    repository = job.context.repository.full_name
    return find_base(
        plan.base,
        job.git,
        merge_base=lambda base, head: merge_base(job.client, repository, base, head),
        fetch=partial(ensure_commit, job.git),
    )


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
