"""Reads the runs of a history from where they are kept."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.baselines.any_file import read_any
from benchgate.errors import BenchgateError, UsageError
from benchgate.files import broken_link
from benchgate.history.record import record_of, why_not_kept
from benchgate.history.run_rows import RunReader, RunRows, to_table
from benchgate.history.store import Store
from benchgate.model.result import SkippedResult, by_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.history.record import RunRecord
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
