"""What every format has in common: the content of a file, and the benchmarks that were read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.errors import FormatError
from benchgate.json_object import MAX_NAME
from benchgate.model.run import (
    LARGEST,
    TIME,
    BenchmarkResult,
    Better,
    Kind,
    Launch,
    Metric,
    Series,
    Status,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.arrays import FloatArray


_HEAD_BYTES = 64 << 10
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SORTED = "time: the tool sorted the samples"
"""The note on a benchmark whose samples say nothing about drift and warmup: their order is lost."""

MEAN_TIME = Metric(TIME.name, TIME.unit, kind=Kind.SUMMARY)
"""The mean or the median of times, of which the file does not have each."""

_NO_WARMUP: FloatArray = np.empty(0)
_TEXT_LIMIT = 200


class RowError(Exception):
    """One benchmark in a file cannot be read; the others can.

    Args:
        message: the place in the file, and what is wrong there.
    """


@dataclass(frozen=True, slots=True, eq=False)
class ForeignFile:
    """The content of a file, or of a folder if a tool writes several files.

    Attributes:
        name: its path, for messages.
        data: the file, expanded; empty for a folder.
        files: the files of a folder by their paths in it, with "/".
        ok_exit_codes: of programs that the tool ran; another one is a failure.
    """

    name: str
    data: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    ok_exit_codes: Collection[int] = (0,)

    @property
    def head(self) -> bytes:
        """The beginning of the file without a byte order mark and white space, for `sniff`."""
        start = self.data[:_HEAD_BYTES]
        for mark, encoding in _MARKS:
            if start.startswith(mark):
                return start.decode(encoding, "ignore").lstrip().encode()
        return start.lstrip()

    def text(self, errors: str = "strict") -> str:
        """The file as text: UTF-8, or what its byte order mark says.

        Args:
            errors: what becomes of a byte that is no UTF-8, as `bytes.decode` takes it.

        Raises:
            FormatError: it is not.
        """
        encoding = next((e for mark, e in _MARKS if self.data.startswith(mark)), "utf-8")
        is_utf_8 = encoding.startswith("utf-8")
        try:
            return self.data.decode(encoding, errors if is_utf_8 else "strict")
        except UnicodeDecodeError as error:
            raise self.error(f"byte {error.start}", f"is not {encoding.upper()} text") from None

    def file(self, path: str) -> ForeignFile:
        """One file of the folder."""
        return ForeignFile(f"{self.name}: {path}", self.files[path])

    def error(self, place: str, what: str, hint: str = "") -> FormatError:
        """An error that names the file and the place in it."""
        return FormatError(
            f"{self.name}: {place}: {what}" if place else f"{self.name}: {what}", hint=hint
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a file of another tool says.

    Attributes:
        tool: name and version of the tool, as far as the file tells them.
        benchmarks: with distinct ids, in the order of the file.
        skipped: what was left out, with the place and the reason, one sentence for each.
    """

    tool: str
    benchmarks: tuple[BenchmarkResult, ...]
    skipped: tuple[str, ...] = ()


def failed(tool: str, id_: str, why: str, *, notes: Iterable[str] = ()) -> BenchmarkResult:
    """A benchmark that failed under the tool, or that cannot be read.

    Args:
        why: one line, then more if there is more to tell.
    """
    id_ = id_[:MAX_NAME] or "(no name)"
    return BenchmarkResult(
        id_, f"{tool}:{id_}", Tier.STORED, status=Status.FAILED, error=why, notes=tuple(notes)
    )


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
    name: str, unit: str, value: float, place: str, *, better: Better = Better.LOWER
) -> Series:
    """One number that stands for samples that the file does not have; see `sampled`."""
    return sampled(Metric(name, unit, better, Kind.SUMMARY), [[value]], place)


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
        else failed(tool, id_, f"the file has {len(same)} benchmarks of this name")
        for id_, same in by_id.items()
    )


def shown(value: object) -> str:
    """A value of the file, short enough for a message."""
    text = repr(value)
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."


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
    faults = [each.error for each in same if each.status is Status.FAILED and each.error]
    if faults:
        return failed(tool, first.id, faults[0], notes=first.notes)
    notes = first.notes
    if len(same) < files:
        notes = (*notes, f"only {len(same)} of {files} files have it")
    names = dict.fromkeys(series.metric.name for each in same for series in each.series)
    try:
        series = tuple(_joined_series(name, same) for name in names)
    except ValueError as error:
        return failed(tool, first.id, str(error), notes=notes)
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
