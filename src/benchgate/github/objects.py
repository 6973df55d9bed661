"""The parts of GitHub's answers that benchgate uses, and the types of their values."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from benchgate.errors import GitHubError
from benchgate.json_object import misplaced
from benchgate.model.document import first_fault

_LONGEST = 1024
_SHOWN_CHARACTERS = 60
_OBJECT_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_IN_A_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|[/.]\Z|\.lock\Z|\A\Z")
_FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/(?!\.{1,2}\Z)[A-Za-z0-9._-]+")
_WORD = re.compile(r"[a-z_]+")


def text_that(is_right: Callable[[str], object], what: str) -> AfterValidator:
    """Refuse any other text, and say what it is not."""

    def check(value: str) -> str:
        if len(value) > _LONGEST or not is_right(value):
            raise misplaced(f"{value[:_SHOWN_CHARACTERS]!a} is not {what}")
        return value

    return AfterValidator(check)


def _is_ref(value: str) -> bool:
    return not _NOT_IN_A_REF.search(value)


Id: TypeAlias = Annotated[int, Field(ge=1, lt=2**63, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Sha: TypeAlias = Annotated[str, text_that(_OBJECT_HASH.fullmatch, "the hash of a commit")]
Ref: TypeAlias = Annotated[str, text_that(_is_ref, "the name of a branch or tag")]
FullName: TypeAlias = Annotated[
    str, text_that(_FULL_NAME.fullmatch, "the name of a repository, owner/name")
]
Word: TypeAlias = Annotated[str, text_that(_WORD.fullmatch, "a word of lowercase letters")]


class ForeignObject(BaseModel):
    """Base class: keys that benchgate does not use are ignored, and types are not converted."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


Time: TypeAlias = Annotated[datetime, Field(strict=False)]


class ApiObject(ForeignObject):
    """Base class of objects in GitHub's answers."""

    @classmethod
    def read(cls, value: dict[str, Any], where: str) -> Self:
        """Read the object from an answer.

        Args:
            where: the path of the request, for the message.

        Raises:
            GitHubError: the answer lacks something, or holds something else.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise GitHubError(
                f"the answer of {where} does not match GitHub's API: {first_fault(error)}",
                hint="A newer version of benchgate may be able to read it.",
            ) from None


class User(ApiObject):
    """A user or app: for example "github-actions[bot]", of type "Bot"."""

    login: str
    type: str


class Repository(ApiObject):
    """A repository.

    Attributes:
        id: stays the same if the repository is renamed.
    """

    id: Id


class ArtifactRun(ApiObject):
    """The run that left an artifact. GitHub guarantees none of these keys.

    Attributes:
        head_repository_id: the commit's repository; for a fork's pull request that is the fork.
    """

    id: Id | None = None
    repository_id: Id | None = None
    head_repository_id: Id | None = None
    head_branch: Ref | None = None
    head_sha: Sha | None = None


class Artifact(ApiObject):
    """An artifact.

    Attributes:
        expired: whether it is listed, but can no longer be downloaded.
        digest: of the archive, such as "sha256:..."; older artifacts have none.
    """

    id: Id
    name: str
    size_in_bytes: int
    expired: bool
    created_at: Time | None
    digest: str | None = None
    workflow_run: ArtifactRun | None = None


class WorkflowRun(ApiObject):
    """A run of a workflow.

    Attributes:
        path: of the workflow's file, followed by "@REF".
        created_at: when its first attempt was started.
        run_started_at: when its newest attempt was started.
        head_repository: None if it was deleted in the meantime.
        actor: who started its first attempt; None if GitHub does not say.
    """

    id: Id
    run_attempt: Id = 1
    event: str
    path: str
    created_at: Time | None = None
    run_started_at: Time | None = None
    head_branch: Ref | None
    head_sha: Sha
    repository: Repository
    head_repository: Repository | None
    actor: User | None = None
    html_url: str = ""


class Comment(ApiObject):
    """A comment; its author is None if the account was deleted."""

    id: Id
    html_url: str
    body: str = ""
    user: User | None


class PullRequestSide(ApiObject):
    """The head or the base of a pull request; the repository of a head may be deleted."""

    ref: Ref
    sha: Sha
    repo: Repository | None


class PullRequest(ApiObject):
    """A pull request; its state is "open" or "closed"."""

    number: Id
    state: str
    head: PullRequestSide
    base: PullRequestSide
    user: User | None = None


class Review(ApiObject):
    """A review of a pull request.

    Attributes:
        state: "APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED" or "PENDING".
        commit_id: the commit that was reviewed; None if it no longer exists.
        author_association: the reviewer's relation to the repository, such as "MEMBER" or "NONE".
    """

    user: User | None
    state: str
    commit_id: Sha | None
    author_association: str = ""

    @property
    def approves(self) -> bool:
        return self.state == "APPROVED"

    @property
    def decides(self) -> bool:
        """Whether it replaces the earlier decision of the same reviewer."""
        return self.state in {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}

    @property
    def is_of_the_house(self) -> bool:
        """Whether the reviewer belongs to the repository, as most people with write access do."""
        return self.author_association in {"OWNER", "MEMBER", "COLLABORATOR"}


class Label(ApiObject):
    """A label; GitHub treats names that differ only in upper and lower case as the same."""

    name: str


class IssueEvent(ApiObject):
    """An event in the history of a pull request, such as "labeled"."""

    event: str
    actor: User | None
    created_at: Time
    label: Label | None = None

    def is_of(self, label: str) -> bool:
        """Whether it is about the label with this name."""
        return self.label is not None and self.label.name.lower() == label.lower()


class Permission(ApiObject):
    """A person's permission in a repository: "admin", "write", "read" or "none"."""

    permission: str


class Commit(ApiObject):
    """A commit."""

    sha: Sha


class CommitComparison(ApiObject):
    """A comparison of two commits."""

    merge_base_commit: Commit
