from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.histogram import expanded, from_varints, to_varints

numbers = st.integers(0, 56).flatmap(lambda bits: st.integers(0, max(2**bits - 1, 0)))


def one_by_one(values: list[int]) -> bytes:
    """LEB128 as it is defined."""
    written = bytearray()
    for value in values:
        rest = value
        while rest >= 0x80:
            written.append(rest & 0x7F | 0x80)
            rest >>= 7
        written.append(rest)
    return bytes(written)


@given(st.lists(numbers, max_size=50))
def test_it_writes_leb128_and_reads_it_again(values: list[int]) -> None:
    written = to_varints(np.array(values, dtype=np.int64))
    assert written == one_by_one(values)
    assert from_varints(written).tolist() == values


@pytest.mark.parametrize("value", [-1, 2**56, 2**62])
def test_a_number_out_of_range_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=r"negative, or 2\*\*56 or more"):
        to_varints(np.array([1, value]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x80", "cut off"),
        (b"\x01\xff", "cut off"),
        (b"\xff" * 8 + b"\x01", "more than 8 bytes"),
        (b"\x01" + b"\x80" * 20 + b"\x01", "more than 8 bytes"),
    ],
)
def test_damaged_numbers_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_varints(data)


@given(st.binary(max_size=60))
def test_any_bytes_are_numbers_or_refused(data: bytes) -> None:
    try:
        values = from_varints(data)
    except ValueError:
        return
    assert values.size == 0 or 0 <= values.min() <= values.max() < 2**56


def test_it_expands_no_further_than_it_may() -> None:
    assert expanded(zlib.compress(bytes(1000)), 1000) == bytes(1000)
    bomb = zlib.compress(bytes(100_000_000))
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        expanded(bomb, 1000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut off"),
        (b"nothing of the kind", "not valid zlib data"),
        (zlib.compress(bytes(100))[:-1], "cut off"),
        (zlib.compress(bytes(100)) + b"more", "others follow"),
    ],
)
def test_damaged_data_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expanded(data, 1000)
