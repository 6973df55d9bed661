"""One run of a suite of another tool: where it writes its results, and what they say."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.benchmarks import OUTPUT
from benchgate.errors import FormatError, UsageError, did_you_mean
from benchgate.files import TooLargeError, read_below, read_bytes
from benchgate.formats import NAMES, find_format, read_as
from benchgate.formats.contents import ForeignFile
from benchgate.formats.rows import SORTED, failed
from benchgate.measure.arm_command import RunFailedError
from benchgate.measure.engine import MetricSamples
from benchgate.measure.execution import trouble_with
from benchgate.measure.session_folder import SessionFolder
from benchgate.model.document import TOOL_FILE_MIB
from benchgate.model.run import CANARY_IDS, CHANGED_FILES_ID, Kind, Status
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping
    from pathlib import Path

    from benchgate.config import SuiteBenchmark
    from benchgate.formats.rows import Reading
    from benchgate.measure.arm_command import ArmCommand
    from benchgate.measure.engine import Arm
    from benchgate.measure.execution import Execution
    from benchgate.model.run import BenchmarkResult, Series


STANDARD_OUTPUT: Final = "the standard output"
_LARGER = "Measure fewer benchmarks or samples in one run, or set `max_mib` of the suite."
_LINES_OF_FILE_SHOWN = 5
_CHARACTERS_SHOWN = 200


class UnreadableError(Exception):
    """The results of a run cannot be read; the message is one line, then details."""


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What changes about a file if something writes it."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Scratch:
    """A folder for the outputs of runs; if benchgate is killed, the next session removes it."""

    def __init__(self) -> None:
        self._folder: SessionFolder | None = None
        self._runs = 0

    def fresh(self) -> Path:
        """Make an empty folder for one run; all have paths of the same length.

        Raises:
            OSError: it cannot be created.
        """
        self._folder = self._folder or SessionFolder.create()
        self._runs += 1
        folder = self._folder.path / f"{self._runs:06d}"
        folder.mkdir()
        return folder

    def discard(self, folder: Path) -> None:
        """Remove the folder of a run that has ended."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        folder, self._folder = self._folder, None
        if folder:
            folder.remove()


class RunOutput:
    """The output of one run of a suite, which begins after this is made.

    Args:
        folder: an empty folder for the run.
        command: as its arm runs it, except for `{output}`.
        path: the file or folder that it writes, relative to its working folder; None for
            `{output}` or the standard output.
        max_mib: size limit of what it writes.
        ok_exit_codes: of programs that it runs, as far as it reports their exit codes.

    Attributes:
        command: what to run.
    """

    def __init__(
        self,
        folder: Path,
        command: ArmCommand,
        path: str | None,
        *,
        max_mib: int = TOOL_FILE_MIB,
        ok_exit_codes: Collection[int] = (0,),
    ) -> None:
        self._folder = folder
        self._ok_exit_codes = tuple(ok_exit_codes)
        self._limit_bytes = max_mib << 20
        self._path = None if path is None else command.cwd / path
        self._name = path or OUTPUT
        self._before = _stamps(self._path) if self._path else {}
        self.command = command
        if any(OUTPUT in word for word in command.command):
            chosen = str(folder / "output")
            words = tuple(word.replace(OUTPUT, chosen) for word in command.command)
            self.command = replace(command, command=words)
        elif self._path is None:
            self._name = STANDARD_OUTPUT
            self.command = replace(command, stdout=folder / "stdout")

    def read(self, format_name: str | None) -> tuple[str, Reading]:
        """Read what the run has written; return the name of the format, too.

        Raises:
            UnreadableError: nothing, something empty or damaged, or in no known format.
        """
        try:
            source = replace(self._source(), ok_exit_codes=self._ok_exit_codes)
        except TooLargeError:
            limit = f"the limit of {self._limit_bytes >> 20} MiB"
            raise UnreadableError(f"{self._name} is larger than {limit}\n{_LARGER}") from None
        except (FormatError, UsageError) as error:
            raise UnreadableError(f"{error.message}\n{error.hint}") from error
        try:
            if not source.data and not source.files:
                raise UnreadableError(f"it wrote nothing to {self._name}")
            known = find_format(source, format_name)
            if known is None:
                tried = f"{counted(len(NAMES), 'format')} tried; `format` names one"
                raise UnreadableError(
                    f"{self._name} is in no format that benchgate knows ({tried})\n{_start(source)}"
                )
            reading = read_as(known, source)
        except (FormatError, UsageError) as error:
            hint = f"\n{error.hint}" if error.hint else ""
            tried = f"\nread as {format_name}" if format_name else ""
            start = f"\n{_start(source)}" if isinstance(error, FormatError) else ""
            raise UnreadableError(f"{error.message}{hint}{tried}{start}") from error
        if not reading.benchmarks:
            raise UnreadableError(f"{self._name} has no benchmarks\n{_start(source)}")
        return known.name, reading

    def _source(self) -> ForeignFile:
        """What this run has written: nothing that was there before."""
        if self._path is not None:
            return self._written(self._path, self._before)
        written = sorted(self._folder.iterdir())
        if len(written) == 1:
            return self._written(written[0], {})
        return self._written(self._folder, {})

    def _written(self, path: Path, before: Mapping[Path, _Stamp]) -> ForeignFile:
        fresh = {file for file, stamp in _stamps(path).items() if before.get(file) != stamp}
        if not path.is_dir():
            data = read_bytes(path, limit_bytes=self._limit_bytes) if path in fresh else b""
            return ForeignFile(self._name, data)
        files = read_below(path, fresh.__contains__, limit_bytes=self._limit_bytes)
        if len(files) == 1:
            return ForeignFile(self._name, next(iter(files.values())))
        return ForeignFile(self._name, files=files)


def why_no_format(name: str | None) -> str:
    """Say that there is no format of this name; "" if there is, or if none is named."""
    if name in {None, *NAMES}:
        return ""
    return f"there is no such format{did_you_mean(name or '', NAMES)}"


def _stamps(path: Path) -> dict[Path, _Stamp]:
    """The stamps of a file, or of all files in a folder; nothing if there is none."""
    files = [path]
    if path.is_dir():
        files = [file for file in path.rglob("*") if not file.is_symlink()]
    found = {}
    for file in files:
        if file.is_file():
            seen = file.stat()
            found[file] = _Stamp(seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return found


def _start(source: ForeignFile) -> str:
    """The first lines of a file, or the names of the first files of a folder."""
    if source.files:
        names = list(source.files)[:_LINES_OF_FILE_SHOWN]
        more = (
            f" and {len(source.files) - len(names)} more" if len(source.files) > len(names) else ""
        )
        return f"it has {', '.join(names)}{more}"
    lines = source.head.decode(errors="replace").splitlines()[:_LINES_OF_FILE_SHOWN]
    return "\n".join(["it begins with:", *(line[:_CHARACTERS_SHOWN] for line in lines)])


_LINES_SHOWN = 10
_ANY_EXIT_CODE = frozenset(range(256))
_RESERVED = CANARY_IDS | {CHANGED_FILES_ID}


@dataclass(frozen=True, slots=True, eq=False)
class SuiteRun:
    """What one run reported.

    Attributes:
        format: NAME of the format.
        tool: name and version of the tool, as far as it tells them.
        benchmarks: by id, with the group; some may have failed.
        skipped: what could not be read, one sentence each.
        trouble: why the run as a whole is doubtful although it could be read: it exited with a
            code that is not allowed, and none of its benchmarks failed; "" if it is not.
        notes: what a reader of its numbers must see.
        took_s: how long it ran.
    """

    format: str
    tool: str
    benchmarks: Mapping[str, BenchmarkResult]
    skipped: tuple[str, ...]
    trouble: str
    notes: tuple[str, ...]
    took_s: float

    def trouble_beside(self, known: Container[str]) -> str:
        """What is wrong with the run, unless a failed benchmark that has a row explains it.

        Args:
            known: the benchmarks that have a row.
        """
        failures = (id_ for id_, one in self.benchmarks.items() if one.status is Status.FAILED)
        return "" if any(id_ in known for id_ in failures) else self.trouble


def run_suite(
    suite: SuiteBenchmark,
    arm: Arm,
    command: ArmCommand,
    format_name: str | None,
    execute: Callable[[ArmCommand], tuple[Execution, tuple[str, ...]]],
    *,
    folder: Path,
) -> SuiteRun:
    """Run a suite once in one arm, and read what it reports.

    Args:
        format_name: the format of the results; None to recognize it.
        execute: runs a command; returns also notes that a reader of the numbers must see.
        folder: an empty folder for its output; it is removed.

    Raises:
        RunFailedError: it did not end well, and reported nothing that can be read.
    """
    ok_codes = command.ok_exit_codes
    command = replace(command, ok_exit_codes=_ANY_EXIT_CODE)
    output = RunOutput(folder, command, suite.output, max_mib=suite.max_mib, ok_exit_codes=ok_codes)
    try:
        started_s = time.perf_counter()
        execution, notes = execute(output.command)
        took_s = time.perf_counter() - started_s
        trouble = trouble_with(execution, ok_codes) or ""
        try:
            name, reading = output.read(format_name)
        except UnreadableError as error:
            why = f"{trouble}\n{error}" if trouble else _with_tail(str(error), execution)
            raise RunFailedError(why) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = _named(name, reading, arm, suite.group)
    return SuiteRun(name, reading.tool, found, reading.skipped, trouble, notes, took_s)


def _named(tool: str, reading: Reading, arm: Arm, group: str | None) -> dict[str, BenchmarkResult]:
    """The benchmarks by ids that are the same in both arms, and under the group."""
    prefix = "" if group is None else f"{group}/"
    found: dict[str, BenchmarkResult] = {}
    for one in reading.benchmarks:
        id_ = f"{prefix}{arm.generalize(one.id)}"
        if id_ in found:
            found[id_] = failed(tool, id_, "the suite reported two benchmarks of this name")
        elif id_ in _RESERVED:
            why = "benchgate uses this name itself: set `group`"
            found[f"{tool}/{id_}"] = failed(tool, id_, why)
        else:
            found[id_] = one
    return found


def version_of(tool: str, one: BenchmarkResult) -> str:
    """The tool's own hash of what a benchmark does; "" if it has none."""
    return one.workload.removeprefix(f"{tool}:").removeprefix(one.id).removeprefix("@")


def values_of(one: BenchmarkResult) -> tuple[MetricSamples, ...]:
    """One value of each metric: a run is one launch, however many samples it took.

    The value is the median of the samples, or the number that the tool reports. If the tool itself
    starts several processes, it is the median of theirs.
    """
    return tuple(_value(series) for series in one.series if series.launches)


def notes_of(one: BenchmarkResult) -> tuple[str, ...]:
    """The notes on its numbers, except for what does not matter to a median."""
    return tuple(note for note in one.notes if note != SORTED)


def _value(series: Series) -> MetricSamples:
    medians = [np.median(launch.samples) for launch in series.launches]
    metric = series.metric
    if metric.kind is Kind.SUMMARY:  # there are several runs, and so several of these
        metric = replace(metric, kind=Kind.SAMPLED)
    return MetricSamples.single(metric, float(np.median(medians)))


def _with_tail(error: str, execution: Execution) -> str:
    """Add the last lines that it printed, unless the error shows them already."""
    lines = execution.output_tail.strip().splitlines()[-_LINES_SHOWN:]
    tail = "\n".join(line[:_CHARACTERS_SHOWN] for line in lines)
    return f"{error}\nit printed:\n{tail}" if tail and tail not in error else error
