"""What holds for every format, tried on genuine files of the tools."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from tests.formats.cases import CASES
from tests.formats.fuzz.command_line import check_command_line
from tests.formats.fuzz.inputs import crashers, inputs_of
from tests.formats.fuzz.sanity import check_outcome

from benchgate.formats import FORMATS, NAMES, find_format
from benchgate.formats.contents import ForeignFile
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.metrics import Kind
from benchgate.model.result import Result
from benchgate.model.run import Run
from benchgate.model.run import Source as Code

if TYPE_CHECKING:
    from tests.formats.case import Case

    from benchgate.formats.rows import ForeignFormat, Reading
    from benchgate.model.run import BenchmarkResult

INPUTS = 300
"""`make fuzz` tries more."""

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)


def read(source: ForeignFile, name: str) -> Reading:
    found = find_format(source, name)
    assert found is not None
    return found.parse(source)


def described(row: BenchmarkResult) -> tuple[str, ...] | str:
    if row.error is not None:
        return row.error
    return tuple(
        f"{s.metric.name} {s.metric.unit} {s.metric.better} {s.metric.kind} "
        f"{len(s.launches)}x{len(s.launches[0].samples)} loops={s.loops} "
        f"{s.launches[0].samples[0]:.4g}"
        for s in row.series
    )


@each_case
def test_a_genuine_file_is_read_as_a_whole(case: Case) -> None:
    reading = read(case.source(), case.format)
    assert {row.id: described(row) for row in reading.benchmarks} == case.rows
    assert (reading.tool, reading.skipped) == (case.tool, case.skipped)


@each_case
def test_one_format_alone_recognizes_a_file(case: Case) -> None:
    source = case.source()
    expected = [case.format] if case.is_recognized else []
    assert [each.name for each in FORMATS if each.sniff(source)] == expected


@each_case
def test_what_is_read_can_be_stored(case: Case) -> None:
    reading = read(case.source(), case.format)
    run = Run(Code(), "2026-01-01T00:00:00Z", Environment(), reading.benchmarks)
    data = encode_result(Result(head=run, tool=reading.tool), str)
    assert [b.id for b in decode_result(data, "it").head.benchmarks] == list(case.rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_an_error_or_a_failed_row(name: str) -> None:
    for source in islice(inputs_of(name, seed=0), INPUTS):
        check_outcome(source, name, whole=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_never_stops_a_command_halfway(name: str) -> None:
    for source in islice(inputs_of(name, seed=1), 3):
        check_command_line(source, name)


@pytest.mark.parametrize("case", crashers(), ids=lambda case: case.path)
def test_what_was_once_too_much_is_fine_now(case: Case) -> None:
    source = case.source()
    check_outcome(source, case.format)
    check_command_line(source, case.format)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe"]
)
def test_nonsense_is_never_recognized_and_never_a_crash(name: str, data: bytes) -> None:
    source = ForeignFile("it", data)
    assert find_format(source) is None
    check_outcome(source, name)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_the_advice_says_whether_a_tool_writes_samples(known: ForeignFormat) -> None:
    readings = [read(case.source(), case.format) for case in CASES if case.format == known.name]
    kinds = {s.metric.kind for one in readings for row in one.benchmarks for s in row.series}
    assert known.has_samples is (Kind.SAMPLED in kinds)
    has_command = known.name not in {"bencher", "customSmallerIsBetter", "customBiggerIsBetter"}
    assert bool(known.command) is has_command


def test_every_format_has_a_genuine_file() -> None:
    assert {case.format for case in CASES} == set(NAMES)
