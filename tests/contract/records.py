"""What a GitHub of a few repositories holds, as frozen records that tests write down.

Records name each other (a run its repository, an artifact its run) as GitHub's identifiers do.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

Level = Literal["read", "write"]
START = datetime(2026, 1, 5, 12, tzinfo=UTC)
ARTIFACTS_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class User:
    login: str
    type: Literal["User", "Bot", "Organization"] = "User"

    @property
    def id(self) -> int:
        return zlib.crc32(self.login.encode())


GITHUB_ACTIONS = User("github-actions[bot]", "Bot")
OCTOCAT = User("octocat")


@dataclass(frozen=True, slots=True)
class Token:
    """A secret, who acts with it, and what it may do.

    Args:
        permissions: named as in a workflow; `write` includes `read`.
        author: a bot for an app's token such as GITHUB_TOKEN, else the user of a personal one.
    """

    secret: str = field(repr=False)
    permissions: Mapping[str, Level]
    author: User = GITHUB_ACTIONS

    @property
    def key(self) -> Hashable:
        return self.secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    id: int
    full_name: str
    default_branch: str = "main"
    private: bool = False
    fork_of: str | None = None

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    @property
    def key(self) -> Hashable:
        return self.full_name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A workflow run.

    Args:
        head_repository: None where the fork has been deleted.
        pulls: numbers; GitHub leaves pull requests from forks out.
        started_at: of the attempt; None for when the run was created.
    """

    id: int
    repository: str
    head_repository: str | None
    event: str
    head_branch: str | None
    head_sha: str
    status: str = "completed"
    conclusion: str | None = "success"
    attempt: int = 1
    name: str = "benchmarks"
    path: str = ".github/workflows/benchmarks.yml"
    workflow_id: int = 161335
    pulls: tuple[int, ...] = ()
    actor: str = "octocat"
    created_at: datetime = START
    started_at: datetime | None = None

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    id: int
    run_id: int
    name: str
    data: bytes = field(repr=False)
    created_at: datetime = START
    expires_at: datetime = START + ARTIFACTS_KEPT

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """A pull request.

    Args:
        head_repository: None where the fork has been deleted.
    """

    number: int
    repository: str
    head_repository: str | None
    head_branch: str
    head_sha: str
    base_branch: str = "main"
    base_sha: str
    state: Literal["open", "closed"] = "open"
    title: str = "Amazing new feature"
    author: str = "octocat"
    draft: bool = False
    created_at: datetime = START

    @property
    def key(self) -> Hashable:
        return self.repository.lower(), self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    id: int
    repository: str
    number: int
    body: str
    author: User = OCTOCAT
    created_at: datetime = START
    updated_at: datetime = START

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    id: int
    repository: str
    number: int
    commit_id: str | None
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"] = "APPROVED"
    author: User | None = OCTOCAT
    author_association: Literal["OWNER", "MEMBER", "COLLABORATOR", "NONE"] = "NONE"

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueEvent:
    """Something that happened to a pull request; these two kinds have a label."""

    id: int
    repository: str
    number: int
    label: str
    event: Literal["labeled", "unlabeled"] = "labeled"
    actor: User | None = OCTOCAT
    created_at: datetime = START

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborator:
    """What somebody may do in a repository; everybody else may read."""

    repository: str
    login: str
    permission: Literal["admin", "write", "read", "none"]

    @property
    def key(self) -> Hashable:
        return self.repository.lower(), self.login.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """A check run; `output` is what was last written."""

    id: int
    repository: str
    name: str
    head_sha: str
    status: str = "queued"
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Hashable:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    repository: str
    sha: str
    parents: tuple[str, ...] = ()
    message: str = "work"
    newest_of: str = ""

    @property
    def key(self) -> Hashable:
        return self.repository.lower(), self.sha


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What git says of two commits or branches, `base` and `head` as they are asked for."""

    repository: str
    base: str
    head: str
    merge_base: str
    ahead_by: int = 1
    behind_by: int = 0

    @property
    def key(self) -> Hashable:
        return self.repository.lower(), self.base, self.head


Record = (
    Token
    | Repository
    | Run
    | Artifact
    | Pull
    | Comment
    | Review
    | IssueEvent
    | Collaborator
    | CheckRun
    | Commit
    | Comparison
)
