"""The events that benchgate knows, with the part of each payload that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class EventRepository:
    """A repository: the id stays when it is renamed or transferred, and no other ever gets it."""

    id: int
    full_name: str


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """`pull_request`: GITHUB_SHA is a merge commit that GitHub makes of base and head.

    Attributes:
        head_repository: where the head comes from; None when that fork was deleted.
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
        ref: in full, e.g. "refs/tags/v1"; of a deleted one, where GITHUB_REF is the default branch.
        before: where it was until then; all zeros when it is new.
        forced: whether commits were taken away from it.
    """

    ref: str
    before: str
    forced: bool
    deleted: bool

    @property
    def is_new(self) -> bool:
        """Whether there was no such branch or tag before."""
        return not self.before.strip("0")


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """`merge_group`: pull requests as they would be merged, behind those ahead in the queue.

    Its `base_sha` is not here: it is the previous entry of the queue, which may never be merged.

    Attributes:
        base_ref: the branch that they go to, e.g. "main".
        pull_request: number of the one that was added last; None if the queue's branch does
            not tell it.
    """

    base_ref: str
    pull_request: int | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRunEvent:
    """`workflow_run`: another workflow's run; this one has the default branch and its rights.

    Attributes:
        attempt: from 1; a re-run keeps the id.
        event: what triggered that run, e.g. "pull_request".
        is_completed: whether it has ended.
        conclusion: e.g. "success"; None until it has one.
        head_branch: without the repository; None when it ran on no branch or tag.
        head_repository: where the head comes from; None when that fork was deleted.
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
    """`schedule`: always of the default branch."""


@dataclass(frozen=True, slots=True)
class WorkflowDispatch:
    """`workflow_dispatch`: somebody started it, on any branch or tag."""


Event: TypeAlias = (
    PullRequestEvent | PushEvent | MergeGroupEvent | WorkflowRunEvent | Schedule | WorkflowDispatch
)
