"""What holds for every format, tried on genuine files of the tools."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.formats.cases import CASES

from benchgate.errors import FormatError
from benchgate.formats.parsed import Source
from benchgate.formats.registry import FORMATS, NAMES, find_format
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run
from benchgate.model.run import Source as Code

if TYPE_CHECKING:
    from tests.formats.case import Case

    from benchgate.formats.parsed import Reading
    from benchgate.model.run import BenchmarkResult

MUTATIONS = 200

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)


def read(source: Source, name: str) -> Reading:
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
    assert [each.NAME for each in FORMATS if each.sniff(source)] == expected


@each_case
def test_what_is_read_can_be_stored(case: Case) -> None:
    reading = read(case.source(), case.format)
    run = Run(Code(), "2026-01-01T00:00:00Z", Environment(), reading.benchmarks)
    data = encode_result(Result(head=run, tool=reading.tool), str)
    assert [b.id for b in decode_result(data, "it").head.benchmarks] == list(case.rows)


def survives(source: Source, name: str) -> None:
    """A broken file is an error that names it, or some rows fail; nothing else happens."""
    for each in FORMATS:
        each.sniff(source)
    try:
        reading = read(source, name)
    except FormatError as error:
        assert error.message.startswith(f"{source.name}: ")  # noqa: PT017 - it may also be read
    else:
        run = Run(Code(), "2026-01-01T00:00:00Z", Environment(), reading.benchmarks)
        encode_result(Result(head=run, tool=reading.tool), str)


@each_case
def test_a_broken_file_is_an_error_or_a_failed_row(case: Case) -> None:
    rng = random.Random(case.path)  # noqa: S311 - to repeat the same faults
    source = case.source()
    contents = source.files or {"": source.data}
    for _ in range(MUTATIONS):
        name = rng.choice(sorted(contents))
        data = bytearray(contents[name])
        for _ in range(rng.choice((1, 1, 3, 10))):
            mutate(data, rng)
        changed = {**contents, name: bytes(data)}
        files = changed if source.files else {}
        survives(Source(case.path, b"" if files else bytes(data), files), case.format)


INSERTED = (b"NaN", b"-1", b"1e999", b"null", b'""', b"[]", b"{}", b"\xff", b"9" * 5000, b"true")


def mutate(data: bytearray, rng: random.Random) -> None:
    start, stop = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    match rng.randrange(4):
        case 0:  # cut off
            del data[start:]
        case 1 if data:
            data[min(start, len(data) - 1)] = rng.randrange(256)
        case 2:
            data[start:start] = rng.choice(INSERTED)
        case _:
            del data[start : min(stop, start + 20)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe"]
)
def test_nonsense_is_never_recognized_and_never_a_crash(name: str, data: bytes) -> None:
    source = Source("it", data)
    assert find_format(source) is None
    survives(source, name)


def test_every_format_has_a_genuine_file() -> None:
    assert {case.format for case in CASES} == set(NAMES)
