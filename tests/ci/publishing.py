"""A pull request on GitHub, what its run left, and the job that comments on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from tests.ci.steps import Stage
from tests.contract.conftest import github
from tests.contract.records import START, Artifact, Comparison, Pull, Review, User
from tests.contract.records import Run as KnownRun
from tests.contract.scene import FORK, HELLO, TOKEN
from tests.jobs import RUN, job_of, known_pull, known_run
from tests.results import STARTED, arm, as_archive, measured

from benchgate.ci.publish import PullRequestSuite, publish
from benchgate.config import load
from benchgate.git.repository import Git
from benchgate.github.artifact_names import ArtifactKind, artifact_name
from benchgate.github.runner import EventRepository, WorkflowRunEvent
from benchgate.model.result import Result
from benchgate.model.run import Series, Source
from benchgate.session.choice import EVERYTHING, Choice

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.contract.records import Repository as Known
    from tests.contract.records import Token
    from tests.contract.server import GitHubServer
    from tests.world import World

    from benchgate.session.effects import Effects

__all__ = ["github"]

NOTHING: Mapping[str, str] = {}
NUMBER = 9
ENVIRONMENT = "linux-x86_64"
GATE = '[gate]\nstatistics = ["p25"]\n'
LAX = f'{GATE}margin = "300%"\n'
WAIVED = """
[[waive]]
benchmark = "a"
ceiling = "150%"
until = 2026-01-02
reason = "known"
"""
EVENT = WorkflowRunEvent(
    id=RUN,
    attempt=2,
    event="pull_request",
    is_completed=True,
    conclusion="success",
    head_sha="0" * 40,
    head_branch="topic",
    head_repository=EventRepository(FORK.id, FORK.full_name),
)


def slower(**more: Any) -> Result:  # noqa: ANN401 - any field of the result
    """Benchmark `a` takes twice as long, `b` as long as before."""
    return measured({"a": 1e-3, "b": 1e-3}, {"a": 2e-3, "b": 1e-3}, **more)


def _at_run(started: str, at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if started == STARTED else started


@dataclass(frozen=True, slots=True)
class Repositories:
    """What is pushed to, and the checkout of its default branch in a job."""

    origin: Git
    checkout: Git
    base: str
    head: str


@dataclass(slots=True)
class OnGitHub:
    """A pull request on GitHub, and the job that comments on it.

    Attributes:
        event: the run that measured, as GitHub tells of it.
    """

    server: GitHubServer
    git: Repositories
    event: WorkflowRunEvent
    stage: Stage
    effects: Effects

    def leaves(self, data: bytes | Result, suite: str = "default", **more: Any) -> None:  # noqa: ANN401 - any field
        """Have the run leave an artifact."""
        kept = {
            "id": self.server.state.new_id(),
            "run_id": RUN,
            "name": artifact_name(ArtifactKind.RESULT, suite=suite, environment=ENVIRONMENT),
            "data": data if isinstance(data, bytes) else as_archive(self.of_this_run(data, more)),
            **more,
        }
        self.server.state.put(Artifact(**kept))

    def of_this_run(self, result: Result, kept: Mapping[str, Any]) -> Result:
        """Say what an honest run says of itself, where the result does not say otherwise."""
        at = kept.get("created_at", START)
        base = result.base
        if base is not None:
            source = Source(self.git.base) if base.source == Source() else base.source
            base = replace(base, source=source, started=_at_run(base.started, at))
        head = replace(result.head, started=_at_run(result.head.started, at))
        parts = tuple(self.of_this_run(part, kept) for part in result.shards)
        return replace(result, head=head, base=base, shards=parts)

    def main_leaves(
        self,
        *ids: str,
        sha: str = "d" * 40,
        of: str = "",
        leg: tuple[str, str] = ("default", ENVIRONMENT),
        extra: tuple[Series, ...] = (),
        **more: Any,  # noqa: ANN401 - any field
    ) -> None:
        """Have a run of the default branch leave what it measured: a time, and extra series."""
        run = self.server.state.new_id()
        self.server.state.put(known_run(sha, id=run))
        of_main = arm(dict.fromkeys(ids, 1e-3), source=Source(of or sha))
        each = (replace(one, series=(*one.series, *extra)) for one in of_main.benchmarks)
        of_main = replace(of_main, benchmarks=tuple(each))
        kept = {
            "id": self.server.state.new_id(),
            "run_id": run,
            "name": artifact_name(ArtifactKind.BASELINE, suite=leg[0], environment=leg[1]),
            "data": as_archive(Result(of_main)),
            **more,
        }
        self.server.state.put(Artifact(**kept))

    def knows_base(self, sha: str, branch: str = "main", *, merge_base: str | None = None) -> None:
        """Have GitHub know that a branch goes on from a commit, as the pull request does."""
        base = merge_base or sha
        for one, other in ((sha, branch), (sha, self.git.head), (branch, self.git.head)):
            self.server.state.put(
                Comparison(repository=HELLO.full_name, base=one, head=other, merge_base=base)
            )

    def publish(
        self,
        *,
        token: Token = TOKEN,
        choice: Choice = EVERYTHING,
        suite: str = "",
        **event: Any,  # noqa: ANN401 - any field of the event
    ) -> int:
        run = replace(self.event, **event)
        job = job_of(self.server, self.git.checkout, run, token=token, sha=self.git.base)
        root = self.git.checkout.root
        step = self.stage.step()
        config = load(root, root)
        theirs = PullRequestSuite(choice, suite)
        return publish(run, config, self.effects, job, step, theirs=theirs)

    def starts_again(self, attempt: int, *, after: timedelta) -> None:
        """Have the run have another attempt."""
        run = self.server.state.need(KnownRun, RUN)
        self.server.state.put(replace(run, attempt=attempt, started_at=START + after))

    def pull(self, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Change what GitHub knows of the pull request."""
        known = self.server.state.need(Pull, HELLO.key, NUMBER)
        self.server.state.put(replace(known, **changes))

    @property
    def comments(self) -> list[str]:
        return [one.body for one in self.server.state.comments(HELLO, NUMBER)]

    def verdict_of(self, result: bytes | Result) -> str:
        """The only comment that the result comes to."""
        self.leaves(result)
        assert self.publish() == 0
        (comment,) = self.comments
        return comment

    def approved(self) -> None:
        """Have somebody approve the head."""
        review = Review(
            id=99,
            repository=HELLO.full_name,
            number=NUMBER,
            commit_id=self.git.head,
            author=User("maintainer"),
        )
        self.server.state.put(review)

    def assert_nothing_said(self) -> None:
        """No comment, and nothing was even tried to be written."""
        assert self.comments == []
        assert {asked.method for asked in self.server.requests} <= {"GET"}
        assert self.stage.outputs == []


Make: TypeAlias = Callable[..., OnGitHub]


def pushed(
    origin: Git, root: Path, texts: tuple[str | None, str | None], *added: Mapping[str, str]
) -> Repositories:
    """Commit the files of base and head, and clone the base."""
    origin.run("-c", "init.defaultBranch=main", "init", "--quiet")
    origin.run("config", "uploadpack.allowAnySHA1InWant", "true")
    shas = []
    for name, text, more in zip(("main", "topic"), texts, added, strict=True):
        (origin.root / "benchgate.toml").unlink(missing_ok=True)
        files = {} if text is None else {"benchgate.toml": text}
        for path, content in ({"README": name} | files | dict(more)).items():
            (origin.root / path).parent.mkdir(exist_ok=True)
            (origin.root / path).write_text(content)
        origin.run("add", "--all")
        origin.run("commit", "--quiet", "--message", "work")
        shas.append(origin.head_sha())
    # As GitHub keeps the heads of pull requests: no branch leads there.
    origin.run("reset", "--quiet", "--hard", shas[0])
    url = f"file://{origin.root}"
    origin.run("clone", "--quiet", "--depth=1", "--branch=main", url, str(root))
    return Repositories(origin, Git(root), *shas)


@pytest.fixture(scope="module")
def known() -> dict[object, Repositories]:
    """Repositories by what is in them: publishing changes nothing in them."""
    return {}


@pytest.fixture
def make(  # noqa: PLR0917 - fixtures
    git_environment: None,  # noqa: ARG001 - asked for its effect
    github: GitHubServer,
    known: dict[object, Repositories],
    world: World,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Make:
    def of(
        base: str | None = GATE,
        head: str | None = GATE,
        *,
        repository: Known = FORK,
        files: Mapping[str, str] = NOTHING,
        head_files: Mapping[str, str] = NOTHING,
    ) -> OnGitHub:
        about = base, head, *files.items(), None, *head_files.items()
        if about not in known:
            origin, root = Git(tmp_path_factory.mktemp("origin")), tmp_path_factory.mktemp("clone")
            known[about] = pushed(origin, root, (base, head), files, {**files, **head_files})
        found = known[about]
        same: dict[str, Any] = {"head_repository": repository.full_name}
        github.state.put(known_run(found.head, event="pull_request", head_branch="topic", **same))
        github.state.put(known_pull(found.head, found.base, **same))
        head_repository = EventRepository(repository.id, repository.full_name)
        event = replace(EVENT, head_sha=found.head, head_repository=head_repository)
        effects = replace(world.effects, cwd=found.checkout.root)
        on_github = OnGitHub(github, found, event, Stage(tmp_path), effects)
        on_github.knows_base(found.base)
        on_github.main_leaves("a", "b", "old", "broken")
        return on_github

    return of


@dataclass(frozen=True)
class Says:
    """What a run leaves, where, and what the comment says of it.

    Attributes:
        first: a pattern that the first line has.
        on: arguments of `make`.
        main: benchmarks of which main's run of the base left a time, and `extra`.
    """

    first: str
    result: Result
    said: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    on: Mapping[str, Any] = field(default_factory=dict)
    main: tuple[str, ...] = ()
    extra: tuple[Series, ...] = ()
    is_approved: bool = False
    now: str = "2026-01-02T03:04:05Z"

    def check(self, make: Make) -> None:
        on = make(**self.on)
        on.effects = replace(on.effects, now=lambda: self.now)
        if self.main:
            later = START + timedelta(hours=1)
            on.main_leaves(*self.main, sha=on.git.base, extra=self.extra, created_at=later)
        if self.is_approved:
            on.approved()
        comment = on.verdict_of(self.result)
        assert re.search(self.first, comment.splitlines()[0])
        assert [text for text in self.said if text not in comment] == []
        assert [text for text in self.unsaid if text in comment] == []
