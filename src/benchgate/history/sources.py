"""Reads the runs of a history from anywhere, orders them by their commits, and stores them."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.baselines.any_file import read_any
from benchgate.errors import BenchgateError, UsageError
from benchgate.files import broken_link
from benchgate.git.repository import FULL_SHA
from benchgate.history.record import record_of, why_not_kept
from benchgate.history.store import RunReader, RunRows, Store, to_table
from benchgate.model.result import SkippedResult, by_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.git.repository import Git
    from benchgate.history.record import RunRecord
    from benchgate.history.store import ListedRun
    from benchgate.json_object import Redact
    from benchgate.model.result import Result


Runs: TypeAlias = "Callable[[], Iterator[RunRecord | SkippedResult]]"

_STORED: Final = ".parquet"
_NOTHING: Final[Mapping[str, Runs]] = MappingProxyType({})


@dataclass(slots=True)
class Found:
    """The runs of all sources, each of them once.

    Attributes:
        reader: what has read them.
        runs: their rows.
        skipped: what could not be used, and why.
    """

    reader: RunReader = field(default_factory=RunReader)
    runs: list[RunRows] = field(default_factory=list)
    skipped: list[SkippedResult] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def take(self, one: RunRows | SkippedResult) -> None:
        """Add the rows of a file, unless its run is there already."""
        if isinstance(one, SkippedResult):
            self.skipped.append(one)
        elif one.id not in self._ids:
            self._ids.add(one.id)
            self.runs.append(one)

    def notes(self) -> tuple[str, ...]:
        """What could not be used, with a few names for each reason."""
        return tuple(f"left out: {one.what}: {one.reason}" for one in by_reason(self.skipped))


def read_sources(
    addresses: Sequence[str], redact: Redact, named: Mapping[str, Runs] = _NOTHING
) -> Found:
    """Read all runs at some addresses: of a store, of a folder with results, or of one result.

    Args:
        named: reads what a name stands for, by that name.
    """
    found = Found()
    for address in addresses:
        is_name, is_url = address in named, "://" in address
        if is_url or (not is_name and _is_folder(Path(address))):
            for one in Store.at(address).read(found.reader):
                found.take(one)
        if not is_url:
            for run in named[address]() if is_name else read_results(Path(address)):
                if not isinstance(run, SkippedResult):
                    found.take(found.reader.rows(to_table([run], redact)))
                else:
                    found.take(run)
    return found


def read_results(path: Path) -> Iterator[RunRecord | SkippedResult]:
    """Read a result file, or all result files of a folder.

    A file of a folder that cannot be used is skipped, with the reason.
    """
    if _is_folder(path):
        yield from _of_folder(path)
    else:
        yield _record(read_any([path]), str(path))


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder, not a file."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        if broken := broken_link(path):
            raise UsageError(broken, hint="Make what it names, or remove the link.") from None
        raise UsageError(
            f"there is no file or folder {path}",
            hint="`benchgate history --add RESULT` begins a store; `benchgate history FOLDER` "
            "shows a folder of results without one.",
        ) from None
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", hint="Check the path and its permissions."
        ) from None


def _of_folder(folder: Path) -> Iterator[RunRecord | SkippedResult]:
    try:
        files = sorted(
            path
            for path in folder.iterdir()
            if path.is_file() and path.suffix != _STORED and not path.name.startswith(".")
        )
    except OSError as error:
        raise UsageError(
            f"cannot read {folder}: {error.strerror}", hint="Check its permissions."
        ) from None
    for path in files:
        try:
            yield _record(read_any([path]), str(path))
        except BenchgateError as error:
            yield SkippedResult(str(path), error.message.removeprefix(f"{path}: "))


def _record(result: Result, name: str) -> RunRecord | SkippedResult:
    run = result.head
    screening = result.screening
    if screening is not None and screening.head is not None:
        run = screening.head  # the whole suite; the head has only what was still open
    record = record_of(run)
    why = why_not_kept(run, record)
    return SkippedResult(name, why) if why else record


def at_commit(
    records: Iterable[RunRecord | SkippedResult], sha: str
) -> Iterator[RunRecord | SkippedResult]:
    """Say which commit results are of that do not say it themselves."""
    for one in records:
        yield replace(one, sha=sha) if not isinstance(one, SkippedResult) and not one.sha else one


_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """A commit that the repository knows.

    Attributes:
        position: in an order in which each commit comes after its parents.
        committed: as `ListedRun.started`.
        subject: first line of its message.
        author: who wrote it.
    """

    position: int
    committed: str
    subject: str = ""
    author: str = ""


def commit_order(
    runs: Sequence[ListedRun], commits: Mapping[str, KnownCommit]
) -> tuple[ListedRun, ...]:
    """Order runs: by their commits, and by time where commits are not known.

    A run of an unknown commit comes before the first commit that is younger. Runs of one commit
    stay beside each other, in the order in which they were measured.

    Args:
        commits: those that are known, by hash.
    """
    known = sorted(
        (run for run in runs if run.sha in commits),
        key=lambda run: (commits[run.sha].position, run.started, run.id),
    )
    placed = []
    newest = _EARLIEST
    for run in known:
        newest = max(newest, _time(commits[run.sha].committed))
        placed.append((newest, run))
    return tuple(run for _, run in merge(placed, _by_time(runs, commits), key=lambda one: one[0]))


def _by_time(
    runs: Sequence[ListedRun], commits: Mapping[str, KnownCommit]
) -> list[tuple[datetime, ListedRun]]:
    """The runs of unknown commits, those of one commit at the time of its first one."""
    unknown = [run for run in runs if run.sha not in commits]
    first: dict[str, datetime] = {}
    for run in unknown:
        time = _time(run.committed or run.started)
        key = run.sha or run.id
        first[key] = min(first.get(key, time), time)
    return sorted(
        ((first[run.sha or run.id], run) for run in unknown),
        key=lambda one: (one[0], one[1].sha, one[1].started, one[1].id),
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


# The year 10000, which no date of ours can name; a commit may claim any.
_END_OF_TIME_S: Final = 253_402_300_800


def commits_of(git: Git | None, shas: Iterable[str]) -> Mapping[str, KnownCommit]:
    """Those of the commits that the repository has, by hash."""
    wanted = sorted({sha for sha in shas if FULL_SHA.fullmatch(sha)})
    if git is None or not wanted:
        return {}
    walked = _log(git, "%H %ct", "--topo-order", "--reverse", *wanted)
    told = (line.split("\t", 2) for line in _log(git, "%H%x09%an%x09%s", "--no-walk", *wanted))
    known = {sha: (author, subject) for sha, author, subject in told}
    found = {}
    for position, line in enumerate(walked):
        sha, _, seconds = line.partition(" ")
        if sha in known and int(seconds) < _END_OF_TIME_S:
            author, subject = known[sha]
            found[sha] = KnownCommit(position, _date(int(seconds)), subject, author)
    return found


def _log(git: Git, form: str, *arguments: str) -> list[str]:
    """Lines about commits; those that the repository lacks are left out."""
    fixed = ("--ignore-missing", "--no-color", "--no-show-signature", f"--format={form}")
    # A subject may hold what Python takes for the end of a line.
    return [line for line in git.run("log", *fixed, *arguments, "--").split("\n") if line]


def _date(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of some runs.

    Attributes:
        added: those that were appended.
        present: those that the store had already.
        skipped: results that cannot be part of a history.
    """

    added: tuple[RunRecord, ...]
    present: tuple[RunRecord, ...]
    skipped: tuple[SkippedResult, ...]


def add_runs(
    store: Store, runs: Iterable[RunRecord | SkippedResult], git: Git | None, redact: Redact
) -> Added:
    """Append each run that the store does not have.

    Args:
        git: the repository that may know the commits of the runs.
    """
    found = list(runs)
    records = [one for one in found if not isinstance(one, SkippedResult)]
    commits = commits_of(git, (one.sha for one in records)) if records else {}
    ids = set(store.ids())
    added, present = [], []
    for one in records:
        if one.id in ids:
            present.append(one)
            continue
        if commit := commits.get(one.sha):
            one = replace(one, subject=commit.subject, committed=commit.committed)  # noqa: PLW2901
        store.add(one, redact)
        ids.add(one.id)
        added.append(one)
    skipped = tuple(one for one in found if isinstance(one, SkippedResult))
    return Added(tuple(added), tuple(present), skipped)
