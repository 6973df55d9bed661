"""Reads payloads of events as GitHub writes them, and checks the parts that benchgate uses.

A branch of a fork may have any name that git allows, and anybody may have written the payload that
a local runner gets. What passes these checks is safe as an argument and as a part of a URL.
"""

import re
from abc import abstractmethod
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from benchgate.github.events import (
    Event,
    EventRepository,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    Schedule,
    WorkflowDispatch,
    WorkflowRunEvent,
)
from benchgate.json_object import misplaced

_BRANCH_PREFIX = "refs/heads/"
_LONGEST = 1024
_SHOWN_CHARACTERS = 60
_OBJECT_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_IN_A_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|[/.]\Z|\.lock\Z|\A\Z")
_FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/(?!\.{1,2}\Z)[A-Za-z0-9._-]+")
# Only GitHub can make such branches.
_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(\d{1,18})-[0-9a-f]+\Z")
_WORD = re.compile(r"[a-z_]+")


def _shown(value: str) -> str:
    return ascii(value[:_SHOWN_CHARACTERS])


def _sha(value: str) -> str:
    if not _OBJECT_HASH.fullmatch(value):
        raise misplaced(f"{_shown(value)} is not the hash of a commit")
    return value


def _ref(value: str) -> str:
    if len(value) > _LONGEST or _NOT_IN_A_REF.search(value):
        raise misplaced(f"{_shown(value)} is not the name of a branch or tag")
    return value


def _full_name(value: str) -> str:
    if len(value) > _LONGEST or not _FULL_NAME.fullmatch(value):
        raise misplaced(f"{_shown(value)} is not the name of a repository, owner/name")
    return value


def _word(value: str) -> str:
    if len(value) > _LONGEST or not _WORD.fullmatch(value):
        raise misplaced(f"{_shown(value)} is not one of GitHub's words")
    return value


Id: TypeAlias = Annotated[int, Field(ge=1, lt=2**63)]
Sha: TypeAlias = Annotated[str, AfterValidator(_sha)]
Ref: TypeAlias = Annotated[str, AfterValidator(_ref)]
FullName: TypeAlias = Annotated[str, AfterValidator(_full_name)]
Word: TypeAlias = Annotated[str, AfterValidator(_word)]


class ForeignObject(BaseModel):
    """Base class: keys that benchgate does not use are ignored, and types are not converted."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


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
