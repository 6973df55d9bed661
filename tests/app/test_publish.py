from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pytest
from tests.app.github_client import client_of
from tests.app.results import MEMBER, arm, as_archive, as_file, bench, measured
from tests.app.steps import SECRET, Stage
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import START, Artifact, Pull, Run
from tests.contract.scene import FORK, FORKS_TOKEN, HELLO, TOKEN, zip_of
from tests.report.page import Page, assert_harmless

from benchgate.app.job import Job
from benchgate.app.publish import MOST_PULL_REQUESTS, MOST_RESULTS, publish
from benchgate.config import load
from benchgate.errors import GitHubError
from benchgate.git.repository import Git
from benchgate.github.artifact_names import ArtifactKind, artifact_name
from benchgate.github.comments import mark, marker_in
from benchgate.github.context import Context
from benchgate.github.events import Repository, WorkflowRun
from benchgate.model.codec_types import LARGEST
from benchgate.model.environment import Environment
from benchgate.model.result import Shard, Source, Status
from benchgate.model.screening import Document, Options, Policy, Screening, StoredRun
from benchgate.model.shards import join
from benchgate.report.comment import COMMENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.app.conftest import World
    from tests.contract.records import Repository as Known
    from tests.contract.records import Token
    from tests.contract.server import GitHubServer

    from benchgate.app.effects import Effects
    from benchgate.model.result import Result

__all__ = ["github"]

NUMBER, RUN = 9, 30433700
REFS = "refs/heads/main\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main\n"
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
EVENT = WorkflowRun(
    id=RUN,
    attempt=2,
    event="pull_request",
    is_completed=True,
    conclusion="success",
    head_sha="0" * 40,
    head_branch="topic",
    head_repository=Repository(FORK.id, FORK.full_name),
)


def slower(**more: Any) -> Result:  # noqa: ANN401 - any field of the result
    """Benchmark `a` takes twice as long, `b` as long as before."""
    return measured({"a": 1e-3, "b": 1e-3}, {"a": 2e-3, "b": 1e-3}, **more)


Texts: TypeAlias = tuple[str | None, str | None]


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
    event: WorkflowRun
    stage: Stage
    effects: Effects

    def leaves(self, data: bytes | Result, suite: str = "default", **more: Any) -> None:  # noqa: ANN401 - any field
        """Have the run leave an artefact."""
        kept = {
            "id": self.server.state.new_id(),
            "run_id": RUN,
            "name": artifact_name(ArtifactKind.RESULT, suite=suite, environment=ENVIRONMENT),
            "data": data if isinstance(data, bytes) else as_archive(data),
            **more,
        }
        self.server.state.put(Artifact(**kept))

    def publish(self, *, token: Token = TOKEN, **event: Any) -> int:  # noqa: ANN401 - any field of the event
        run = replace(self.event, **event)
        context = Context(
            event=run,
            event_name="workflow_run",
            repository=Repository(HELLO.id, HELLO.full_name),
            default_branch="main",
            sha=self.git.base,
            ref="refs/heads/main",
            run_id=RUN + 1,
            run_attempt=1,
            workflow="benchgate comment",
            job="comment",
            actor="octocat",
            api_url=self.server.api_url,
            server_url="https://github.com",
            runner_os="Linux",
        )
        job = Job(
            context,
            client_of(self.server, token),
            self.git.checkout,
            {},
            Environment(machine="x86_64"),
        )
        root = self.git.checkout.root
        return publish(run, load(root, root), self.effects, job, self.stage.step())

    def starts_again(self, attempt: int, *, after: timedelta) -> None:
        """Have the run have another attempt."""
        run = self.server.state.need(Run, RUN)
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

    def assert_nothing_said(self) -> None:
        """No comment, and nothing was even tried to be written."""
        assert self.comments == []
        assert {asked.method for asked in self.server.requests} <= {"GET"}
        assert self.stage.outputs == []


@pytest.fixture(scope="module")
def known() -> dict[Texts, Repositories]:
    """Repositories by the configurations of base and head: publishing changes nothing in them."""
    return {}


class Make(Protocol):
    def __call__(
        self, base: str | None = GATE, head: str | None = GATE, *, repository: Known = FORK
    ) -> OnGitHub: ...


@pytest.fixture
def repositories(
    git_environment: None,  # noqa: ARG001 - asked for its effect
    commit: Callable[[Git, Mapping[str, str]], str],
    known: dict[Texts, Repositories],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Texts], Repositories]:
    def make(texts: Texts) -> Repositories:
        origin = Git(tmp_path_factory.mktemp("origin"))
        origin.run("-c", "init.defaultBranch=main", "init", "--quiet")
        origin.run("config", "uploadpack.allowAnySHA1InWant", "true")
        shas = []
        for name, text in zip(("main", "topic"), texts, strict=True):
            (origin.root / "benchgate.toml").unlink(missing_ok=True)
            files = {} if text is None else {"benchgate.toml": text}
            shas.append(commit(origin, {"README": name, **files}))
        # As GitHub keeps the heads of pull requests: no branch leads there.
        origin.run("reset", "--quiet", "--hard", shas[0])
        root = tmp_path_factory.mktemp("checkout")
        url = f"file://{origin.root}"
        origin.run("clone", "--quiet", "--depth=1", "--branch=main", url, str(root))
        return Repositories(origin, Git(root), *shas)

    def find(texts: Texts) -> Repositories:
        if texts not in known:
            known[texts] = make(texts)
        return known[texts]

    return find


@pytest.fixture
def make(
    github: GitHubServer,
    repositories: Callable[[Texts], Repositories],
    world: World,
    tmp_path: Path,
) -> Make:
    def of(
        base: str | None = GATE, head: str | None = GATE, *, repository: Known = FORK
    ) -> OnGitHub:
        found = repositories((base, head))
        same: dict[str, Any] = {
            "repository": HELLO.full_name,
            "head_repository": repository.full_name,
            "head_branch": "topic",
            "head_sha": found.head,
        }
        github.state.put(Run(id=RUN, event="pull_request", **same))
        github.state.put(Pull(number=NUMBER, base_sha=found.base, **same))
        head_repository = Repository(repository.id, repository.full_name)
        event = replace(EVENT, head_sha=found.head, head_repository=head_repository)
        effects = replace(world.effects, cwd=found.checkout.root)
        return OnGitHub(github, found, event, Stage(tmp_path), effects)

    return of


def test_a_verdict_is_made_and_said_in_every_way(make: Make) -> None:
    fork = make()
    comment = fork.verdict_of(slower())
    first = "### \N{CROSS MARK} fail: 1 of 2 benchmarks is slower: a by 100.0 %"
    assert comment.startswith(first)
    assert "read what it changes before you believe its numbers" in comment
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert fork.stage.summary.startswith(first)
    (posted,) = fork.server.state.comments(HELLO, NUMBER)
    verdict, (url_name, url) = fork.stage.outputs
    assert (url_name, url.rpartition("-")[2]) == ("comment-url", str(posted.id))
    assert verdict == ("verdict", "fail")
    assert fork.stage.lines == ["created a comment"]


def test_nothing_of_the_pull_request_is_checked_out_or_kept(make: Make) -> None:
    fork = make(head=LAX)
    artifacts = len(fork.server.state.all(Artifact))
    fork.verdict_of(slower())
    checkout = fork.git.checkout
    assert checkout.head_sha() == fork.git.base
    assert checkout.run("status", "--porcelain") == ""
    assert checkout.run("for-each-ref", "--format=%(refname)") == REFS
    assert len(fork.server.state.all(Artifact)) == artifacts + 1
    writes = [f"{x.method} {x.path}" for x in fork.server.requests if x.method != "GET"]
    assert writes == [f"POST /repos/octo-org/hello/issues/{NUMBER}/comments"]


def test_the_comment_is_kept_up_to_date(make: Make) -> None:
    fork = make()
    fork.verdict_of(slower())
    fork.leaves(measured({"a": 1e-3}), created_at=START + timedelta(hours=3))
    fork.server.state.remove(fork.server.state.all(Artifact)[-2])
    assert fork.publish(attempt=3) == 0
    (comment,) = fork.comments
    assert "pass: nothing got slower" in comment.splitlines()[0]


def test_the_bases_configuration_decides_and_what_the_head_loosens_is_told(make: Make) -> None:
    comment = make(base=GATE, head=LAX).verdict_of(slower())
    assert "fail" in comment.splitlines()[0]
    assert "gate.margin" in comment
    assert "300 %" in comment


def test_what_the_base_allows_is_allowed(make: Make) -> None:
    comment = make(base=LAX, head=GATE).verdict_of(slower())
    assert "pass" in comment.splitlines()[0]


def test_a_base_without_configuration_is_judged_by_that_of_the_default_branch(make: Make) -> None:
    fork = make(base=LAX, head=LAX)
    # Of a branch from before there was a configuration.
    tree = fork.git.origin.run("mktree").strip()
    fork.pull(base_sha=fork.git.origin.run("commit-tree", "-m", "old", tree).strip())
    assert "pass" in fork.verdict_of(slower()).splitlines()[0]


def test_a_head_without_configuration_loosens_nothing(make: Make) -> None:
    comment = make(base=GATE, head=None).verdict_of(slower())
    assert "fail" in comment.splitlines()[0]
    assert "gate.margin" not in comment


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gate]\nmargni = 3\n", "margni"),
        ("[gate", "is not valid TOML"),
        ("#" * 100_001, "has more than 100000 bytes"),
        (
            "[[rule]]\nbenchmark = '*'\nmargin = '3%'\n" * 301,
            "and 300 is the most that is read",
        ),
    ],
)
def test_a_configuration_that_is_not_valid_gives_no_verdict(
    make: Make, text: str, message: str
) -> None:
    comment = make(head=text).verdict_of(slower())
    assert comment.startswith("### \N{WARNING SIGN}\N{VARIATION SELECTOR-16} no verdict: ")
    assert message in comment


def test_a_renamed_benchmark_is_joined_as_the_head_says(make: Make) -> None:
    comment = make(head=f'{GATE}[aliases]\nold = "new"\n').verdict_of(
        measured({"old": 1e-3}, {"new": 2e-3})
    )
    assert "fail: 1 of 1 benchmark is slower" in comment.splitlines()[0]


def claims() -> dict[str, Result]:
    """What a run may say of itself so as to pass."""
    document = Document("benchgate.toml", LAX + WAIVED.replace("150%", "900%"))
    fast = {"a": 1e-3, "b": 1e-3}
    stored = StoredRun("main", "the base", arm(fast))
    plain = slower()
    assert plain.base is not None
    return {
        "a policy": replace(
            plain,
            policy=Policy(document, document, Options(margin="900%", rule="classical", alpha=1e-9)),
        ),
        "a base that measured nothing, held against stored runs": replace(
            plain, screening=Screening(arm(fast), (stored,) * 12)
        ),
        "stored runs without a head": replace(plain, screening=Screening(None, (stored,) * 12)),
        "another commit": replace(
            plain,
            head=replace(plain.head, source=Source("c" * 40, "refs/heads/main", why="trust me")),
            base=replace(plain.base, source=Source("--upload-pack=x", "main", why="trust me")),
        ),
        "another day": replace(plain, head=replace(plain.head, started="2024-01-01T00:00:00Z")),
    }


@pytest.mark.parametrize("claim", claims())
def test_what_the_run_says_of_itself_is_not_believed(make: Make, claim: str) -> None:
    fork = make(head=LAX + WAIVED.replace("2026-01-02", "2999-01-01"))
    comment = fork.verdict_of(claims()[claim])
    assert "fail: 1 of 2 benchmarks is slower" in comment.splitlines()[0]
    assert "trust me" not in comment
    assert "stored" not in comment
    assert fork.git.head[:7] in comment
    assert "other open pull requests" not in comment
    assert "as the pull request's run says" in comment
    assert "ccccccc" not in comment


def test_a_shard_of_one_is_held_to_the_whole_suite(make: Make) -> None:
    gate = f"{GATE}min_compared = 3\n"
    fork = make(base=gate, head=gate)
    result = replace(measured({"a": 1e-3, "b": 1e-3}), shard=Shard(1, 1, ("a", "b")))
    assert "no verdict" in fork.verdict_of(result).splitlines()[0]


@pytest.mark.parametrize(
    ("now", "started", "is_waived"),
    [
        ("2026-01-02T23:59:59Z", "2999-01-01T00:00:00Z", True),
        ("2026-01-03T00:00:00Z", "2025-01-01T00:00:00Z", False),
    ],
)
def test_waivers_are_those_of_today(make: Make, now: str, started: str, *, is_waived: bool) -> None:
    fork = make(base=GATE + WAIVED, head=GATE + WAIVED)
    fork.effects = replace(fork.effects, now=lambda: now)
    plain = slower()
    comment = fork.verdict_of(replace(plain, head=replace(plain.head, started=started)))
    assert ("pass" if is_waived else "fail") in comment.splitlines()[0]
    assert ("waived" in comment) is is_waived
    assert ("expired" in comment) is not is_waived


@pytest.mark.parametrize("head_s", [1e-3, 2e-3])
def test_an_interrupted_measurement_is_no_pass(make: Make, head_s: float) -> None:
    plain = measured({"a": 1e-3}, {"a": head_s})
    comment = make().verdict_of(replace(plain, head=replace(plain.head, complete=False)))
    first = comment.splitlines()[0]
    assert ("no verdict: " if head_s == 1e-3 else "fail: ") in first
    assert "the measurement was interrupted before its end" in first


def test_joined_parts_are_a_whole(make: Make) -> None:
    dealt = ("a", "b")
    parts = [
        replace(measured({"a": 1e-3}, {"a": 2e-3}), shard=Shard(1, 2, dealt)),
        replace(measured({"b": 1e-3}), shard=Shard(2, 2, dealt)),
    ]
    comment = make().verdict_of(join([(f"part {i}", one) for i, one in enumerate(parts)]))
    assert "fail: 1 of 2 benchmarks is slower" in comment.splitlines()[0]


def not_a_number() -> bytes:
    document = json.loads(gzip.decompress(as_file(measured({"a": 1e-3}))))
    document["benchmarks"][0]["metrics"][0]["launches"][0]["samples"][0] = float("nan")
    return json.dumps(document).encode()


def torn(data: bytes) -> bytes:
    return data[: len(data) // 2]


UNUSABLE: dict[str, tuple[bytes, str]] = {
    "one arm": (as_archive(replace(slower(), base=None)), "measured the head alone"),
    "a part of a suite": (
        as_archive(replace(measured({"a": 1e-3}), shard=Shard(1, 2, ("a", "b")))),
        "a part of a suite",
    ),
    "no zip": (b"no zip", "its zip archive is damaged or cut off"),
    "half a zip": (torn(as_archive(slower())), "its zip archive is damaged or cut off"),
    "an empty zip": (zip_of({}), "it must hold one file"),
    "another file": (zip_of({"verdict.json": b"{}"}), "it must hold one file"),
    "a way out": (zip_of({f"../{MEMBER}": b"{}"}), "it must hold one file"),
    "two files": (zip_of({MEMBER: as_file(slower()), "x": b""}), "and nothing else"),
    "a bomb": (zip_of({MEMBER: bytes(10**7)}), "it unpacks to more than"),
    "half a gzip": (zip_of({MEMBER: torn(as_file(slower()))}), "the gzip data is cut off"),
    "no result": (zip_of({MEMBER: b"[]"}), "benchgate-result.default"),
    "no number": (zip_of({"result.json": not_a_number()}), "NaN"),
    "noise": (zip_of({MEMBER: os.urandom(64)}), "benchgate-result.default"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_cannot_be_judged_gives_no_verdict(make: Make, what: str) -> None:
    data, words = UNUSABLE[what]
    fork = make()
    comment = fork.verdict_of(data)
    assert comment.startswith("### \N{WARNING SIGN}\N{VARIATION SELECTOR-16} no verdict: ")
    assert words in comment
    assert fork.git.head[:7] in comment
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert [name for name, _ in fork.stage.outputs] == ["comment-url"]
    assert words in fork.stage.summary


HOSTILE = "<!-- x --> | @octocat #1 GH-7 [click](https://evil.example) ``` </details> <img src=x>"
MARKER = str(mark(f"default.{ENVIRONMENT}", head="a" * 40, run=99999999999, attempt=1))
SWALLOWING = (
    "`` x` password='",
    "a -----BEGIN PRIVATE KEY-----",
    "' @octocat [click](https://evil.example) <img src=x>",
)


def hostile(*names: str) -> Result:
    """Texts of a stranger in every place that has some."""
    ids = (*names, HOSTILE, MARKER, f"x\n\n{MARKER}\n", "\u202eevil\x1b[2J", "n" * 9000)
    base, head = arm({}), arm({})
    told: dict[str, Any] = {"notes": (HOSTILE, MARKER), "location": f"{HOSTILE}:1"}
    failed: dict[str, Any] = {
        "status": Status.FAILED,
        "error": f"{HOSTILE}\n{MARKER}\n```\n{HOSTILE}\n{MARKER}",
    }
    return replace(
        measured({}),
        base=replace(base, benchmarks=tuple(bench(i, 1e-3, **told) for i in ids)),
        head=replace(
            head,
            benchmarks=(
                *(bench(i, 2e-3, **told) for i in ids),
                bench("broken", 1e-3, rounds=0, **told, **failed),
            ),
            environment=replace(head.environment, os=HOSTILE, cpu_model=MARKER),
            source=Source("a" * 40, HOSTILE),
        ),
        warnings=(HOSTILE, MARKER, f"x\n{MARKER}"),
        tool=HOSTILE,
    )


@pytest.mark.parametrize("value_s", [5e-324, LARGEST / 2])
def test_numbers_beyond_all_measure_are_judged_like_others(make: Make, value_s: float) -> None:
    plain = measured({"a": value_s, "b": value_s}, {"a": 1e-3, "b": value_s})
    far: dict[str, Any] = {"screen_rounds": 2**53, "until_decided": True, "seed": -(2**63)}
    assert plain.base is not None
    result = replace(plain, head=replace(plain.head, **far), base=replace(plain.base, **far))
    comment = make().verdict_of(replace(result, duration_s=1e300))
    assert comment.startswith("### \N{WHITE HEAVY CHECK MARK} pass: ")
    assert len(comment.encode()) < COMMENT_BYTES


@pytest.mark.parametrize("names", [(), SWALLOWING])
def test_what_strangers_write_does_nothing(make: Make, names: tuple[str, ...]) -> None:
    head = f'{GATE}margin = "3%"\n[[waive]]\nbenchmark = {json.dumps(HOSTILE)}\nceiling = "9%"\n'
    fork = make(head=f"{head}until = 2999-01-01\nreason = {json.dumps(MARKER)}\n")
    comment = fork.verdict_of(hostile(*names))
    body, _, last = comment.rstrip().rpartition("\n")
    assert marker_in(comment) == mark(
        f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN, attempt=2
    )
    assert comment.count("<!--") == 1
    assert last.startswith("<!--")
    page = Page(body)
    assert_harmless(page)
    assert {len(set(table)) for table in page.tables} == {1}
    assert_harmless(Page(fork.stage.summary))
    # Nothing hides that all but one of them are slower.
    slower_rows = body.partition("<details>")[0].count("**regressed**")
    assert slower_rows == 5 + len(names)
    assert fork.stage.lines == ["created a comment"]


def test_secrets_of_the_job_are_taken_out(make: Make) -> None:
    fork, name = make(), f"a {SECRET}"
    comment = fork.verdict_of(measured({name: 1e-3}, {name: 2e-3}, warnings=(f"see {SECRET}",)))
    for text in (comment, fork.stage.summary):
        assert Page(text.rpartition("<!--")[0] or text).prose.count("[removed]") > 1
        assert "hunter2" not in text


def test_each_suite_has_a_comment_of_its_own_up_to_a_limit(make: Make) -> None:
    fork = make()
    for number in range(MOST_RESULTS + 2):
        fork.leaves(slower(), f"suite-{number}", created_at=START + timedelta(hours=number))
    fork.leaves(b"", name="dist")
    fork.leaves(
        slower(),
        name=artifact_name(ArtifactKind.BASELINE, suite="default", environment=ENVIRONMENT),
    )
    shard = artifact_name(
        ArtifactKind.RESULT, suite="default", environment=ENVIRONMENT, shard=(1, 2)
    )
    fork.leaves(slower(), name=shard)
    assert fork.publish() == 0
    suites = [found.suite for one in fork.comments if (found := marker_in(one))]
    newest_first = [f"suite%2D{n}.linux%2Dx86_64" for n in reversed(range(2, MOST_RESULTS + 2))]
    assert suites == newest_first
    assert [name for name, _ in fork.stage.outputs] == ["verdict", "comment-url"] * MOST_RESULTS
    assert len(fork.server.asked("GET /repos/*/artifacts/*/zip")) == MOST_RESULTS


def test_each_kind_of_machine_has_a_comment_of_its_own_and_names_it(make: Make) -> None:
    fork = make()
    fork.leaves(slower(), created_at=START + timedelta(hours=2))
    for suite in ("default", "fast"):
        name = artifact_name(ArtifactKind.RESULT, suite=suite, environment="macos-arm64")
        fork.leaves(measured({"a": 1e-3}), name=name, created_at=START + timedelta(hours=1))
    broken = artifact_name(ArtifactKind.RESULT, suite="default", environment="linux-aarch64")
    fork.leaves(b"no zip", name=broken)
    assert fork.publish() == 0
    heads = [one.splitlines()[0].removeprefix("### ") for one in fork.comments]
    assert [re.sub(r"^\S+ |(pass|fail|no verdict): .+", r"\1", one) for one in heads] == [
        "fail",
        "fast, macos-arm64: pass",
        "macos-arm64: pass",
        "linux-aarch64: no verdict",
    ]


def test_one_suite_that_cannot_be_judged_hides_no_other(make: Make) -> None:
    fork = make()
    fork.leaves(b"no zip", "one")
    fork.leaves(slower(), "two")
    assert fork.publish() == 0
    lines = sorted(one.splitlines()[0] for one in fork.comments)
    assert [("two: fail" in x, "one: no verdict" in x) for x in lines] == [
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize(
    ("conclusion", "is_told"),
    [
        ("failure", True),
        ("timed_out", True),
        ("startup_failure", True),
        ("cancelled", False),
        ("success", False),
        ("skipped", False),
        (None, False),
    ],
)
def test_a_run_that_broke_is_told_and_one_that_was_cancelled_is_not(
    make: Make, conclusion: str | None, *, is_told: bool
) -> None:
    fork = make()
    assert fork.publish(conclusion=conclusion) == 0
    assert fork.stage.lines[0] == f"run {RUN} left no result"
    if is_told:
        (comment,) = fork.comments
        assert comment.splitlines()[0].endswith("no verdict: the run left no result")
    else:
        fork.assert_nothing_said()


def test_a_run_that_broke_updates_what_is_said_of_earlier_commits(make: Make) -> None:
    fork = make()
    post = client_of(fork.server, TOKEN).post
    of_old, of_this = "a" * 40, fork.git.head
    for suite, head in (("one", of_old), ("two", of_old), ("three", of_this)):
        marker = mark(suite, head=head, run=RUN - 5, attempt=1)
        post(f"/repos/{HELLO.full_name}/issues/{NUMBER}/comments", {"body": f"old\n\n{marker}"})
    assert fork.publish(conclusion="failure") == 0
    told = [(one.splitlines()[0], marker_in(one)) for one in fork.comments]
    new = "### \N{WARNING SIGN}\N{VARIATION SELECTOR-16} no verdict: the run left no result"
    assert told == [
        (new, mark("one", head=of_this, run=RUN, attempt=2)),
        (new, mark("two", head=of_this, run=RUN, attempt=2)),
        ("old", mark("three", head=of_this, run=RUN - 5, attempt=1)),
    ]


def test_a_run_that_broke_and_cannot_be_told_fails_the_job(make: Make) -> None:
    fork = make()
    fork.server.faults.always("GET /repos/*/comments", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        fork.publish(conclusion="failure")
    assert fork.stage.lines[-1].startswith("::warning::no comment: GET /repos/")


@pytest.mark.parametrize("conclusion", ["success", "failure"])
def test_a_result_that_has_expired_is_none(make: Make, conclusion: str) -> None:
    fork = make()
    fork.leaves(slower(), expires_at=START)
    assert fork.publish(conclusion=conclusion) == 0
    assert len(fork.comments) == (conclusion == "failure")
    assert fork.server.asked("GET /repos/*/artifacts/*/zip") == []


def test_what_an_earlier_attempt_left_is_not_of_this_one(make: Make) -> None:
    fork = make()
    fork.leaves(slower(), "one")
    fork.leaves(slower(), "two")
    assert fork.publish() == 0
    fork.starts_again(3, after=timedelta(hours=2))
    fork.leaves(measured({"a": 1e-3}), "three", created_at=START + timedelta(hours=2))
    assert fork.publish(attempt=3) == 0
    found = [(marker_in(one), "pass" in one.splitlines()[0]) for one in fork.comments]
    told = [(one.suite.partition(".")[0], one.attempt, passed) for one, passed in found if one]
    assert sorted(told) == [("one", 2, False), ("three", 3, True), ("two", 2, False)]


def test_an_attempt_that_another_followed_is_told_all_the_same(make: Make) -> None:
    # Of a re-run of the failed jobs alone, the newer attempt leaves no result of the others.
    fork = make()
    fork.leaves(slower())
    fork.starts_again(3, after=timedelta(hours=2))
    assert fork.publish(attempt=2, conclusion="failure") == 0
    (comment,) = fork.comments
    assert "fail: 1 of 2" in comment.splitlines()[0]
    assert (found := marker_in(comment)) is not None
    assert found.attempt == 2


def test_an_attempt_that_left_nothing_is_not_told_by_the_one_before(make: Make) -> None:
    fork = make()
    fork.leaves(measured({"a": 1e-3}))
    fork.starts_again(3, after=timedelta(seconds=1))
    assert fork.publish(attempt=3, conclusion="failure") == 0
    (comment,) = fork.comments
    assert comment.splitlines()[0].endswith("no verdict: the run left no result")


@pytest.mark.parametrize(
    "changes",
    [
        {"head_sha": "1" * 40},
        {"head_repository": None},
        {"state": "closed"},
        {"head_branch": "other"},
        {"head_repository": HELLO.full_name},  # a branch of the same name, of somebody else
    ],
)
def test_a_pull_request_that_is_another_by_now_is_left_alone(
    make: Make, changes: dict[str, Any]
) -> None:
    fork = make()
    fork.leaves(slower())
    fork.pull(**changes)
    assert fork.publish() == 0
    fork.assert_nothing_said()
    (line,) = fork.stage.lines
    assert line.startswith("nothing to comment on: no open pull request has ")


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"head_repository": None}, "no open pull request has"),
        ({"head_branch": None}, "no open pull request has"),
        ({"event": "push"}, "the run was of push, not of a pull request"),
        ({"is_completed": False}, "the run has not ended"),
    ],
)
def test_runs_that_are_about_no_pull_request_are_left_alone(
    make: Make, event: dict[str, Any], why: str
) -> None:
    fork = make()
    fork.leaves(slower())
    assert fork.publish(**event) == 0
    fork.assert_nothing_said()
    assert f"nothing to comment on: {why}" in fork.stage.lines[0]


def test_a_pull_request_of_the_repository_itself_is_judged_alike(make: Make) -> None:
    # Dependabot's, whose own job may not comment.
    own = make(repository=HELLO)
    comment = own.verdict_of(slower())
    assert "fail: 1 of 2 benchmarks is slower" in comment.splitlines()[0]


def test_every_pull_request_of_a_head_is_judged_by_its_own_base(make: Make) -> None:
    fork = make(base=GATE, head=GATE)
    lax = make(base=LAX, head=GATE)
    first = lax.server.state.need(Pull, HELLO.key, NUMBER)
    # Of one object store, as on GitHub.
    lax.git.origin.run("fetch", "--quiet", str(fork.git.origin.root), fork.git.base)
    lax.server.state.put(replace(first, number=3, base_branch="stable", base_sha=fork.git.base))
    lax.leaves(slower())
    assert lax.publish() == 0
    (of_lax,) = lax.comments
    (of_strict,) = (one.body for one in lax.server.state.comments(HELLO, 3))
    assert "pass" in of_lax.splitlines()[0]
    assert "fail" in of_strict.splitlines()[0]
    for comment in (of_lax, of_strict):
        assert "other open pull requests have the same head" in comment
    assert len(lax.server.asked("GET /repos/*/artifacts/*/zip")) == 1


def test_no_more_than_some_pull_requests_of_a_head_are_commented_on(make: Make) -> None:
    fork = make()
    for number in range(50, 50 + MOST_PULL_REQUESTS):
        fork.pull(number=number)
    fork.leaves(slower())
    assert fork.publish() == 0
    posts = [one for one in fork.server.requests if one.method == "POST"]
    assert len(posts) == MOST_PULL_REQUESTS
    warning = f"{MOST_PULL_REQUESTS + 1} open pull requests have {fork.git.head[:7]} as head"
    assert fork.stage.lines[0].startswith(f"::warning::{warning}: ")


def test_a_verdict_on_a_newer_head_is_not_overwritten(make: Make) -> None:
    fork = make()
    newer = mark(f"default.{ENVIRONMENT}", head=fork.git.head, run=RUN + 5, attempt=1)
    client_of(fork.server, TOKEN).post(
        f"/repos/{HELLO.full_name}/issues/{NUMBER}/comments", {"body": f"newer\n\n{newer}\n"}
    )
    assert fork.verdict_of(slower()).startswith("newer")
    assert fork.stage.lines[0].startswith("left the comment as it is: ")


def test_commits_that_cannot_be_had_give_no_verdict(make: Make) -> None:
    fork = make()
    fork.pull(base_sha="1" * 40)
    comment = fork.verdict_of(slower())
    assert "no verdict: the base commit 111111111111 cannot be fetched" in comment.splitlines()[0]


def test_a_github_that_is_down_fails_the_job(make: Make) -> None:
    fork = make()
    fork.leaves(slower())
    fork.server.faults.always("*", Fault(status=503))
    with pytest.raises(GitHubError, match="503"):
        fork.publish()
    assert fork.comments == []


def test_a_result_that_cannot_be_downloaded_leaves_the_comment_and_fails_the_job(
    make: Make,
) -> None:
    fork = make()
    before = fork.verdict_of(slower())
    fork.leaves(slower(), "other", created_at=START + timedelta(hours=1))
    lost = fork.server.state.all(Artifact)[-2]
    fork.server.faults.always(f"GET /repos/*/{lost.id}/zip", Fault(status=500))
    with pytest.raises(GitHubError, match="500"):
        fork.publish(attempt=3)
    first, other = fork.comments  # what can be read is commented on
    assert first == before
    assert "other: fail" in other.splitlines()[0]
    assert fork.stage.lines[-1].startswith("::warning::no comment: GET /repos/")


@pytest.mark.parametrize("kind", ["POST *", "PATCH *"])
def test_a_comment_that_cannot_be_written_fails_the_job(make: Make, kind: str) -> None:
    fork = make()
    fork.verdict_of(slower())
    fork.leaves(slower(), "other", created_at=START + timedelta(hours=1))
    fork.server.faults.always(kind, Fault(status=500))
    with pytest.raises(GitHubError, match="500"):
        fork.publish(attempt=3)
    attempts = [found.attempt for one in fork.comments if (found := marker_in(one))]
    assert attempts == ([3] if kind == "POST *" else [2, 3])


def test_a_comment_that_is_refused_fails_the_job(make: Make) -> None:
    fork = make()
    fork.leaves(slower())
    with pytest.raises(GitHubError, match="403"):
        fork.publish(token=FORKS_TOKEN)
    (line,) = fork.stage.lines
    assert line.startswith("::warning::no comment: POST ")
    assert fork.stage.outputs == [("verdict", "fail")]
    assert "fail: 1 of 2" in fork.stage.summary
