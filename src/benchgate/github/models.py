"""The part of GitHub's answers that benchgate uses; other keys are ignored."""

from datetime import datetime
from typing import Annotated, Any, Self, TypeAlias

from pydantic import Field, ValidationError

from benchgate.errors import GitHubError
from benchgate.github.payloads import ForeignObject, Id, Ref, Sha
from benchgate.model.fault import first_fault

Time: TypeAlias = Annotated[datetime, Field(strict=False)]


class ApiObject(ForeignObject):
    """An object of an answer."""

    @classmethod
    def read(cls, value: dict[str, Any], where: str) -> Self:
        """The object that an answer holds.

        Args:
            where: the path that gave it, for the message.

        Raises:
            GitHubError: it lacks something, or holds something else.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise GitHubError(
                f"the answer of {where} does not match GitHub's API: {first_fault(error)}",
                hint="A newer version of benchgate may be able to read it.",
            ) from None


class User(ApiObject):
    """Who did something: "github-actions[bot]", of the type "Bot"."""

    login: str
    type: str


class Repository(ApiObject):
    """A repository.

    Attributes:
        id: stays when it is renamed.
    """

    id: Id


class ArtifactRun(ApiObject):
    """The run that left an artifact. GitHub promises none of it.

    Attributes:
        head_repository_id: where the commit came from, a fork's in its pull requests.
    """

    id: Id | None = None
    repository_id: Id | None = None
    head_repository_id: Id | None = None
    head_branch: Ref | None = None
    head_sha: Sha | None = None


class Artifact(ApiObject):
    """An artifact.

    Attributes:
        size_in_bytes: of its archive.
        expired: it is listed, but can no more be downloaded.
        digest: e.g. "sha256:..." of the archive; older ones have none.
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
        event: that started it, e.g. "push".
        path: of the workflow's file, with "@REF" behind it.
        created_at: when its first attempt was started.
        run_started_at: when its newest attempt was.
        head_repository: None if it was deleted since.
        actor: who started its first attempt; None if GitHub does not tell.
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
        commit_id: what was reviewed; None if that commit is gone.
        author_association: what the reviewer is to the repository, e.g. "MEMBER" or "NONE".
    """

    user: User | None
    state: str
    commit_id: Sha | None
    author_association: str = ""

    @property
    def approves(self) -> bool:
        """Whether it lets the commit be merged."""
        return self.state == "APPROVED"

    @property
    def decides(self) -> bool:
        """Whether it takes the place of what the same person decided before."""
        return self.state in {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}

    @property
    def is_of_the_house(self) -> bool:
        """Whether the reviewer belongs to the repository: most who may write to it do."""
        return self.author_association in {"OWNER", "MEMBER", "COLLABORATOR"}


class Label(ApiObject):
    """A label; GitHub knows no two whose names differ in upper and lower case alone."""

    name: str


class IssueEvent(ApiObject):
    """Something that happened to a pull request, such as "labeled"."""

    event: str
    actor: User | None
    created_at: Time
    label: Label | None = None

    def is_of(self, label: str) -> bool:
        """Whether it is about a label of this name."""
        return self.label is not None and self.label.name.lower() == label.lower()


class Permission(ApiObject):
    """What somebody may do in a repository: "admin", "write", "read" or "none"."""

    permission: str


class Commit(ApiObject):
    """A commit."""

    sha: Sha


class CommitComparison(ApiObject):
    """Two commits compared."""

    merge_base_commit: Commit
