"""A project on a stand-in for GitHub: pushes and pull requests, the jobs that they start, and what
these leave.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.contract.records import Artifact, Comment, Commit, Comparison, Pull, Run
from tests.contract.scene import FORK, HELLO, TOKEN, zip_of

from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.contract.records import Repository, Token
    from tests.contract.server import GitHubServer
    from tests.done import Done
    from tests.e2e.conftest import Program, Project

NUMBER = 7
_REPOSITORY = {"id": HELLO.id, "full_name": HELLO.full_name, "default_branch": "main"}


@dataclass(frozen=True, slots=True)
class Event:
    """What starts a job.

    Attributes:
        sha: what GitHub runs the workflow for, and checks out.
        head_sha: of the branch, where that is another commit.
    """

    name: str
    payload: dict[str, Any]
    sha: str
    ref: str
    head_sha: str
    head_branch: str
    head_repository: Repository = HELLO
    actor: str = "octocat"


def push(before: str, sha: str, *, forced: bool = False) -> Event:
    ref = "refs/heads/main"
    payload = {"ref": ref, "before": before, "after": sha, "forced": forced, "deleted": False}
    return Event("push", payload, sha, ref, sha, "main")


def run_of(event: Event, run_id: int) -> Run:
    """GitHub's record of a run that starts now."""
    return Run(
        id=run_id,
        repository=HELLO.full_name,
        head_repository=event.head_repository.full_name,
        event=event.name,
        head_branch=event.head_branch,
        head_sha=event.head_sha,
        created_at=datetime.now(UTC).replace(microsecond=0),
    )


def pull_request(base: str, head: str, merge: str, *, fork: bool = False) -> Event:
    repository = FORK if fork else HELLO
    payload = {
        "number": NUMBER,
        "pull_request": {
            "number": NUMBER,
            "state": "open",
            "head": {"sha": head, "ref": "topic", "repo": named(repository)},
            "base": {"sha": base, "ref": "main", "repo": named(HELLO)},
        },
    }
    ref = f"refs/pull/{NUMBER}/merge"
    return Event("pull_request", payload, merge, ref, head, "topic", repository)


def merge_group(sha: str) -> Event:
    ref = f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{'0' * 40}"
    group = {"head_sha": sha, "head_ref": ref, "base_sha": "0" * 40, "base_ref": "refs/heads/main"}
    return Event(
        "merge_group", {"merge_group": group}, sha, ref, sha, ref.removeprefix("refs/heads/")
    )


def workflow_run(of: Event, job: Job, main: str) -> Event:
    run = {
        "id": job.run_id,
        "run_attempt": 1,
        "event": of.name,
        "status": "completed",
        "conclusion": "success" if job.done.code == 0 else "failure",
        "head_sha": of.head_sha,
        "head_branch": of.head_branch,
        "head_repository": named(of.head_repository),
    }
    payload = {"action": "completed", "workflow_run": run}
    return Event("workflow_run", payload, main, "refs/heads/main", main, "main")


def named(repository: Repository) -> dict[str, Any]:
    return {"id": repository.id, "full_name": repository.full_name}


@dataclass(frozen=True, slots=True)
class Job:
    """A job that has ended."""

    run_id: int
    done: Done
    outputs: dict[str, str]
    summary: str

    @property
    def warnings(self) -> list[str]:
        return re.findall(r"^::warning::(.*)$", self.done.out, re.MULTILINE)


@dataclass(slots=True)
class Hosted:
    """The project, on GitHub.

    Attributes:
        origin: what is pushed to.
        folder: for checkouts and files of jobs.
    """

    origin: Project
    server: GitHubServer
    program: Program
    folder: Path
    _run_ids: Iterator[int] = field(default_factory=lambda: count(30433700))

    def topic(
        self, base: str, files: Mapping[str, str] | None = None, *, slower: bool = False
    ) -> tuple[str, str]:
        """Commit to a branch from a commit; give its head, and what GitHub makes by merging it."""
        git = self.origin.git
        git.run("checkout", "--quiet", "-B", "topic", base)
        if slower:
            self.origin.slow_down()
        self.origin.write({"README": f"changed, slower: {slower}", **(files or {})})
        head = self.origin.commit()
        git.run("checkout", "--quiet", "-B", "merged", base)
        git.run("merge", "--quiet", "--no-ff", "--message", "merge", head)
        merge = git.head_sha()
        git.run("checkout", "--quiet", "main")
        return head, merge

    def open_pull_request(self, base: str, head: str, *, fork: bool = False) -> None:
        repository = (FORK if fork else HELLO).full_name
        self.server.state.put(
            Pull(
                number=NUMBER,
                repository=HELLO.full_name,
                head_repository=repository,
                head_branch="topic",
                head_sha=head,
                base_sha=base,
            )
        )
        for one, other in ((base, "main"), (base, head), ("main", head)):
            known = Comparison(repository=HELLO.full_name, base=one, head=other, merge_base=base)
            self.server.state.put(known)

    def run(
        self, event: Event, *arguments: str, token: Token | None = TOKEN, **variables: str
    ) -> Job:
        """Check out as actions/checkout does, and call `benchgate ci`; keep what it leaves."""
        run_id = next(self._run_ids)
        self.server.state.put(run_of(event, run_id))
        self._know_main()
        checkout, files = self._checkout(run_id, event.sha), self.folder / f"files-{run_id}"
        files.mkdir()
        (files / "event.json").write_text(json.dumps({**event.payload, "repository": _REPOSITORY}))
        self.program.variables = {
            **self._variables(event, run_id, files),
            **({"BENCHGATE_TOKEN": token.secret} if token else {}),
            **variables,
        }
        done = self.program(checkout, *(arguments or ("ci", "-v")))
        outputs, summary = _read(files / "output"), files / "summary"
        job = Job(run_id, done, outputs, summary.read_text() if summary.exists() else "")
        self._upload(job)
        return job

    def _know_main(self) -> None:
        """Have GitHub know which runs were of commits of the default branch."""
        git = self.origin.git
        newest = git.run("rev-parse", "main").strip()
        self.server.state.put(Commit(repository=HELLO.full_name, sha=newest, newest_of="main"))
        for sha in {one.head_sha for one in self.server.state.all(Run)}:
            if git.rev_parse(sha) is not None and (left := git.merge_base(newest, sha)):
                of: dict[str, Any] = {"repository": HELLO.full_name, "base": newest, "head": sha}
                self.server.state.put(Comparison(**of, merge_base=left))

    def comments(self) -> list[str]:
        return [one.body for one in self.server.state.all(Comment) if one.number == NUMBER]

    def artifacts(self) -> list[str]:
        return [one.name for one in self.server.state.all(Artifact)]

    def _checkout(self, run_id: int, sha: str) -> Path:
        """One commit, detached."""
        folder = self.folder / f"checkout-{run_id}"
        folder.mkdir()
        git = Git(folder)
        git.run("init", "--quiet")
        git.run("remote", "add", "origin", f"file://{self.origin.root}")
        git.run("fetch", "--quiet", "--depth=1", "origin", sha)
        git.run("checkout", "--quiet", "--detach", sha)
        return folder

    def _variables(self, event: Event, run_id: int, files: Path) -> dict[str, str]:
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(files / "event.json"),
            "GITHUB_REPOSITORY": HELLO.full_name,
            "GITHUB_REPOSITORY_ID": str(HELLO.id),
            "GITHUB_SHA": event.sha,
            "GITHUB_REF": event.ref,
            "GITHUB_RUN_ID": str(run_id),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKFLOW": "benchgate",
            "GITHUB_JOB": "benchgate",
            "GITHUB_ACTOR": event.actor,
            "GITHUB_API_URL": self.server.api_url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_OUTPUT": str(files / "output"),
            "GITHUB_STEP_SUMMARY": str(files / "summary"),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(files),
        }

    def _upload(self, job: Job) -> None:
        """Do as the steps of action.yml that keep result and baseline."""
        for kind in ("result", "baseline"):
            if name := job.outputs.get(f"{kind}-name"):
                path = Path(job.outputs[kind])
                data = zip_of({path.name: path.read_bytes()})
                id_ = self.server.state.new_id()
                artifact = Artifact(
                    id=id_,
                    run_id=job.run_id,
                    name=name,
                    data=data,
                    created_at=datetime.now(UTC).replace(microsecond=0),
                )
                self.server.state.put(artifact)


def _read(path: Path) -> dict[str, str]:
    """The outputs in a file, as the runner reads them."""
    text = path.read_text() if path.exists() else ""
    entries = re.findall(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in entries}
