"""What holds for every format, tried on genuine files of the tools."""

from __future__ import annotations

import os
from dataclasses import fields
from itertools import islice
from pathlib import Path
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
    from tests.formats.cases import Case

    from benchgate.formats.rows import ForeignFormat, Reading
    from benchgate.model.run import BenchmarkResult

INPUTS = 300
"""`make fuzz` tries more."""
EXPECTED = Path(__file__).parent / "expected"
"""What is read of each sample. `UPDATE_GOLDEN=1` writes it; read the difference."""
NAMED_BY_USERS = {"customSmallerIsBetter", "customBiggerIsBetter"}
"""Nothing in a file tells these formats."""

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)


def read(source: ForeignFile, name: str) -> Reading:
    found = find_format(source, name)
    assert found is not None
    return found.parse(source)


def described(row: BenchmarkResult) -> tuple[str, ...] | str:
    """Describe each series; of a failed row, give its error."""
    if row.error is not None:
        return row.error
    return tuple(
        f"{s.metric.name} {s.metric.unit} {s.metric.better} {s.metric.kind} "
        f"{len(s.launches)}x{len(s.launches[0].samples)} loops={s.loops} "
        f"{s.launches[0].samples[0]:.4g}"
        for s in row.series
    )


def told(environment: Environment) -> str:
    """What an environment tells, as text."""
    found = {one.name: getattr(environment, one.name) for one in fields(environment)}
    return ", ".join(f"{name}={value}" for name, value in found.items() if value)


def text_of(reading: Reading) -> str:
    """A line for the tool, each origin, each thing that was skipped, and each series."""
    lines = [
        f"tool: {reading.tool}",
        *(f"machine: {told(each)}" for each in reading.environments),
        *(f"commit: {each.sha}" for each in reading.commits),
        *(f"skipped: {each}" for each in reading.skipped),
    ]
    for row in reading.benchmarks:
        said = described(row)
        series = [f"failed: {said!r}"] if isinstance(said, str) else said
        lines += [f"{row.id} | {each}" for each in series]
    return "".join(f"{line}\n" for line in lines)


@each_case
def test_a_genuine_file_is_read_as_a_whole(case: Case) -> None:
    golden = EXPECTED / f"{case.path}.txt"
    text = text_of(read(case.source(), case.format))
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_each_expected_reading_is_that_of_a_file() -> None:
    found = {each.relative_to(EXPECTED).as_posix() for each in EXPECTED.rglob("*.txt")}
    assert found == {f"{case.path}.txt" for case in CASES}


@each_case
def test_a_genuine_file_names_one_machine_at_most(case: Case) -> None:
    known = Environment()
    for one in read(case.source(), case.format).environments:
        assert not known.differences(one)
        known = known.completed(one)


@each_case
def test_one_format_alone_recognizes_a_file(case: Case) -> None:
    source = case.source()
    expected = [] if case.format in NAMED_BY_USERS else [case.format]
    assert [each.name for each in FORMATS if each.sniff(source)] == expected


@each_case
def test_what_is_read_can_be_stored(case: Case) -> None:
    reading = read(case.source(), case.format)
    run = Run(Code(), "2026-01-01T00:00:00Z", Environment(), reading.benchmarks)
    stored = decode_result(encode_result(Result(head=run, tool=reading.tool), str), "it")
    assert [b.id for b in stored.head.benchmarks] == [b.id for b in reading.benchmarks]


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
    has_command = known.name not in {"bencher", *NAMED_BY_USERS}
    assert bool(known.command) is has_command


def test_every_format_has_a_genuine_file() -> None:
    assert {case.format for case in CASES} == set(NAMES)
