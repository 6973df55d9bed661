"""The events that benchgate knows, with the part of each payload that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class EventRepository:
    """A repository: its id stays when it is renamed or transferred, and is never reused."""

    id: int
    full_name: str


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """`pull_request`: GITHUB_SHA is a merge commit that GitHub makes of base and head.

    Attributes:
        head_repository: the repository of the head; None if that fork was deleted.
        base_sha: the tip of the target branch when the event happened.
        base_ref: the target branch, e.g. "main".
    """

    number: int
    is_open: bool
    head_sha: str
    head_repository: EventRepository | None
    base_sha: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class PushEvent:
    """`push` of a branch or a tag.

    Attributes:
        ref: in full, such as "refs/tags/v1"; of a deleted ref too, when GITHUB_REF is the default
            branch.
        before: the previous commit of the ref; all zeros if the ref is new.
        forced: whether the push removed commits.
    """

    ref: str
    before: str
    forced: bool
    deleted: bool

    @property
    def is_new(self) -> bool:
        """Whether the branch or tag is new."""
        return not self.before.strip("0")


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """`merge_group`: pull requests as they would be merged, after those ahead in the queue.

    It has no `base_sha`, because that is the previous entry of the queue, which may never be
    merged.

    Attributes:
        base_ref: the target branch, such as "main".
        pull_request: number of the pull request that was added last; None if the name of the
            queue's branch does not hold it.
    """

    base_ref: str
    pull_request: int | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRunEvent:
    """`workflow_run`: a run of another workflow; this job has the default branch's permissions.

    Attributes:
        attempt: from 1; a re-run keeps the id.
        event: what triggered that run, e.g. "pull_request".
        is_completed: whether that run has ended.
        conclusion: such as "success"; None until the run has one.
        head_branch: name without the repository; None if the run was not on a branch or tag.
        head_repository: the repository of the head; None if that fork was deleted.
    """

    id: int
    attempt: int
    event: str
    is_completed: bool
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: EventRepository | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """`schedule`: always runs on the default branch."""


@dataclass(frozen=True, slots=True)
class WorkflowDispatch:
    """`workflow_dispatch`: somebody started it, on any branch or tag."""


Event: TypeAlias = (
    PullRequestEvent | PushEvent | MergeGroupEvent | WorkflowRunEvent | Schedule | WorkflowDispatch
)
