"""The benchmarks of a file: read row by row, so that one that cannot be read fails alone."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.contents import RowError, shown
from benchgate.json_object import MAX_NAME
from benchgate.model.launch_table import LARGEST, Launch
from benchgate.model.metrics import TIME, Better, Kind, Metric
from benchgate.model.notes import UNREADABLE
from benchgate.model.run import BenchmarkResult, Series, Source, Status, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.model.environment import Environment

SORTED = "time: the tool sorted the samples"
"""The note on a benchmark whose samples say nothing about drift and warmup: their order is lost."""

MEAN_TIME = Metric(TIME.name, TIME.unit, kind=Kind.SUMMARY)
"""The mean or the median of times, of which the file does not have each."""

_FULL_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_WARMUP: FloatArray = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a file of another tool says.

    Attributes:
        tool: name and version of the tool, as far as the file tells them.
        benchmarks: with distinct ids, in the order of the file.
        skipped: what was left out, with the place and the reason, one sentence for each.
        environments: the machines that it ran on, as far as the file tells; usually one.
        commits: what was measured, as far as the file tells; usually one.
    """

    tool: str
    benchmarks: tuple[BenchmarkResult, ...]
    skipped: tuple[str, ...] = ()
    environments: tuple[Environment, ...] = ()
    commits: tuple[Source, ...] = ()


def failed(tool: str, id_: str, why: str, *, notes: Iterable[str] = ()) -> BenchmarkResult:
    """A benchmark that failed under the tool.

    Args:
        why: one line, then more if there is more to tell.
    """
    id_ = id_[:MAX_NAME] or "(no name)"
    return BenchmarkResult(
        id_, f"{tool}:{id_}", Tier.STORED, status=Status.FAILED, error=why, notes=tuple(notes)
    )


def _unreadable(tool: str, id_: str, why: str, notes: Iterable[str] = ()) -> BenchmarkResult:
    return failed(tool, id_, why, notes=(UNREADABLE, *notes))


def sampled(
    metric: Metric,
    launches: Sequence[Sequence[float] | FloatArray],
    place: str | Sequence[str],
    *,
    loops: int = 1,
    scale: float = 1,
) -> Series:
    """Samples of a metric.

    Args:
        launches: the samples of each process of the tool, in order.
        place: of the samples in the file, for errors; one for each process if they differ.
        loops: operations in one sample, if the tool tells; the samples are their means already.
        scale: the unit of the samples, in base units.
    """
    if not launches:
        raise RowError(f"{place}: there are no samples" if place else "there are no samples")
    places = [place] * len(launches) if isinstance(place, str) else place
    checked = [
        _samples(each, where, metric.unit, scale)
        for each, where in zip(launches, places, strict=True)
    ]
    return Series(
        metric,
        max(1, loops),
        tuple(Launch(index, 0, each, _NO_WARMUP) for index, each in enumerate(checked)),
    )


def summary(
    name: str,
    unit: str,
    value: float,
    place: str,
    *,
    better: Better = Better.LOWER,
    kind: Kind = Kind.SUMMARY,
) -> Series:
    """One number that stands for samples that the file does not have; see `sampled`."""
    return sampled(Metric(name, unit, better, kind), [[value]], place)


def time_summary(value_s: float, place: str) -> Series:
    """The time of one operation, of which the file has only a mean or a median."""
    return sampled(MEAN_TIME, [[value_s]], place)


def numbers(values: Sequence[float] | FloatArray, place: str) -> FloatArray:
    """Numbers of the file as an array, which may be NaN or infinite; RowError if one is none."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = None
    # A list of booleans or of texts would become numbers, too.
    known = isinstance(values, np.ndarray) or {type(each) for each in values} <= {int, float}
    if array is None or array.ndim != 1 or not known:
        raise RowError(f"{place}: is not a list of numbers")
    return array


def _samples(
    values: Sequence[float] | FloatArray, place: str, unit: str, scale: float
) -> FloatArray:
    array = numbers(values, place)
    if not array.size:
        raise RowError(f"{place}: there are no samples")
    plausible = np.abs(array) <= LARGEST / max(scale, 1)
    if unit == "s":
        plausible &= array >= 0
    if not plausible.all():
        index = int(np.argmin(plausible))
        why = (
            "is negative, which a time cannot be" if array[index] < 0 else "is not a possible value"
        )
        raise RowError(f"{place}[{index}]: {array[index]} {why}")
    array = array * scale
    array.setflags(write=False)
    return array


def distinct(tool: str, found: Iterable[BenchmarkResult]) -> tuple[BenchmarkResult, ...]:
    """Let an id that a file has several times fail: nobody knows which of them is meant."""
    by_id: dict[str, list[BenchmarkResult]] = {}
    for each in found:
        by_id.setdefault(each.id, []).append(each)
    return tuple(
        same[0]
        if len(same) == 1
        else _unreadable(tool, id_, f"the file has {len(same)} benchmarks of this name")
        for id_, same in by_id.items()
    )


_MOST_LOOPS = 2.0**53


def means(
    totals: Sequence[float], loops: Sequence[float], scale: float, place: str
) -> tuple[FloatArray, int]:
    """The means per operation of samples that took several operations, and their usual number.

    Args:
        loops: operations of each sample.
        scale: the unit of the totals, in base units.
    """
    if len(totals) != len(loops):
        raise RowError(f"{place}: has {len(totals)} values but {len(loops)} numbers of iterations")
    with np.errstate(all="ignore"):  # what is impossible fails as a sample
        found: FloatArray = numbers(totals, place) * scale / numbers(loops, place)
    return found, usual_loops(loops)


def usual_loops(loops: Sequence[float]) -> int:
    """The median of the numbers of operations in samples, of those that are possible."""
    possible = sorted(each for each in loops if 1 <= each < _MOST_LOOPS)
    middle = len(possible) // 2
    return int((possible[middle] + possible[~middle]) / 2) if possible else 1


APPEND = "Append the output of several runs to one file with `>>`: each of them is a launch."
"""For tools whose outputs may follow each other in a file."""


@dataclass(slots=True)
class ReadRow:
    """A benchmark while it is read. Whoever cannot read it raises a RowError.

    Attributes:
        id: the tool's own name for it, stable between two runs of the tool.
        version: the tool's own hash of what the benchmark does, if it has one; without it, that is
            known by the id alone.
    """

    id: str = ""
    series: list[Series] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str | None = None

    def samples(
        self, node: Node, metric: Metric = TIME, *, loops: int = 1, scale: float = 1
    ) -> None:
        """Add the samples of a list, which are of one launch; see `sampled`."""
        self.series.append(sampled(metric, [node.list], node.place, loops=loops, scale=scale))

    def value(self, metric: Metric, value: float, place: str, *, scale: float = 1) -> None:
        """Add the only value of a metric."""
        self.series.append(sampled(metric, [[value]], place, scale=scale))

    def time(self, node: Node, scale: float = 1) -> None:
        """Add the mean or the median of times that the file does not have."""
        self.series.append(time_summary(node.number * scale, node.place))

    def result(self, tool: str) -> BenchmarkResult:
        """The benchmark; RowError if a name is empty or too long, or a metric is there twice."""
        names: set[str] = set()
        for name in (each.metric.name for each in self.series):
            _check_name(name, "a metric")
            if name in names:
                raise RowError(f"the metric {shown(name)} is there twice")
            names.add(name)
        _check_name(self.id, "the benchmark")
        workload = f"{tool}:{self.id}" + ("" if self.version is None else f"@{self.version}")
        notes = tuple(self.notes)
        return BenchmarkResult(self.id, workload, Tier.STORED, tuple(self.series), notes=notes)


def _check_name(name: str, whose: str) -> None:
    if not name.strip():
        raise RowError(f"{whose} has no name")
    if len(name) > MAX_NAME:
        raise RowError(f"the name of {whose} has {len(name)} characters, more than {MAX_NAME}")


@dataclass(slots=True)
class ReadRows:
    """What was read of a file so far.

    Attributes:
        tool: the name of the format.
        version: of the tool; "" if the file does not tell.
        found: the benchmarks, in the order of the file.
        skipped: what was left out, with the place and the reason, one sentence for each.
        environments: the machines that it ran on, each once.
        commits: what was measured, each once.
    """

    tool: str
    version: str = ""
    found: list[BenchmarkResult] = field(default_factory=list)
    skipped: dict[str, None] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    commits: dict[Source, None] = field(default_factory=dict)

    @contextmanager
    def row(self, id_: str = "") -> Iterator[ReadRow]:
        """Read a benchmark; one without any series is left out."""
        row = ReadRow(id_)
        try:
            yield row
            if row.series:
                self.found.append(row.result(self.tool))
        except RowError as error:
            self.found.append(_unreadable(self.tool, row.id, str(error)))

    def fail(self, id_: str, why: str) -> None:
        """Add a benchmark that failed under the tool."""
        self.found.append(failed(self.tool, id_, why))

    def ran_on(self, environment: Environment) -> None:
        """Note a machine that the file names."""
        self.environments.setdefault(repr(environment), environment)

    def measured(self, sha: str, *, dirty: bool = False) -> None:
        """Note a commit that the file names."""
        if _FULL_SHA.fullmatch(sha):
            self.commits[Source(sha, dirty=dirty)] = None

    def skip(self, *sentences: str) -> None:
        """Say what was left out, once."""
        self.skipped.update(dict.fromkeys(sentences))


@dataclass(frozen=True, slots=True, eq=False)
class ForeignFormat:
    """What another tool writes.

    Attributes:
        name: what people call it, and what `--format` accepts.
        sniff: whether the content looks like this format; cheap, and never an error.
        read: reads the benchmarks; a RowError, too, says that the file as a whole is broken.
        command: what writes the best input, with FILE in the place of its name, for messages and
            for the docs; "" if no command does.
        has_samples: whether that holds samples; if not, every launch gives one value.
        launches: how one file can hold several launches, in a sentence; "" if it cannot.
    """

    name: str
    sniff: Callable[[ForeignFile], bool]
    read: Callable[[ForeignFile, ReadRows], None]
    command: str = ""
    has_samples: bool = True
    launches: str = ""

    def parse(self, source: ForeignFile) -> Reading:
        """Read the benchmarks; FormatError if the file as a whole is broken."""
        rows = ReadRows(self.name)
        with as_a_whole(source):
            self.read(source, rows)
        tool = f"{self.name} {rows.version}".rstrip()
        return Reading(
            tool,
            distinct(self.name, rows.found),
            tuple(rows.skipped),
            tuple(rows.environments.values()),
            tuple(rows.commits),
        )


def reads(
    name: str,
    command: str,
    sniff: Callable[[ForeignFile], bool],
    *,
    has_samples: bool = True,
    launches: str = "",
) -> Callable[[Callable[[ForeignFile, ReadRows], None]], ForeignFormat]:
    """Make a format of the function that reads it; see `ForeignFormat`."""
    return lambda read: ForeignFormat(name, sniff, read, command, has_samples, launches)


@contextmanager
def as_a_whole(source: ForeignFile) -> Iterator[None]:
    """Let the file be broken where no benchmark is."""
    try:
        yield
    except RowError as error:
        raise source.error("", str(error)) from None


def begins(
    first: bytes, *texts: bytes, near: tuple[int, bytes] = (0, b"")
) -> Callable[[ForeignFile], bool]:
    """Whether a file begins so, and its beginning has these texts.

    Args:
        near: a number of bytes, and a text that must be among the first of them.
    """

    def sniff(source: ForeignFile) -> bool:
        head = source.head
        has_all = near[1] in head[: near[0]] and all(text in head for text in texts)
        return head.startswith(first) and has_all

    return sniff


def join_readings(readings: Sequence[Reading], tool: str) -> tuple[BenchmarkResult, ...]:
    """Join the benchmarks of several files, which the same tool wrote one after the other.

    A benchmark that only some files have keeps the launches that there are, with a note. One that
    failed in any file has failed.

    Args:
        readings: at least one.
        tool: the name of the format.
    """
    by_id: dict[str, list[BenchmarkResult]] = {}
    for reading in readings:
        for each in reading.benchmarks:
            by_id.setdefault(each.id, []).append(each)
    return tuple(_joined(same, len(readings), tool) for same in by_id.values())


def _joined(same: Sequence[BenchmarkResult], files: int, tool: str) -> BenchmarkResult:
    first = same[0]
    if files == 1:
        return first
    faults = [each for each in same if each.status is Status.FAILED]
    if faults:
        return faults[0]
    notes = first.notes
    if len(same) < files:
        notes = (*notes, f"only {len(same)} of {files} files have it")
    names = dict.fromkeys(series.metric.name for each in same for series in each.series)
    try:
        series = tuple(_joined_series(name, same) for name in names)
    except ValueError as error:
        return _unreadable(tool, first.id, str(error), notes)
    return replace(first, series=series, notes=notes)


def _joined_series(name: str, same: Iterable[BenchmarkResult]) -> Series:
    """Join one metric; ValueError if its unit or kind differs between the files."""
    known = [series for one in same for series in one.series if series.metric.name == name]
    first = known[0]
    if any(each.metric != first.metric for each in known):
        raise ValueError(f"the files differ in the unit, direction or kind of {name}")
    launches = [launch for each in known for launch in each.launches]
    return replace(
        first, launches=tuple(replace(one, round=index) for index, one in enumerate(launches))
    )
