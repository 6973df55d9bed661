"""Criterion.rs: what it stores, and what it prints.

The folder of a benchmark has its latest run in `new`: `benchmark.json` has its name, and
`sample.json` the total time of each sample, in nanoseconds, beside its number of iterations. A
measurement other than time names its unit in `raw.csv` alone. `base` is a copy of the run, and
other folders are runs that were saved under a name.

fib 20                  time:   [26.029 us 26.251 us 26.505 us]

A longer id has a line of its own. The number in the middle is read. Lines about the change since
the last run look like this, too; they have percentages.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.errors import FormatError
from benchgate.formats.contents import amount_in, read_json, read_lines, time_in
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    means,
    sampled,
    shown,
    summary,
    time_summary,
    times,
)
from benchgate.model.run import Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


_TIME = "time:   ["
_RATE = "thrpt:  ["
_LINE = re.compile(rb"(?:^|[ \t])time:   \[[^\]%\n]+\]\r?$", re.MULTILINE)
_PROGRESS = re.compile(r"Benchmarking (.+?)(?:: (?:Profiling|Warming up|Collecting|Analyzing).*)?")


def is_printed(source: Source) -> bool:
    """Whether the content is what benchmarks of Criterion.rs printed."""
    return _LINE.search(source.head) is not None


def read_printed(tool: str, source: Source) -> Reading:
    """Read an output.

    Raises:
        FormatError: it has no benchmark.
    """
    found: list[_CriterionRow] = []
    skipped: list[str] = []
    started: dict[str, str] = {}
    last = ""
    for place, line in read_lines(source):
        before, sign, after = line.partition(_TIME)
        _, rate, rates = line.partition(_RATE)
        if sign and "%" not in after.partition("]")[0]:
            id_ = _id(before.strip() or last.strip(), started)
            started.pop(id_, None)
            if id_:
                found.append(_CriterionRow(id_, place, after))
            else:
                skipped.append(f"{place}: the result cannot be read: {shown(line.strip())}")
        elif rate and found and "%" not in rates.partition("]")[0]:
            found[-1].rates.append((place, rates))
        elif progress := _PROGRESS.fullmatch(line):
            started[progress[1]] = place
        last = line
    rows = [_printed_benchmark(tool, one) for one in found]
    rows += [failed(tool, id_, f"{at}: it printed no result") for id_, at in started.items()]
    if not rows:
        raise source.error("", "has no line such as 'fib 20  time:   [26.0 us 26.2 us 26.5 us]'")
    return Reading(tool, distinct(tool, rows), tuple(skipped))


@dataclass(frozen=True, slots=True)
class _CriterionRow:
    """A line with times.

    Attributes:
        values: what follows the bracket.
        rates: what follows the brackets of the rates below it, with their places.
    """

    id: str
    place: str
    values: str
    rates: list[tuple[str, str]] = field(default_factory=list)


def _id(text: str, started: Iterable[str]) -> str:
    """The id at the end of a text: before it may be what the benchmark printed."""
    return max((id_ for id_ in started if text.endswith(id_)), key=len, default=text)


def _printed_benchmark(tool: str, found: _CriterionRow) -> BenchmarkResult:
    try:
        return benchmark(tool, found.id, list(_printed_series(found)))
    except RowError as error:
        return failed(tool, found.id, str(error))


def _printed_series(found: _CriterionRow) -> Iterator[Series]:
    place = found.place
    yield time_summary(time_in(_middle(found.values, place), place), place)
    for at, text in found.rates:
        rate, unit = amount_in(_middle(text, at), at)
        yield summary("throughput", unit, rate, at, better=Better.HIGHER)


def _middle(text: str, place: str) -> str:
    """The middle one of three numbers with their units, before a bracket and nothing else."""
    values, bracket, rest = text.partition("]")
    words = values.split()
    if not bracket or rest.strip() or len(words) != 6:
        what = "is not three numbers with their units"
        raise RowError(f"{place}: the result cannot be read: {shown(text.strip())} {what}")
    return " ".join(words[2:4])


_CRITERION_NAME = "criterion"
_CRITERION_ADVICE = Advice("cargo bench, which writes target/criterion")

_NAME, _SAMPLE, _RAW = "benchmark.json", "sample.json", "raw.csv"


def _is_criterion(source: Source) -> bool:
    """Whether the content is a folder that Criterion wrote, or what it printed."""
    return is_printed(source) or any(f"{run}{_NAME}" in source.files for run in _runs(source))


def _parse_criterion(source: Source) -> Reading:
    """Read the latest run of each benchmark.

    Raises:
        FormatError: there is none.
    """
    if not source.files:
        return read_printed(_CRITERION_NAME, source)
    runs = [run for run in _runs(source) if run in {"", "new/"} or run.endswith("/new/")]
    if not runs:
        raise source.error("", f"has no new/{_SAMPLE}; expected a folder such as target/criterion")
    saved = {run.split("/")[-2] for run in _runs(source) if run} - {"new", "base"}
    skipped = [
        f"the saved run {each}: benchgate reads only the latest run" for each in sorted(saved)
    ]
    rows = distinct(_CRITERION_NAME, (_criterion_benchmark(source, run) for run in runs))
    return Reading(_CRITERION_NAME, rows, tuple(skipped))


def _runs(source: Source) -> list[str]:
    """The folders with samples, with "/" at the end; "" for the folder itself."""
    ends = (f"/{_SAMPLE}", f"/{_NAME}")
    found = (path for path in source.files if f"/{path}".endswith(ends))
    return list(dict.fromkeys(path[: path.rfind("/") + 1] for path in found))


def _criterion_benchmark(source: Source, run: str) -> BenchmarkResult:
    id_ = run.removesuffix("new/").removesuffix("/")
    try:
        id_ = _read(source, run + _NAME)["full_id"].text
        sample = _read(source, run + _SAMPLE)
        return benchmark(_CRITERION_NAME, id_, [_criterion_series(sample, _unit(source, run))])
    except (RowError, FormatError) as error:
        return failed(_CRITERION_NAME, id_, str(error))


def _read(source: Source, path: str) -> Node:
    if path not in source.files:
        raise RowError(f"{path}: is missing")
    return read_json(source.file(path))


def _unit(source: Source, run: str) -> str:
    """The unit of the samples; nanoseconds if nothing else is said."""
    if run + _RAW not in source.files:
        return "ns"
    lines = io.StringIO(source.file(run + _RAW).text(), newline="")
    try:
        return next(csv.DictReader(lines), {}).get("unit") or "ns"
    except csv.Error as error:
        raise RowError(f"{run}{_RAW}: is not CSV: {error}") from None


def _criterion_series(sample: Node, unit: str) -> Series:
    totals, loops = sample["times"], sample["iters"]
    scale = 1e-9 if unit == "ns" else 1.0
    found, usual = means(totals.list, loops.list, scale, totals.place)
    if unit == "ns":
        return times([found], totals.place, loops=usual)
    return sampled(Metric("measurement", unit), [found], totals.place, loops=usual)


CRITERION = ForeignFormat(_CRITERION_NAME, _CRITERION_ADVICE, _is_criterion, _parse_criterion)
