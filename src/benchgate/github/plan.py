"""Plans what to do on an event: which base, how to keep the result, and who comments.

Each of these three decisions is a table, read from the top; the first row that fits applies. Every
row gives its reason in words, for `-v` and for the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from benchgate.github.artifact_names import ArtifactKind
from benchgate.github.runner import (
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    Schedule,
    WorkflowDispatch,
    WorkflowRunEvent,
)

if TYPE_CHECKING:
    from benchgate.github.runner import Context

DEPENDABOT: Final = "dependabot[bot]"
MERGE_COMMIT: Final = "first parent of the merge commit"
"""How `why` begins if GitHub's merge of a pull request is measured."""
_SHORT = 12


class CommentTime(StrEnum):
    """Whether this job writes a comment on a pull request."""

    NOW = "now"
    IF_ALLOWED = "if its token may"
    LATER = "later, by `benchgate publish`"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Head:
    """The checked-out commit.

    Attributes:
        parents: as the commit names them, even if the checkout does not have them.
    """

    sha: str
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that the head is compared with, or how to find it.

    Attributes:
        sha: the commit, if it is known already; it may have to be fetched.
        merge_base_with: otherwise, the commit or branch whose merge base with the head is the base.
            If that is the head itself, nothing was changed.
        why: the reason, as shown in the result and the comment.
    """

    why: str
    sha: str | None = None
    merge_base_with: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactPlan:
    """How to keep a complete measurement; None if there is nothing to measure."""

    kind: ArtifactKind | None
    why: str


@dataclass(frozen=True, slots=True)
class CommentPlan:
    """Whether this job or another one comments, and why."""

    when: CommentTime
    why: str


@dataclass(frozen=True, slots=True)
class EventPlan:
    """What to do on an event.

    Attributes:
        is_change: whether it measures only what a change can reach, not a branch of which the
            history is kept.
    """

    base: Base
    keeping: ArtifactPlan
    comment: CommentPlan
    is_change: bool = False

    def words(self) -> tuple[str, ...]:
        """One line per decision, with its reason."""
        kept = self.keeping.kind or "nothing"
        return (
            f"base: {self.base.why}",
            f"kept as {kept}: {self.keeping.why}",
            f"comment {self.comment.when}: {self.comment.why}",
        )


def plan_for(context: Context, head: Head) -> EventPlan:
    """Make the plan of a job.

    Args:
        head: the commit that the workflow checked out, which no event tells.
    """
    is_change = isinstance(context.event, PullRequestEvent) or not _is_default(context)
    return EventPlan(
        _base(context, head), _keeping(context, head), _comment(context), is_change=is_change
    )


def _base(context: Context, head: Head) -> Base:  # noqa: PLR0911 - one row each
    main = context.default_branch
    match context.event:
        case WorkflowRunEvent():
            return Base("this run only publishes what another run measured")
        case PullRequestEvent(is_open=False):
            return Base("the pull request is closed; the push that merges it is measured")
        case PushEvent(deleted=True):
            return Base("the branch or tag was deleted")
        case PullRequestEvent() as pull:
            return _base_of_pull_request(pull, head)
        case MergeGroupEvent(base_ref=target):
            why = f"merge base with {target}: the whole group, including entries ahead in the queue"
            return Base(why, merge_base_with=target)
        case _ if head.sha != context.sha:
            why = (
                f"merge base with {main}: {head.sha[:_SHORT]} is checked out, "
                f"not {context.sha[:_SHORT]}, the commit of the event"
            )
            return Base(why, merge_base_with=main)
        case PushEvent() as push:
            return _base_of_push(push, context)
        case Schedule() | WorkflowDispatch() if _is_default(context):
            return Base(f"this is {main} itself, not a change to it")
        case Schedule() | WorkflowDispatch():
            return Base(f"merge base with {main}", merge_base_with=main)


def _base_of_pull_request(pull: PullRequestEvent, head: Head) -> Base:
    target = pull.base_ref
    # If the head is itself a merge, it must not be confused with the merge commit that GitHub made.
    if head.sha == pull.head_sha:
        why = f"merge base with {target}: the head is checked out, not the merge commit"
        return Base(why, merge_base_with=pull.base_sha)
    if head.parents[1:] == (pull.head_sha,):
        why = f"{MERGE_COMMIT}: {target} before the pull request is merged"
        return Base(why, sha=head.parents[0])
    why = (
        f"merge base with {target}: {head.sha[:_SHORT]} is checked out, which is neither "
        "the pull request's head nor its merge commit"
    )
    return Base(why, merge_base_with=pull.base_sha)


def _base_of_push(push: PushEvent, context: Context) -> Base:
    main = context.default_branch
    if push.ref.startswith("refs/tags/"):
        return Base("a tag names a commit and changes nothing")
    if push.is_new and _is_default(context):
        return Base(f"this is the first push of {main}, which had no commit before")
    if push.is_new:
        why = f"merge base with {main}: the branch is new, so it had no commit before the push"
        return Base(why, merge_base_with=main)
    if push.forced and _is_default(context):
        why = f"merge base with the previous {main}, which was force-pushed"
        return Base(why, merge_base_with=push.before)
    if push.forced:
        why = (
            f"merge base with {main}: the force-pushed branch no longer has the commit before the "
            "push"
        )
        return Base(why, merge_base_with=main)
    return Base("the commit before the push", sha=push.before)


def _keeping(context: Context, head: Head) -> ArtifactPlan:  # noqa: PLR0911 - one row each
    main = context.default_branch
    match context.event:
        case WorkflowRunEvent():
            return ArtifactPlan(
                None, "the measurements of another run never become a baseline here"
            )
        case PullRequestEvent(is_open=False) | PushEvent(deleted=True):
            return ArtifactPlan(None, "there is nothing left to measure")
        case PullRequestEvent():
            return ArtifactPlan(
                ArtifactKind.RESULT, "a pull request is not part of the default branch"
            )
        case MergeGroupEvent():
            return ArtifactPlan(
                ArtifactKind.RESULT, "the group is not merged yet, and may never be"
            )
        case _ if not _is_default(context):
            return ArtifactPlan(
                ArtifactKind.RESULT, f"{context.ref} is not the default branch, {main}"
            )
        case _ if head.sha != context.sha:
            why = "the checked-out commit is not the commit of the run"
            return ArtifactPlan(ArtifactKind.RESULT, why)
        case _:
            return ArtifactPlan(ArtifactKind.BASELINE, f"later changes are compared with {main}")


def _comment(context: Context) -> CommentPlan:  # noqa: PLR0911 - one row each
    match context.event:
        case PullRequestEvent(is_open=False):
            return CommentPlan(CommentTime.NEVER, "the pull request is closed")
        case PullRequestEvent() as pull if _is_fork(pull, context):
            why = "the pull request is from a fork, whose token is read-only"
            return CommentPlan(CommentTime.LATER, why)
        case PullRequestEvent() if context.actor == DEPENDABOT:
            why = (
                "Dependabot's token is read-only unless the workflow's `permissions` say otherwise"
            )
            return CommentPlan(CommentTime.IF_ALLOWED, why)
        case PullRequestEvent():
            return CommentPlan(CommentTime.NOW, "the pull request is from this repository")
        case WorkflowRunEvent(event="pull_request", is_completed=True):
            why = "on the open pull request whose head the run measured"
            return CommentPlan(CommentTime.NOW, why)
        case WorkflowRunEvent(event="pull_request"):
            return CommentPlan(CommentTime.NEVER, "the run has not ended")
        case WorkflowRunEvent(event=event):
            return CommentPlan(
                CommentTime.NEVER, f"the run was triggered by {event}, not by a pull request"
            )
        case _:
            return CommentPlan(
                CommentTime.NEVER, f"{context.event_name} belongs to no pull request"
            )


def _is_default(context: Context) -> bool:
    return context.ref == f"refs/heads/{context.default_branch}"


def _is_fork(pull: PullRequestEvent, context: Context) -> bool:
    """Whether the head's repository is another one, or deleted; compared by id, not by name."""
    return pull.head_repository is None or pull.head_repository.id != context.repository.id
