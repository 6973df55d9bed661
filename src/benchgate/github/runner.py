"""What GitHub's runner tells a job: its event and its context.

A branch of a fork may have any name that git allows, and anybody may have written the payload that
a local runner gets. What passes the checks is safe as an argument and as a part of a URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, AliasPath, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from benchgate.errors import UsageError
from benchgate.github.objects import Flag, ForeignObject, FullName, Id, Ref, Sha, Word, text_that
from benchgate.json_object import misplaced
from benchgate.model.document import first_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_BRANCH_PREFIX = "refs/heads/"
# Only GitHub can make such branches.
_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(\d{1,18})-[0-9a-f]+\Z")


def _at(*path: str) -> Any:  # noqa: ANN401 - as pydantic types its fields
    """Read a field from there in the payload."""
    return Field(validation_alias=AliasPath(*path))


def _is_open(state: object) -> bool:
    if state not in ("open", "closed"):
        raise misplaced("is neither open nor closed")
    return state == "open"


def _is_completed(action: object) -> bool:
    if not isinstance(action, str):
        raise misplaced("is not text")
    return action == "completed"


def _number_of(queue: str) -> int | None:
    queued = _QUEUED.match(queue)
    return int(queued[1]) if queued else None


@dataclass(frozen=True, slots=True)
class EventRepository:
    """A repository: its id stays when it is renamed or transferred, and is never reused."""

    id: Id
    full_name: FullName


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """`pull_request`: GITHUB_SHA is a merge commit that GitHub makes of base and head.

    Attributes:
        head_repository: the repository of the head; None if that fork was deleted.
        base_sha: the tip of the target branch when the event happened.
    """

    number: Annotated[Id, _at("pull_request", "number")]
    is_open: Annotated[bool, BeforeValidator(_is_open), _at("pull_request", "state")]
    head_sha: Annotated[Sha, _at("pull_request", "head", "sha")]
    head_repository: Annotated[EventRepository | None, _at("pull_request", "head", "repo")]
    base_sha: Annotated[Sha, _at("pull_request", "base", "sha")]
    base_ref: Annotated[Ref, _at("pull_request", "base", "ref")]


@dataclass(frozen=True, slots=True)
class PushEvent:
    """`push` of a branch or a tag.

    Attributes:
        ref: in full, such as "refs/tags/v1"; of a deleted ref too, when GITHUB_REF is the default
            branch.
        before: the previous commit of the ref; all zeros if the ref is new.
        forced: whether the push removed commits.
    """

    ref: Ref
    before: Sha
    forced: Flag
    deleted: Flag

    @property
    def is_new(self) -> bool:
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

    base_ref: Annotated[
        Ref,
        AfterValidator(lambda ref: ref.removeprefix(_BRANCH_PREFIX)),
        _at("merge_group", "base_ref"),
    ]
    pull_request: Annotated[
        int | None,
        BeforeValidator(lambda ref: _number_of(str(ref))),
        _at("merge_group", "head_ref"),
    ] = None


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

    id: Annotated[Id, _at("workflow_run", "id")]
    attempt: Annotated[Id, _at("workflow_run", "run_attempt")]
    event: Annotated[Word, _at("workflow_run", "event")]
    is_completed: Annotated[bool, BeforeValidator(_is_completed), _at("action")]
    conclusion: Annotated[Word | None, _at("workflow_run", "conclusion")]
    head_sha: Annotated[Sha, _at("workflow_run", "head_sha")]
    head_branch: Annotated[Ref | None, _at("workflow_run", "head_branch")]
    head_repository: Annotated[EventRepository | None, _at("workflow_run", "head_repository")]


@dataclass(frozen=True, slots=True)
class Schedule:
    """`schedule`: always runs on the default branch."""


@dataclass(frozen=True, slots=True)
class WorkflowDispatch:
    """`workflow_dispatch`: somebody started it, on any branch or tag."""


Event: TypeAlias = (
    PullRequestEvent | PushEvent | MergeGroupEvent | WorkflowRunEvent | Schedule | WorkflowDispatch
)

EVENTS: Final[Mapping[str, type[Event]]] = {
    "pull_request": PullRequestEvent,
    "push": PushEvent,
    "merge_group": MergeGroupEvent,
    "schedule": Schedule,
    "workflow_dispatch": WorkflowDispatch,
    "workflow_run": WorkflowRunEvent,
}
"""The events that benchgate knows, by their names."""


class _OwnRepository(ForeignObject):
    id: Id
    full_name: FullName
    default_branch: Ref


class _Payload(ForeignObject):
    """What every payload has."""

    repository: _OwnRepository


_DIGITS = re.compile(r"[0-9]{1,20}")
_URL = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(?:/[A-Za-z0-9._~/-]*)?")


def _whole(value: object) -> object:
    """Convert a text to a number if it is one; other text stays, and is refused later."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value


Number: TypeAlias = Annotated[Id, BeforeValidator(_whole)]
Url: TypeAlias = Annotated[
    str,
    text_that(_URL.fullmatch, "the address of a server"),
    AfterValidator(lambda url: url.rstrip("/")),
]


class Variables(ForeignObject):
    """The variables that are used; empty ones were removed before, as if not set."""

    event_name: str = Field(alias="GITHUB_EVENT_NAME")
    event_path: str = Field(alias="GITHUB_EVENT_PATH")
    repository: FullName = Field(alias="GITHUB_REPOSITORY")
    # Local runners, and servers before 3.8, do not set it.
    repository_id: Number | None = Field(alias="GITHUB_REPOSITORY_ID", default=None)
    sha: Sha = Field(alias="GITHUB_SHA")
    ref: Ref = Field(alias="GITHUB_REF")
    run_id: Number = Field(alias="GITHUB_RUN_ID")
    run_attempt: Number = Field(alias="GITHUB_RUN_ATTEMPT")
    workflow: str = Field(alias="GITHUB_WORKFLOW")
    job: str = Field(alias="GITHUB_JOB")
    actor: str = Field(alias="GITHUB_ACTOR")
    api_url: Url = Field(alias="GITHUB_API_URL")
    server_url: Url = Field(alias="GITHUB_SERVER_URL")
    runner_os: str = Field(alias="RUNNER_OS")


MAX_EVENT_CHARACTERS: Final = 32 << 20
"""GitHub sends no payload of more than 25 MB."""

_WRITTEN_BY_GITHUB = (
    "GitHub writes this file when the job starts, and no step may change it. "
    "A local runner needs the whole payload of the event."
)


@dataclass(frozen=True, slots=True)
class Context:
    """A job of GitHub Actions.

    Attributes:
        event_name: GitHub's name of the event, such as "pull_request".
        sha: the commit that GitHub runs the workflow for; another one may be checked out.
        ref: its full branch, tag or merge ref.
        run_id: id of the run; a re-run keeps it.
        run_attempt: from 1.
        workflow: name of the workflow, or the path of its file.
        job: id of the job in the workflow; the jobs of a matrix share one id.
        actor: who started the run first, even if somebody else re-runs it.
        api_url, server_url: without a slash at the end; a GitHub Enterprise Server has its own.
        runner_os: "Linux", "macOS" or "Windows".
    """

    event: Event
    repository: EventRepository
    default_branch: str
    event_name: str
    sha: str
    ref: str
    run_id: int
    run_attempt: int
    workflow: str
    job: str
    actor: str
    api_url: str
    server_url: str
    runner_os: str

    @property
    def repository_url(self) -> str:
        return f"{self.server_url}/{self.repository.full_name}"

    def run_url(self, run_id: int, attempt: int) -> str:
        """The address of an attempt of a run in this repository."""
        return f"{self.repository_url}/actions/runs/{run_id}/attempts/{attempt}"


def read_context(environ: Mapping[str, str], read_text: Callable[[Path], str]) -> Context:
    """Describe the job that this process is part of.

    Args:
        read_text: reads a file; it may raise OSError or UnicodeDecodeError.
    """
    variables = _variables(environ)
    event, own = _payload(variables, read_text)
    known = variables.model_dump(exclude={"event_path", "repository", "repository_id"})
    return Context(event, _repository(variables, own.id), own.default_branch, **known)


def _variables(environ: Mapping[str, str]) -> Variables:
    try:
        return Variables.model_validate({name: text for name, text in environ.items() if text})
    except ValidationError as error:
        missing = [str(fault["loc"][0]) for fault in error.errors() if fault["type"] == "missing"]
        if not missing:
            raise UsageError(
                f"the environment: {first_fault(error)}",
                hint="GitHub sets these variables itself; no step or workflow may change them.",
            ) from None
        are = "is" if len(missing) == 1 else "are"
        raise UsageError(
            f"{', '.join(missing)} {are} not set: this is not a job of GitHub Actions",
            hint="Elsewhere, use `benchgate check`. In a job, a container that a step starts gets "
            "these variables only if the step passes them on.",
        ) from None


def _payload(
    variables: Variables, read_text: Callable[[Path], str]
) -> tuple[Event, _OwnRepository]:
    """What the payload says of the event, and of this repository."""
    kind = _kind(variables.event_name)
    name = variables.event_path
    try:
        text = read_text(Path(name))
    except OSError as error:
        raise _damaged(name, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise _damaged(name, f"is not UTF-8 at byte {error.start}") from None
    if len(text) > MAX_EVENT_CHARACTERS:
        raise _damaged(name, f"is larger than the limit of {MAX_EVENT_CHARACTERS} characters")
    try:
        document = from_json(text)
    except ValueError as error:
        raise _damaged(name, f"is not valid JSON: {error}") from None
    try:
        repository = _Payload.model_validate(document).repository
        event: Event = TypeAdapter(kind).validate_python(document)
    except ValidationError as error:
        raise _damaged(name, first_fault(error)) from None
    return event, repository


def _kind(event_name: str) -> type[Event]:
    if event_name == "pull_request_target":
        raise UsageError(
            "benchgate does not run on pull_request_target: it would run the pull request's code "
            "with a token that may write to the repository, and with its secrets",
            hint="Trigger the workflow by pull_request instead. A second workflow comments on pull "
            "requests from forks; `benchgate init` writes both.",
        )
    if event_name not in EVENTS:
        raise UsageError(
            f"benchgate has nothing to compare on the event {event_name!a}",
            hint=f"Trigger the workflow by one of {', '.join(EVENTS)}.",
        )
    return EVENTS[event_name]


def _repository(variables: Variables, id_: int) -> EventRepository:
    """The payload's repository with its current name: a re-run's payload may hold an old name."""
    if variables.repository_id not in {None, id_}:
        raise _damaged(
            variables.event_path,
            f"repository.id: {id_} is not GITHUB_REPOSITORY_ID, {variables.repository_id}",
        )
    return EventRepository(id_, variables.repository)


def _damaged(name: str, what: str) -> UsageError:
    return UsageError(f"{name}: {what}", hint=_WRITTEN_BY_GITHUB)
