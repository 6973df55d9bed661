"""The events that benchgate knows, and how they are read from the payloads that GitHub writes.

A branch of a fork may have any name that git allows, and anybody may have written the payload that
a local runner gets. What passes the checks is safe as an argument and as a part of a URL.
"""

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchgate.github.objects import ForeignObject, FullName, Id, Ref, Sha, Word


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


_BRANCH_PREFIX = "refs/heads/"
# Only GitHub can make such branches.
_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(\d{1,18})-[0-9a-f]+\Z")


class _Repository(ForeignObject):
    id: Id
    full_name: FullName

    def repository(self) -> EventRepository:
        return EventRepository(self.id, self.full_name)


class _OwnRepository(_Repository):
    default_branch: Ref


class Payload(ForeignObject):
    """The keys that every payload has."""

    repository: _OwnRepository

    @abstractmethod
    def event(self) -> Event:
        """The payload with the part that benchgate uses."""


class _Head(ForeignObject):
    sha: Sha
    repo: _Repository | None


class _Base(ForeignObject):
    sha: Sha
    ref: Ref


class _PullRequest(ForeignObject):
    number: Id
    state: Literal["open", "closed"]
    head: _Head
    base: _Base


class _PullRequestPayload(Payload):
    pull_request: _PullRequest

    def event(self) -> PullRequestEvent:
        pull = self.pull_request
        return PullRequestEvent(
            number=pull.number,
            is_open=pull.state == "open",
            head_sha=pull.head.sha,
            head_repository=pull.head.repo.repository() if pull.head.repo else None,
            base_sha=pull.base.sha,
            base_ref=pull.base.ref,
        )


class _PushPayload(Payload):
    ref: Ref
    before: Sha
    forced: bool
    deleted: bool

    def event(self) -> PushEvent:
        return PushEvent(self.ref, self.before, forced=self.forced, deleted=self.deleted)


class _MergeGroup(ForeignObject):
    base_ref: Ref
    head_ref: Ref


class _MergeGroupPayload(Payload):
    merge_group: _MergeGroup

    def event(self) -> MergeGroupEvent:
        group = self.merge_group
        queued = _QUEUED.match(group.head_ref)
        number = int(queued[1]) if queued else None
        return MergeGroupEvent(group.base_ref.removeprefix(_BRANCH_PREFIX), number)


class _WorkflowRun(ForeignObject):
    id: Id
    run_attempt: Id
    event: Word
    conclusion: Word | None
    head_sha: Sha
    head_branch: Ref | None
    head_repository: _Repository | None


class _WorkflowRunPayload(Payload):
    action: Word
    workflow_run: _WorkflowRun

    def event(self) -> WorkflowRunEvent:
        run = self.workflow_run
        return WorkflowRunEvent(
            id=run.id,
            attempt=run.run_attempt,
            event=run.event,
            is_completed=self.action == "completed",
            conclusion=run.conclusion,
            head_sha=run.head_sha,
            head_branch=run.head_branch,
            head_repository=run.head_repository.repository() if run.head_repository else None,
        )


class _SchedulePayload(Payload):
    def event(self) -> Schedule:
        return Schedule()


class _WorkflowDispatchPayload(Payload):
    def event(self) -> WorkflowDispatch:
        return WorkflowDispatch()


PAYLOADS: dict[str, type[Payload]] = {
    "pull_request": _PullRequestPayload,
    "push": _PushPayload,
    "merge_group": _MergeGroupPayload,
    "schedule": _SchedulePayload,
    "workflow_dispatch": _WorkflowDispatchPayload,
    "workflow_run": _WorkflowRunPayload,
}
"""The payload class of each event that benchgate knows, by the event's name."""
