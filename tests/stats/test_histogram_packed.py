from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.histogram import MOST_VALUES, pack, unpack


def text_of(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


@given(st.lists(st.integers(0, 2**56 - 1), max_size=60))
def test_a_sample_comes_back_in_order(values: list[int]) -> None:
    packed = pack(np.array(values, dtype=np.int64))
    assert unpack(packed).tolist() == sorted(values)
    assert pack(unpack(packed)) == packed


def test_ten_thousand_latencies_take_about_two_bytes_each() -> None:
    values = np.random.default_rng(1).lognormal(np.log(1e6), 0.5, MOST_VALUES).astype(np.int64)
    packed = pack(values)
    assert len(packed) < 2.5 * MOST_VALUES
    assert unpack(packed).tolist() == sorted(values.tolist())


@pytest.mark.parametrize("value", [-1, 2**56, 2**63 - 1])
def test_a_number_out_of_range_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=r"2\*\*56 or more"):
        pack(np.array([value, 5]))


def test_so_are_more_than_a_sample_has() -> None:
    with pytest.raises(ValueError, match="at most 10000 numbers, and this one 10001"):
        pack(np.zeros(MOST_VALUES + 1, dtype=np.int64))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no base64!", "base64|digit"),
        ("é", "ASCII"),
        ("AAAA", "zlib"),
        (text_of(bytes(MOST_VALUES + 1)), "10001 numbers, which is more than 10000"),
        (text_of(bytes(50_000_000)), "more than 80000 bytes"),
        (text_of(b"\xff" * 7 + b"\x7f" + b"\x01"), r"2\*\*56 or more"),
        (text_of((b"\xff" * 7 + b"\x7f") * MOST_VALUES), r"2\*\*56 or more"),
        (text_of(b"\x80"), "cut off"),
    ],
)
def test_damaged_and_hostile_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unpack(text)


@given(st.binary(max_size=40))
def test_any_text_is_a_sample_or_refused(data: bytes) -> None:
    for text in (text_of(data), base64.b64encode(data).decode()):
        try:
            values = unpack(text)
        except ValueError:
            continue
        assert values.tolist() == sorted(values.tolist())
