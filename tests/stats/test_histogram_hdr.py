from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.histogram import BUCKETS, HIGHEST_NS, Histogram, decode, encode

durations = st.one_of(st.integers(0, 3000), st.integers(0, 41).map(lambda bits: 2**bits - 1))


def histogram_of(values: list[int]) -> Histogram:
    histogram = Histogram()
    histogram.record_many(np.array(values, dtype=np.int64))
    return histogram


def text_of(counts: bytes, *, highest: int = HIGHEST_NS, size: int | None = None) -> str:
    size = len(counts) if size is None else size
    header = struct.pack(">iiiiqqd", 0x1C849313, size, 0, 3, 1, highest, 1.0)
    body = zlib.compress(header + counts)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(body)) + body).decode()


@given(st.lists(durations, max_size=60))
def test_counts_come_back_and_are_written_as_before(values: list[int]) -> None:
    histogram = histogram_of(values)
    found = decode(encode(histogram))
    assert found.counts().tolist() == histogram.counts().tolist()
    assert found.count == len(values)
    assert encode(found) == encode(histogram)
    if values:
        assert found.min is not None
        assert found.max is not None
        assert found.min <= min(values)
        assert max(values) <= found.max < max(values) * (1 + 1 / 1024) + 1


@given(st.lists(durations, min_size=1, max_size=60), st.floats(0, 1))
def test_percentiles_are_those_of_the_buckets(values: list[int], p: float) -> None:
    histogram = histogram_of(values)
    before, after = histogram.percentile(p), decode(encode(histogram)).percentile(p)
    assert before is not None
    assert after is not None
    assert 1024 * abs(after - before) <= before


@given(st.lists(durations, max_size=60))
def test_hdrhistogram_reads_it(values: list[int]) -> None:
    reference = HdrHistogram.decode(encode(histogram_of(values)))
    assert reference.get_total_count() == len(values)
    assert (reference.significant_figures, reference.lowest_trackable_value) == (3, 1)
    assert reference.highest_trackable_value == HIGHEST_NS
    expected = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values:
        assert expected.record_value(value)
    fractions = [0, 10, 50, 90, 99, 99.9, 100]
    assert reference.get_percentile_to_value_dict(fractions) == (
        expected.get_percentile_to_value_dict(fractions)
    )


@given(st.lists(durations, max_size=60))
def test_it_reads_what_hdrhistogram_writes(values: list[int]) -> None:
    reference = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values:
        assert reference.record_value(value)
    found = decode(reference.encode().decode())
    assert found.counts().tolist() == histogram_of(values).counts().tolist()


def test_a_million_latencies_take_a_few_kilobytes() -> None:
    values = np.random.default_rng(1).lognormal(np.log(1e6), 0.5, 1_000_000).astype(np.int64)
    histogram = Histogram()
    histogram.record_many(values)
    assert len(encode(histogram)) < 20_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "too short"),
        ("no base64!", "base64|digit"),
        ("HISTFAAA", "too short"),
        (base64.b64encode(bytes(20)).decode(), "compressed form V2"),
        (base64.b64encode(struct.pack(">ii", 0x1C849314, 5) + b"four").decode(), "5 bytes"),
        (base64.b64encode(struct.pack(">ii", 0x1C849314, 4) + b"four").decode(), "zlib"),
        (text_of(b"\x02", highest=1000), "another layout"),
        (text_of(b"\x02", size=7), "should have 7 bytes of counts"),
        (text_of(b"\x80"), "cut off"),
        (text_of(b"\x02" * (BUCKETS + 1)), "more counts than the layout has"),
        (text_of(b"\xff" * 7 + b"\x7f"), "more counts than the layout has"),
        (text_of(b"\xfe" + b"\xff" * 6 + b"\x7f"), r"2\*\*53 values or more"),
        (text_of(bytes(50_000_000)), "expands to more"),
    ],
)
def test_damaged_and_hostile_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(text)


@given(st.binary(max_size=60))
def test_any_counts_are_a_histogram_or_refused(data: bytes) -> None:
    try:
        found = decode(text_of(data))
    except ValueError:
        return
    assert found.count == found.counts().sum() >= 0
