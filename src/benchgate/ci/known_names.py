"""Finds out which suites, machines and benchmarks the base has, without running any of its code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.baselines.unverified import KnownBenchmarks, function_of
from benchgate.ci.stored_artifacts import USUAL_ENVIRONMENT, OwnRuns, read_result_of
from benchgate.config import PythonBenchmark
from benchgate.config.benchmarks import is_benchmark_file
from benchgate.errors import FormatError, GitHubError
from benchgate.github.artifacts import ArtifactKind, Leg, leg_in
from benchgate.measure.python_workers import group_of, topmost_folders
from benchgate.model.run import Status
from benchgate.session.rounds import DEFAULT_SUITE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from benchgate.ci.base import Job
    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.model.run import Run
    from benchgate.session.choice import Choice


_USUAL_ENVIRONMENTS: Final = tuple(
    f"{os}-{machine}" for os in ("linux", "macos") for machine in ("x86_64", "arm64", "aarch64")
)
"""The words that the action itself puts into names."""


_MOST_ASKED: Final = 30
_MOST_ASKED_AGAIN: Final = 10
"""Runs of the default branch: names that a fork makes up cost no additional requests."""

_OF_EACH: Final = 2


_MOST_FILES: Final = 500
_MOST_CHARACTERS: Final = 1_000_000
_FUNCTION = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+bench_(\w+)|bench_(\w+)[ \t]*=)", re.MULTILINE
)
_WORDS = (re.compile(r"\w+"), re.compile(r"[A-Za-z0-9_.+-]+"))


@dataclass(frozen=True, slots=True)
class Legs:
    """The suites and kinds of machine whose names may be shown.

    Attributes:
        newest_artifacts: artifacts of the default branch's newest run, for each of them.
        runs: the run that each of those is from.
    """

    job: Job
    suites: frozenset[str]
    environments: frozenset[str]
    newest_artifacts: dict[Leg, Artifact] = field(default_factory=dict)
    runs: dict[Leg, WorkflowRun] = field(default_factory=dict)

    def __contains__(self, leg: Leg) -> bool:
        return leg.suite in self.suites and leg.environment in self.environments

    @classmethod
    def usual(cls, job: Job, suite: str = "") -> Legs:
        """The suites of a repository whose default branch has no results yet.

        Args:
            suite: one more that the default branch's own workflow names; "" for none.
        """
        suites = {Leg.of(one, USUAL_ENVIRONMENT).suite for one in (DEFAULT_SUITE, suite) if one}
        return cls(job, frozenset(suites), frozenset(_USUAL_ENVIRONMENTS))

    @classmethod
    def left(cls, job: Job, wanted: Collection[Leg], workflow: str, suite: str = "") -> Legs:
        """Search the artifacts of the default branch's newest runs until all legs are found.

        Args:
            wanted: the legs that the run of a pull request left.
            workflow: the file of the run's workflow, whose runs are searched first.

        Raises:
            GitHubError: GitHub refuses, or does not answer.
        """
        if not wanted:
            return cls.usual(job, suite)
        own = OwnRuns.listed(job.client, job.context.repository, job.context.default_branch)
        first, rest = _in_turn(own.runs, workflow)
        leaving: set[str] = set()
        others = (run for run in rest if _file(run.path) in leaving)
        found: dict[Leg, Artifact] = {}
        runs: dict[Leg, WorkflowRun] = {}
        for run, artifacts in chain(
            own.left(first, most=_MOST_ASKED), own.left(others, most=_MOST_ASKED_AGAIN)
        ):
            leaving.add(_file(run.path))
            for leg, artifact in _by_leg(artifacts):
                if leg not in found:
                    found[leg], runs[leg] = artifact, run
            if found.keys() >= set(wanted):
                break
        usual = cls.usual(job, suite)
        suites = usual.suites | {leg.suite for leg in found}
        environments = usual.environments | {leg.environment for leg in found}
        return cls(job, suites, environments, found, runs)

    def newest(self, leg: Leg) -> Run | None:
        """What the default branch's newest run of it measured; None if that cannot be read."""
        artifact = self.newest_artifacts.get(leg)
        if artifact is None or artifact.expired:
            return None
        try:
            result = read_result_of(
                self.job.client, self.job.context.repository.full_name, artifact
            )
        except (FormatError, GitHubError):
            return None
        return result.head if result.head.source.sha == self.runs[leg].head_sha else None


def _by_leg(artifacts: tuple[Artifact, ...]) -> Iterator[tuple[Leg, Artifact]]:
    """The artifact of each leg; a whole measurement of the head is preferred to a comparison."""
    for kind in (ArtifactKind.BASELINE, ArtifactKind.RESULT):
        for artifact in artifacts:
            if leg := leg_in(kind, artifact.name):
                yield leg, artifact


def _in_turn(
    runs: Iterable[WorkflowRun], workflow: str
) -> tuple[list[WorkflowRun], list[WorkflowRun]]:
    """The newest two runs of each workflow, those of one workflow first; then the rest.

    The fork chooses the file of its workflow, so its choice must not hide the runs of others.
    """
    seen: Counter[str] = Counter()
    first, rest = [], []
    for run in runs:
        file = _file(run.path)
        if seen[file] < _OF_EACH:
            first.append((file != _file(workflow), seen[file], run))
        else:
            rest.append(run)
        seen[file] += 1
    return [run for _, _, run in sorted(first, key=lambda one: one[:2])], rest


def _file(path: str) -> str:
    return path.partition("@")[0]


def known_benchmarks(
    config: Config,
    git: Git,
    sha: str,
    *,
    own: Run | None,
    choice: Choice,
    measured: Collection[str],
) -> KnownBenchmarks:
    """List the ids of a commit's benchmarks, and which of them have to be measured.

    A run of another commit may know a benchmark that this commit lacks. So, if the run measured
    another commit, a benchmark of it has to be measured only if this commit defines its function
    and nothing of the function was measured: its parameters at this commit are unknown.

    Args:
        own: what the newest run of the default branch measured; None if there is none.
        choice: the benchmarks that pull requests of this repository measure.
        measured: ids that the run measured at this commit.
    """
    functions = dict(_functions(config, git, sha))
    tags = {id_: one.tags for one in config.benchmarks for id_ in one.ids}
    stored = {one.id for one in own.of_project} if own else set()
    expected = {id_ for id_ in tags if choice.wants(id_, tags[id_])}
    if own and not choice.tags:  # the tags of a stored benchmark are unknown
        here = stored if own.source.sha == sha else _elsewhere(stored, functions, measured)
        expected |= {id_ for id_ in here if choice.wants(id_, ())}
    renamed = {*config.aliases, *config.aliases.values()}
    broken = {one.id for one in own.of_project if one.status is Status.FAILED} if own else set()
    return KnownBenchmarks(
        frozenset(tags.keys() | stored | renamed),
        functions,
        frozenset(expected),
        frozenset(broken),
    )


def _elsewhere(
    stored: Iterable[str], functions: Collection[str], measured: Iterable[str]
) -> set[str]:
    known = {function_of(id_) for id_ in measured}
    return {id_ for id_ in stored if function_of(id_) in functions if function_of(id_) not in known}


def _functions(config: Config, git: Git, sha: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each function's id without parameters, and the words of the file that defines it."""
    for path, group in _files(config, _listed(git, sha)):
        text = git.run("cat-file", "blob", f"{sha}:{path}")[:_MOST_CHARACTERS]
        words = frozenset(word for pattern in _WORDS for word in pattern.findall(text))
        for match in _FUNCTION.finditer(text):
            yield f"{group}/{match[1] or match[2]}", words


def _listed(git: Git, sha: str) -> list[PurePosixPath]:
    """The benchmark files of a commit, wherever they are."""
    listed = git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha).split("\0")
    files = (PurePosixPath(path) for path in listed if path.endswith(".py"))
    return [file for file in files if is_benchmark_file(PurePosixPath(file.name))][:_MOST_FILES]


def _files(config: Config, listed: list[PurePosixPath]) -> Iterator[tuple[PurePosixPath, str]]:
    """The files that a configuration measures, each with its group."""
    specs = [
        (PurePosixPath(path), one.group or "")
        for one in config.benchmarks
        if isinstance(one, PythonBenchmark)
        for path in one.paths
    ]
    if not config.benchmarks:
        everywhere = [file for file in listed if is_benchmark_file(file)]
        specs = [(PurePosixPath(folder), "") for folder in topmost_folders(everywhere)]
    for top, prefix in specs:
        for file in listed:
            if file == top:
                yield file, group_of(PurePosixPath(file.name), prefix)
            elif file.is_relative_to(top) and is_benchmark_file(file.relative_to(top)):
                yield file, group_of(file.relative_to(top), prefix)
