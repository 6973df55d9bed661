"""Jobs on a stand-in for GitHub that are tried with faults, and what must hold of each."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.contract.records import Artifact, Run
from tests.contract.scene import SCENE
from tests.contract.server import GitHubServer
from tests.e2e.conftest import Program, Project
from tests.e2e.hosted import Hosted, Job, pull_request, workflow_run

from benchgate.baselines.stored_files import read_result
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from tests.done import Done
    from tests.e2e.hosted import Event

    Call: TypeAlias = Callable[[tuple[str, ...], Path, Mapping[str, str]], Done]

_ENTRY = re.compile(r"([\w-]+)<<(\w+)\n(.*?)\n\2\n", re.DOTALL)


@dataclass(slots=True)
class _Traced:
    """Calls benchgate in the place of `Program`."""

    call: Call
    variables: dict[str, str] = field(default_factory=dict)

    def __call__(self, cwd: Path, *arguments: str) -> Done:
        return self.call(arguments, cwd, self.variables)


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job, the checkout that it worked in, and how many comments there are after it."""

    job: Job
    folder: Path
    files: Path
    comments: int


class Jobs:
    """A pull request of a fork, and one of the repository itself, that make the project slower.

    Args:
        top: an empty folder for all of it.
        files: of the base, by their paths.
        changed: those of the head.
    """

    def __init__(self, top: Path, files: Mapping[str, str], changed: Mapping[str, str]) -> None:
        self._top = top
        self._count = 0
        (top / "origin").mkdir(parents=True)
        git = Git(top / "origin")
        git.run("-c", "init.defaultBranch=main", "init", "--quiet")
        for name, value in (("name", "A. Developer"), ("email", "developer@example.org")):
            git.run("config", f"user.{name}", value)
        git.run("config", "uploadpack.allowAnySHA1InWant", "true")
        self._origin = Project(git)
        self._origin.write(files)
        self._base = self._origin.commit()
        with self._hosted(_never) as hosted:
            self._head, self._merge = hosted.topic(self._base, changed)
        self._measured: tuple[Job, list[Run | Artifact]] | None = None

    def run(self, command: str, call: Call) -> EndedJob:
        """Run `ci` for the pull request, or `publish` for what a run of a fork has measured.

        Args:
            call: calls benchgate with arguments in a folder, with these variables added.
        """
        if command == "ci":
            with self._hosted(call) as hosted:
                event = self._event(fork=False)
                return self._ended(hosted, event, "ci", "-v", "--rounds", "3")
        if self._measured is None:
            raise RuntimeError("measure first")
        job, records = self._measured
        with self._hosted(call, fork=True) as hosted:
            for record in records:
                hosted.server.state.put(record)
            event = workflow_run(self._event(fork=True), job, self._base)
            return self._ended(hosted, event, "publish", "-v")

    def measure(self, call: Call) -> None:
        """Measure the fork's pull request once, for `publish`."""
        if self._measured is None:
            with self._hosted(call, fork=True) as hosted:
                job = hosted.run(self._event(fork=True), "ci", "--rounds", "3")
                job.done.check(3)
                state = hosted.server.state
                left = [one for one in state.all(Artifact) if one.run_id == job.run_id]
                self._measured = job, [state.need(Run, job.run_id), *left]

    def _ended(self, hosted: Hosted, event: Event, *arguments: str) -> EndedJob:
        job = hosted.run(event, *arguments)
        folder, files = (hosted.folder / f"{one}-{job.run_id}" for one in ("checkout", "files"))
        return EndedJob(job, folder, files, len(hosted.comments()))

    def _event(self, *, fork: bool) -> Event:
        return pull_request(self._base, self._head, self._merge, fork=fork)

    @contextmanager
    def _hosted(self, call: Call, *, fork: bool = False) -> Iterator[Hosted]:
        """A GitHub that knows of nothing before, with the pull request."""
        self._count += 1
        folder = self._top / f"jobs-{self._count}"
        folder.mkdir()
        with GitHubServer(*SCENE, prefix="/api/v3") as server:
            program, ids = cast("Program", _Traced(call)), count(1000 * self._count)
            hosted = Hosted(self._origin, server, program, folder, ids)
            if call is not _never:
                hosted.open_pull_request(self._base, self._head, fork=fork)
            yield hosted


def _never(*_: Any) -> Done:  # noqa: ANN401 - of any call
    raise RuntimeError("nothing is called")


def wrong_with(ended: EndedJob, clean: EndedJob) -> Iterator[str]:
    """Say what is wrong with what a job left on GitHub and for later steps."""
    done, outputs = ended.job.done, ended.files / "output"
    text = outputs.read_text(encoding="utf-8") if outputs.exists() else ""
    if left := _ENTRY.sub("", text):
        yield f"outputs that the runner cannot read: {left!r}"
    said = "error:" in done.err or "::warning::" in done.out or "::error" in done.out
    verdict, known = (one.job.outputs.get("verdict") for one in (ended, clean))
    if verdict is not None and verdict != known and done.code == clean.job.done.code:
        yield f"another verdict: {verdict}"
    if ended.comments < clean.comments and not said:
        yield "no comment, and nobody is told"
    for path in ended.files.rglob("result.json.gz"):
        read_result(path)
    for name in ("result", "page", "report"):
        if (file := ended.job.outputs.get(name)) and not Path(file).is_file():
            yield f"the output {name} names no file"
