"""Whatever a reader is given, it reads it or refuses it; `make fuzz` tries more."""

from __future__ import annotations

from itertools import islice

import pytest
from tests.fuzz.own_readers import OWN_READERS, OwnReader

from benchgate.formats.contents import ForeignFile

INPUTS = 200

each_reader = pytest.mark.parametrize("reader", OWN_READERS.values(), ids=list(OWN_READERS))


@each_reader
def test_some_of_what_is_damaged_was_good(reader: OwnReader) -> None:
    assert any(reader.check(ForeignFile("it", seed), 0) for seed in reader.seeds())


@each_reader
def test_what_was_once_too_much_is_fine_now(reader: OwnReader) -> None:
    for find in sorted(reader.finds.glob("*")):
        reader.check(ForeignFile("it", find.read_bytes()), 0)


@each_reader
def test_damaged_inputs_are_read_or_refused(reader: OwnReader) -> None:
    for index, source in enumerate(islice(reader.inputs(seed=0), INPUTS)):
        reader.check(source, index)


@each_reader
def test_nonsense_is_read_or_refused(reader: OwnReader) -> None:
    for data in (b"", b"\0" * 100, b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"9" * 5000):
        reader.check(ForeignFile("it", data), 0)
