"""Whether a benchmark reads or writes files, from what Linux counts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from benchgate.measure.workers import file_use
from benchgate.measure.workers.file_use import FileUse

if TYPE_CHECKING:
    from benchgate.measure.workers.worker import Worker


@dataclass
class Talking:
    """What a worker tells of itself."""

    pid: int = 1
    said_bytes: int = 0


@pytest.mark.parametrize(
    ("counters", "said_bytes", "uses_files"),
    [
        ([1000, 1000], 0, False),
        ([1000, 1900], 900, False),  # it only talked to benchgate
        ([1000, 1000 + 2560], 0, False),  # a little for each of ten samples
        ([1000, 1000 + 2561], 0, True),
        ([1000, 1000 + 3000], 500, False),
        ([1000, 900], 900, False),  # what it receives is not counted in every language
        ([None, 1000], 0, True),
        ([1000, None], 0, True),
    ],
)
def test_what_is_more_than_talk_is_a_file(
    monkeypatch: pytest.MonkeyPatch,
    counters: list[int | None],
    said_bytes: int,
    uses_files: bool,  # noqa: FBT001 - a column of the table
) -> None:
    values = iter(counters)
    monkeypatch.setattr(file_use, "bytes_of", lambda _: next(values))
    monkeypatch.setattr(file_use, "is_counted", lambda: True)
    worker = Talking()
    watched = FileUse(cast("Worker", worker))
    worker.said_bytes = said_bytes
    assert watched.has_used(10) is uses_files


def test_a_system_that_only_pretends_to_count_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file_use, "bytes_of", lambda _: 0)
    file_use.is_counted.cache_clear()
    try:
        assert FileUse(cast("Worker", Talking())).has_used(10)
    finally:
        file_use.is_counted.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="the OS does not count")
def test_this_systemis_counted() -> None:
    assert file_use.is_counted()
    assert file_use.bytes_of(2**22 + 1) is None
