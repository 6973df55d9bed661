"""What may come of a file of a tool, whatever is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.errors import FormatError
from benchgate.formats import FORMATS, find_format, read_as
from benchgate.json_object import MAX_NAME, MAX_TEXT
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import LARGEST
from benchgate.model.result import Result
from benchgate.model.run import Run, Status
from benchgate.model.run import Source as Code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import Reading
    from benchgate.model.run import BenchmarkResult, Series


def check_outcome(source: ForeignFile, name: str, *, whole: bool = True) -> bool:
    """Read a file: what is read must be sane, and what is not must be an error that names the file.

    Args:
        name: of the format.
        whole: also ask every other format whether it knows the file, and store what was read.

    Returns:
        Whether it was read.

    Raises:
        AssertionError: it was read, but not to something sane; or the error names no file.
    """
    found = find_format(source, name)
    assert found is not None
    for each in FORMATS if whole else (found,):
        assert isinstance(each.sniff(source), bool)
    try:
        reading = read_as(found, source)
    except FormatError as error:
        message = error.message
    else:
        _check_reading(reading, whole=whole)
        return True
    name_of_file, colon, what = message.partition(": ")
    assert (name_of_file, bool(colon)) == (source.name, True), message
    assert what.strip(), message
    return False


def _check_reading(reading: Reading, *, whole: bool) -> None:
    faults = list(_faults(reading))
    assert not faults, faults
    if whole:
        run = Run(Code(), "2026-01-01T00:00:00Z", Environment(), reading.benchmarks)
        decode_result(encode_result(Result(head=run, tool=reading.tool), str), "it")


def _faults(reading: Reading) -> Iterator[str]:
    ids = [each.id for each in reading.benchmarks]
    if len(set(ids)) < len(ids):
        yield "two benchmarks have one id"
    for text in (reading.tool, *reading.skipped):
        if not text.strip():
            yield f"no text: {text!r}"
    for one in reading.benchmarks:
        yield from _faults_of(one)


def _faults_of(one: BenchmarkResult) -> Iterator[str]:
    if not 0 < len(one.id) <= MAX_NAME:
        yield f"the id has {len(one.id)} characters"
    if one.status is Status.FAILED:
        if not one.error or one.series:
            yield f"{one.id}: it failed without a reason, or has values"
    elif not one.series:
        yield f"{one.id}: it has no values"
    for each in one.series:
        yield from (f"{one.id}: {each.metric.name}: {fault}" for fault in _faults_in(each))


def _faults_in(series: Series) -> Iterator[str]:
    metric = series.metric
    if not metric.name.strip() or len(metric.unit) > MAX_TEXT or series.loops < 1:
        yield "no name, a long unit or no loops"
    for launch in series.launches:
        values = launch.samples
        if values.ndim != 1 or not values.size or values.dtype != np.float64:
            yield f"an array of shape {values.shape} of {values.dtype}"
        elif not np.all(np.abs(values) <= LARGEST) or (metric.unit == "s" and values.min() < 0):
            yield f"not possible: {values.min()} to {values.max()}"
    if [launch.round for launch in series.launches] != list(range(len(series.launches))):
        yield "the launches are not numbered"
