"""Criterion.rs: what it stores, and what it prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.errors import FormatError
from benchgate.formats.contents import (
    RowError,
    amount_in,
    read_json,
    read_lines,
    read_table,
    shown,
    time_in,
    unread,
)
from benchgate.formats.origin import built_by_cargo
from benchgate.formats.rows import means, reads, sampled, summary, time_summary
from benchgate.model.metrics import TIME, Better, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows

_NAME, _SAMPLE, _RAW = "benchmark.json", "sample.json", "raw.csv"
_TIME = "time:   ["
_RATE = "thrpt:  ["
_LINE = re.compile(rb"(?:^|[ \t])time:   \[[^\]%\n]+\]\r?$", re.MULTILINE)
_PROGRESS = re.compile(r"Benchmarking (.+?)(?:: (?:Profiling|Warming up|Collecting|Analyzing).*)?")


def _is_criterion(source: ForeignFile) -> bool:
    is_printed = _LINE.search(source.head) is not None
    return is_printed or any(f"{run}{_NAME}" in source.files for run in _runs(source))


@reads("criterion", "cargo bench, which writes target/criterion", _is_criterion)
def criterion(source: ForeignFile, rows: ReadRows) -> None:
    """Criterion.rs: the folder `target/criterion`, or a part of it; or what a benchmark prints.

    The folder of a benchmark has its latest run in `new`: `benchmark.json` has its name, and
    `sample.json` the total time of each sample, in nanoseconds, beside its number of iterations. A
    measurement other than time names its unit in `raw.csv` alone. `base` is a copy of the run, and
    other folders are runs that were saved under a name.
    """
    if not source.files:
        _read_printed(source, rows)
        return
    found = _runs(source)
    runs = [run for run in found if run in {"", "new/"} or run.endswith("/new/")]
    if not runs:
        raise RowError(f"has no new/{_SAMPLE}; expected a folder such as target/criterion")
    for name in sorted({run.split("/")[-2] for run in found if run} - {"new", "base"}):
        rows.skip(f"the saved run {name}: benchgate reads only the latest run")
    for run in runs:
        with rows.row(run.removesuffix("new/").removesuffix("/")) as row:
            try:
                row.id = _stored(source, run + _NAME)["full_id"].text
                sample = _stored(source, run + _SAMPLE)
                unit = _unit(source, run)
            except FormatError as error:
                raise RowError(str(error)) from None
            totals = sample["times"]
            scale, metric = (1e-9, TIME) if unit == "ns" else (1.0, Metric("measurement", unit))
            values, loops = means(totals.list, sample["iters"].list, scale, totals.place)
            row.series.append(sampled(metric, [values], totals.place, loops=loops))


def _runs(source: ForeignFile) -> list[str]:
    """The folders with samples, with "/" at the end; "" for the folder itself."""
    ends = (f"/{_SAMPLE}", f"/{_NAME}")
    found = (path for path in source.files if f"/{path}".endswith(ends))
    return list(dict.fromkeys(path[: path.rfind("/") + 1] for path in found))


def _stored(source: ForeignFile, path: str) -> Node:
    if path not in source.files:
        raise RowError(f"{path}: is missing")
    return read_json(source.file(path))


def _unit(source: ForeignFile, run: str) -> str:
    """The unit of the samples; nanoseconds if nothing else is said."""
    if run + _RAW not in source.files:
        return "ns"
    raw = source.file(run + _RAW)
    _, cells = next(read_table(raw, raw.text()), ("", {}))
    return cells.get("unit") or "ns"


@dataclass(frozen=True, slots=True)
class _Printed:
    """A line with times.

    Attributes:
        values: what follows the bracket.
        rates: what follows the brackets of the rates below it, with their places.
    """

    id: str
    place: str
    values: str
    rates: list[tuple[str, str]] = field(default_factory=list)


def _read_printed(source: ForeignFile, rows: ReadRows) -> None:
    """What a benchmark prints for people: an interval of the time, and of a rate.

        fib 20                  time:   [26.029 us 26.251 us 26.505 us]

    A longer id has a line of its own. The number in the middle is read. Lines about the change
    since the last run look like this, too; they have percentages.
    """
    rows.ran_on(built_by_cargo(source))
    found: list[_Printed] = []
    started: dict[str, str] = {}
    last = ""
    for place, line in read_lines(source):
        before, sign, after = line.partition(_TIME)
        _, rate, rates = line.partition(_RATE)
        if sign and "%" not in after.partition("]")[0]:
            id_ = _id(before.strip() or last.strip(), started)
            started.pop(id_, None)
            if id_:
                found.append(_Printed(id_, place, after))
            else:
                rows.skip(unread(place, line))
        elif rate and found and "%" not in rates.partition("]")[0]:
            found[-1].rates.append((place, rates))
        elif progress := _PROGRESS.fullmatch(line):
            started[progress[1]] = place
        last = line
    for one in found:
        with rows.row(one.id) as row:
            time_s = time_in(_middle(one.values, one.place), one.place)
            row.series.append(time_summary(time_s, one.place))
            for at, text in one.rates:
                value, unit = amount_in(_middle(text, at), at)
                row.series.append(summary("throughput", unit, value, at, better=Better.HIGHER))
    for id_, place in started.items():
        rows.fail(id_, f"{place}: it printed no result")
    if not rows.found:
        raise RowError("has no line such as 'fib 20  time:   [26.0 us 26.2 us 26.5 us]'")


def _id(text: str, started: Iterable[str]) -> str:
    """The id at the end of a text: before it may be what the benchmark printed."""
    return max((id_ for id_ in started if text.endswith(id_)), key=len, default=text)


def _middle(text: str, place: str) -> str:
    """The middle one of three numbers with their units, before a bracket and nothing else."""
    values, bracket, rest = text.partition("]")
    words = values.split()
    if not bracket or rest.strip() or len(words) != 6:
        what = "is not three numbers with their units"
        raise RowError(f"{place}: the result cannot be read: {shown(text.strip())} {what}")
    return " ".join(words[2:4])
