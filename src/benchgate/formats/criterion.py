"""Criterion.rs: the folder `target/criterion`, or a part of it; or what a benchmark prints.

The folder of a benchmark has its latest run in `new`: `benchmark.json` has its name, and
`sample.json` the total time of each sample, in nanoseconds, beside its number of iterations. A
measurement other than time names its unit in `raw.csv` alone. `base` is a copy of the run, and
other folders are runs that were saved under a name.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from benchgate.errors import FormatError
from benchgate.formats.best_input import Advice
from benchgate.formats.criterion_text import is_printed, read_printed
from benchgate.formats.means import means
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    times,
)
from benchgate.model.run import Metric

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "criterion"
ADVICE = Advice("cargo bench, which writes target/criterion")

_NAME, _SAMPLE, _RAW = "benchmark.json", "sample.json", "raw.csv"


def sniff(source: Source) -> bool:
    """Whether the content is a folder that Criterion wrote, or what it printed."""
    return is_printed(source) or any(f"{run}{_NAME}" in source.files for run in _runs(source))


def parse(source: Source) -> Reading:
    """Read the latest run of each benchmark.

    Raises:
        FormatError: there is none.
    """
    if not source.files:
        return read_printed(NAME, source)
    runs = [run for run in _runs(source) if run in {"", "new/"} or run.endswith("/new/")]
    if not runs:
        raise source.error("", f"has no new/{_SAMPLE}; expected a folder such as target/criterion")
    saved = {run.split("/")[-2] for run in _runs(source) if run} - {"new", "base"}
    skipped = [
        f"the saved run {each}: benchgate reads only the latest run" for each in sorted(saved)
    ]
    rows = distinct(NAME, (_benchmark(source, run) for run in runs))
    return Reading(NAME, rows, tuple(skipped))


def _runs(source: Source) -> list[str]:
    """The folders with samples, with "/" at the end; "" for the folder itself."""
    ends = (f"/{_SAMPLE}", f"/{_NAME}")
    found = (path for path in source.files if f"/{path}".endswith(ends))
    return list(dict.fromkeys(path[: path.rfind("/") + 1] for path in found))


def _benchmark(source: Source, run: str) -> BenchmarkResult:
    id_ = run.removesuffix("new/").removesuffix("/")
    try:
        id_ = _read(source, run + _NAME)["full_id"].text
        sample = _read(source, run + _SAMPLE)
        return benchmark(NAME, id_, [_series(sample, _unit(source, run))])
    except (RowError, FormatError) as error:
        return failed(NAME, id_, str(error))


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


def _series(sample: Node, unit: str) -> Series:
    totals, loops = sample["times"], sample["iters"]
    scale = 1e-9 if unit == "ns" else 1.0
    found, usual = means(totals.list, loops.list, scale, totals.place)
    if unit == "ns":
        return times([found], totals.place, loops=usual)
    return sampled(Metric("measurement", unit), [found], totals.place, loops=usual)
