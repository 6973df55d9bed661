"""Finds and reads the results and histories that earlier runs on GitHub left as artifacts.

Everything except `read_stored` raises a GitHubError if GitHub refuses or does not answer.

As for a baseline, only the origin of an artifact counts, not its name: its run must have measured
a commit of the default branch.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.baselines.artifacts import (
    MOST_BYTES,
    MOST_LISTED,
    MOST_TRIED,
    TRUSTED_EVENTS,
    ArtifactQuery,
    is_of_branch,
    read_artifacts,
)
from benchgate.baselines.unverified import KnownBenchmarks, function_of
from benchgate.config import PythonBenchmark
from benchgate.config.benchmarks import is_benchmark_file
from benchgate.errors import BenchgateError, FormatError, GitHubError, UsageError
from benchgate.files import expand
from benchgate.gate.stored import OFF_BRANCH, StoredResults
from benchgate.github.artifact_names import ArtifactKind, Leg, leg_in
from benchgate.github.artifacts import LIMITS, download_artifact, list_artifacts, read_member
from benchgate.github.client import commit_of, list_runs, merge_base, read_run
from benchgate.github.objects import ApiObject, FullName, Id, Ref
from benchgate.github.runner import EventRepository
from benchgate.history.record import record_of, why_not_kept
from benchgate.measure.sources import group_of, topmost_folders
from benchgate.model.codec import decode_result
from benchgate.model.result import SkippedResult
from benchgate.model.run import Status
from benchgate.session.result_file import DEFAULT_SUITE
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from benchgate.ci.base import Job
    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.github.client import Client
    from benchgate.github.objects import Artifact, WorkflowRun
    from benchgate.github.runner import Context
    from benchgate.history.record import RunRecord
    from benchgate.model.result import Result
    from benchgate.model.run import Environment, Run
    from benchgate.session.choice import Choice


USUAL_ENVIRONMENT: Final = "linux-x86_64"
"""The kind of GitHub's own Linux runners, on which most jobs run."""


MEMBERS: Final = ("result.json.gz", "result.json")
"""The name of the one file in an artifact."""

_MOST_ANCESTORS = 200
_UNKNOWN = frozenset({404, 422})


MOST_RUNS: Final = 100
"""Runs listed for each event."""

MOST_ASKED: Final = 40
"""Runs whose artifacts are listed one run at a time."""

_MOST_MISSES: Final = 3
_PREFIX: Final = "benchgate-"


def read_stored(
    client: Client,
    context: Context,
    git: Git,
    *,
    name: str,
    base: str | None,
    limit: int,
    here: Environment,
) -> StoredResults:
    """Read the results of earlier runs of the default branch, or say why that is impossible.

    Args:
        base: the commit whose own run comes first, and its ancestors after it.
        limit: the number of results, from machines like this one, that are enough.
    """
    repository = context.repository.full_name
    wanted = ArtifactQuery(
        repository_id=context.repository.id,
        branch=context.default_branch,
        name=name,
        head_sha=context.sha,
        preferred=_line_of(git, base),
        most_bytes=LIMITS.archive_bytes,
    )
    try:
        own = OwnRuns.listed(client, context.repository, context.default_branch)
        listed, warnings = _listed(own, wanted)
        known = {run.id: run for run in own.runs}
        found = read_artifacts(
            listed,
            wanted,
            run_of=lambda id_: known.get(id_) or read_run(client, repository, id_),
            fetch=lambda artifact: _file(client, repository, artifact),
            limit=limit,
            counts=lambda run: is_like(run, here),
            is_of_branch=branch_holds(client, repository, context.default_branch),
        )
    except GitHubError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return StoredResults("artifact", warnings=(f"no stored results: {error.message}{hint}",))
    return replace(found, warnings=(*warnings, *found.warnings))


def branch_holds(client: Client, repository: str, branch: str) -> Callable[[str], bool]:
    """Make a function that says whether a commit is on a branch: its newest, or an ancestor."""

    @cache
    def newest() -> str:
        # The full ref, because a tag may have the same name.
        return commit_of(client, repository, f"heads/{branch}")

    def holds(sha: str) -> bool:
        tip = newest()
        try:
            return sha == tip or merge_base(client, repository, tip, sha) == sha
        except GitHubError as error:
            if error.status in _UNKNOWN:
                return False
            raise

    return holds


def _listed(own: OwnRuns, wanted: ArtifactQuery) -> tuple[list[Artifact], tuple[str, ...]]:
    """The artifacts of a name, those of the default branch's runs first; and a warning.

    GitHub lists a name over all runs, the newest first. If artifacts of other people fill the part
    of that list that is read, each run of the default branch is asked, in order of preference.
    """
    every = list_artifacts(own.client, own.repository, name=wanted.name)
    listed = list(islice(every, MOST_LISTED))
    if len(listed) < MOST_LISTED:
        return listed, ()
    seen = {one.workflow_run.id for one in listed if one.workflow_run}
    unseen = [run for run in own.runs if run.id not in seen]
    unseen.sort(key=lambda run: wanted.rank(run.head_sha))
    found: list[Artifact] = []
    try:
        for _, left in own.left(unseen, name=wanted.name):
            found += left
            if len(found) >= MOST_TRIED:
                break
    except GitHubError as error:
        return [*found, *listed], (f"not all stored results were searched: {error.message}",)
    unsearched = (f"{one.what} were not searched: {one.reason}" for one in own.not_asked)
    return [*found, *listed], tuple(unsearched)


def read_result_of(client: Client, repository: str, artifact: Artifact) -> Result:
    """Read the result in one artifact, whichever run left it.

    Raises:
        FormatError: it is not a result, or it is damaged.
    """
    return decode_result(read_file_of(client, repository, artifact), artifact.name)


def read_file_of(client: Client, repository: str, artifact: Artifact) -> bytes:
    """Read and expand the one file in an artifact. Error messages hold no text of the file."""
    return expand(_file(client, repository, artifact), artifact.name, limit_bytes=MOST_BYTES)


def is_like(run: Run, here: Environment) -> bool:
    """Whether a run is of such a machine; its toolchains are known only after measuring."""
    return not replace(run.environment, toolchains={}).differences(here)


def environment_key(environ_os: str, machine: str) -> str:
    """The machine's part of artifact names; machines that cannot be compared get different ones.

    Args:
        environ_os: RUNNER_OS, e.g. "Linux".
        machine: the architecture, e.g. "x86_64".
    """
    return f"{environ_os}-{machine}".lower()


def _line_of(git: Git, base: str | None) -> tuple[str, ...]:
    """A commit and its ancestors by first parents, as far as the checkout holds them."""
    if base is None:
        return ()
    if git.rev_parse(base) is None:
        return (base,)
    listed = git.run("rev-list", "--first-parent", f"--max-count={_MOST_ANCESTORS}", base)
    return tuple(listed.split())


def _file(client: Client, repository: str, artifact: Artifact) -> bytes:
    return read_member(download_artifact(client, repository, artifact), MEMBERS, artifact.name)


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """The runs of the default branch that can be trusted, the newest first.

    Any fork can cause any number of runs in this repository, with artifacts of any name. That
    number must not decide what is found, so the default branch's runs are listed first.
    """

    client: Client
    repository: str
    runs: tuple[WorkflowRun, ...]
    _not_asked: Counter[str] = field(default_factory=Counter)

    @property
    def not_asked(self) -> Iterator[SkippedResult]:
        """The runs that `left` did not ask, because several of their workflow had nothing."""
        for path, count_ in self._not_asked.items():
            why = f"its {_MOST_MISSES} newer runs left no result"
            yield SkippedResult(f"{counted(count_, 'run')} of {path or 'a workflow'}", why)

    @classmethod
    def listed(cls, client: Client, repository: EventRepository, branch: str) -> OwnRuns:
        """List them through GitHub's API.

        Args:
            branch: the default branch.
        """
        name = repository.full_name
        runs = [
            run
            for event in TRUSTED_EVENTS
            for run in list_runs(client, name, branch=branch, event=event, most=MOST_RUNS)
            if is_of_branch(run, repository.id, branch)
        ]
        newest_first = sorted({run.id: run for run in runs}.values(), key=lambda x: -x.id)
        return cls(client, name, tuple(newest_first))

    def left(
        self, runs: Iterable[WorkflowRun], *, name: str | None = None, most: int = MOST_ASKED
    ) -> Iterator[tuple[WorkflowRun, tuple[Artifact, ...]]]:
        """The artifacts of runs; a run is asked only when the previous run's have been used up.

        Other workflows run on the branch, too: once several runs of one workflow had no artifacts,
        no more of its runs are asked.

        Args:
            name: full name of the artifacts; None for all those of benchgate.
        """
        misses: Counter[str] = Counter()
        asked = 0
        for run in runs:
            if asked == most:
                return
            if misses[run.path] == _MOST_MISSES:
                self._not_asked[run.path] += 1
                continue
            asked += 1
            listed = list_artifacts(self.client, self.repository, name=name, run_id=run.id)
            found = tuple(one for one in listed if one.name.startswith(_PREFIX))
            misses[run.path] = 0 if found else misses[run.path] + 1
            if found:
                yield run, found


MOST_ASKED_FOR_HISTORY: Final = 300
"""Runs whose artifacts are listed."""

_MOST_FAILURES = 3
_GONE = frozenset({404, 410})


class _Described(ApiObject):
    """A repository as GitHub describes it."""

    id: Id
    full_name: FullName
    default_branch: Ref


def _record(
    client: Client,
    repository: str,
    run: WorkflowRun,
    artifact: Artifact,
    holds: Callable[[str], bool],
) -> RunRecord | SkippedResult:
    """Read one artifact; its origin is taken from GitHub, not from the file."""
    name = f"artifact {artifact.id} of run {run.id}"
    if artifact.expired:
        return SkippedResult(name, "it has expired")
    if not holds(run.head_sha):
        return SkippedResult(name, OFF_BRANCH)
    try:
        head = read_result_of(client, repository, artifact).head
    except FormatError as error:
        return SkippedResult(name, error.message)
    if head.source.sha not in {None, run.head_sha}:
        return SkippedResult(name, "it measured another commit than that of its run")
    source = replace(head.source, sha=run.head_sha, ref=run.head_branch)
    trusted = replace(head, source=source)
    record = replace(record_of(trusted), url=run.html_url)
    why = why_not_kept(trusted, record)
    return SkippedResult(name, why) if why else record


def read_runs(client: Client, repository: str) -> Iterator[RunRecord | SkippedResult]:
    """Read what the newest runs of the default branch measured, the newest first.

    Args:
        repository: "owner/name".
    """
    path = f"/repos/{repository}"
    described = _Described.read(client.get(path), path)
    own = OwnRuns.listed(
        client, EventRepository(described.id, described.full_name), described.default_branch
    )
    holds = branch_holds(client, repository, described.default_branch)
    failures = count = 0
    for run, artifacts in own.left(own.runs, most=MOST_ASKED_FOR_HISTORY):
        for artifact in artifacts:
            if leg_in(ArtifactKind.BASELINE, artifact.name) is None:
                continue
            count += 1
            try:
                yield _record(client, repository, run, artifact, holds)
            except GitHubError as error:
                failures += error.status not in _GONE
                if failures == _MOST_FAILURES:
                    raise
                yield SkippedResult(f"artifact {artifact.id} of run {run.id}", error.message)
    not_asked = tuple(own.not_asked)
    yield from not_asked
    if not count:
        raise UsageError(
            f"no job of {described.default_branch} in {repository} left a result as an artifact",
            hint="`benchgate ci` leaves them for runs of the default branch, if "
            '`[baseline] source` is "auto" or "artifact"; they expire.',
            details="\n".join(f"{one.what} were not searched: {one.reason}" for one in not_asked),
        )


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
        unlisted: why the default branch's runs are not known.
    """

    job: Job
    suites: frozenset[str]
    environments: frozenset[str]
    newest_artifacts: dict[Leg, Artifact] = field(default_factory=dict)
    runs: dict[Leg, WorkflowRun] = field(default_factory=dict)
    unlisted: GitHubError | None = None

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
        others = (run for run in rest if _file_of_id(run.path) in leaving)
        found: dict[Leg, Artifact] = {}
        runs: dict[Leg, WorkflowRun] = {}
        for run, artifacts in chain(
            own.left(first, most=_MOST_ASKED), own.left(others, most=_MOST_ASKED_AGAIN)
        ):
            leaving.add(_file_of_id(run.path))
            for leg, artifact in _by_leg(artifacts):
                if leg not in found:
                    found[leg], runs[leg] = artifact, run
            if found.keys() >= set(wanted):
                break
        usual = cls.usual(job, suite)
        suites = usual.suites | {leg.suite for leg in found}
        environments = usual.environments | {leg.environment for leg in found}
        return cls(job, suites, environments, found, runs)

    def newest(self, leg: Leg) -> Run | BenchgateError | None:
        """What the default branch's newest run of it measured, or why that cannot be read."""
        artifact = self.newest_artifacts.get(leg)
        if artifact is None:
            return self.unlisted
        if artifact.expired:
            return FormatError(f"{artifact.name} of the default branch has expired")
        try:
            result = read_result_of(
                self.job.client, self.job.context.repository.full_name, artifact
            )
        except (FormatError, GitHubError) as error:
            return error
        if result.head.source.sha != self.runs[leg].head_sha:
            return FormatError(f"{artifact.name} is of another commit than its run")
        return result.head


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
        file = _file_of_id(run.path)
        if seen[file] < _OF_EACH:
            first.append((file != _file_of_id(workflow), seen[file], run))
        else:
            rest.append(run)
        seen[file] += 1
    return [run for _, _, run in sorted(first, key=lambda one: one[:2])], rest


def _file_of_id(path: str) -> str:
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
    for path, group in _files(config, _listed_names(git, sha)):
        text = git.run("cat-file", "blob", f"{sha}:{path}")[:_MOST_CHARACTERS]
        words = frozenset(word for pattern in _WORDS for word in pattern.findall(text))
        for match in _FUNCTION.finditer(text):
            yield f"{group}/{match[1] or match[2]}", words


def _listed_names(git: Git, sha: str) -> list[PurePosixPath]:
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
