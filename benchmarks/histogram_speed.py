"""How fast the histogram counts, and in how much memory, compared with the package hdrhistogram.

Run it with `python benchmarks/histogram_speed.py`. Both count the same latencies in the same run;
hdrhistogram counts a sample of them. It does so with its `record_value`, and in its fastest way for
many values: once for each distinct value with its count. Its C code encodes, decodes and adds
histograms, but records nothing.
"""

from __future__ import annotations

import sys
import tracemalloc
from timeit import repeat
from typing import TYPE_CHECKING

import numpy as np
from hdrh.histogram import HdrHistogram

from benchgate.stats.histogram import HIGHEST_NS, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import IntArray

VALUES = 10_000_000
SAMPLE = 1_000_000
REPEATS = 3
SEED = 1
MEDIAN_NS = 1e6
FRACTIONS = (0.01, 0.5, 0.95, 0.99, 0.999, 0.9999)


def record_many(values: IntArray) -> Histogram:
    histogram = Histogram()
    histogram.record_many(values)
    return histogram


def record(values: list[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


def hdr_record(values: list[int]) -> HdrHistogram:
    histogram = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values:
        histogram.record_value(value)
    return histogram


def hdr_record_many(values: IntArray) -> HdrHistogram:
    histogram = HdrHistogram(1, HIGHEST_NS, 3)
    distinct, counts = np.unique(values, return_counts=True)
    for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        histogram.record_value(value, count)
    return histogram


def best_ns(work: Callable[[], object], n: int) -> float:
    """The time for each of n values, in the fastest of a few executions."""
    return min(repeat(work, number=1, repeat=REPEATS)) * 1e9 / n


def extra_bytes(values: IntArray) -> int:
    """The most memory that counting takes beside the values and the histogram."""
    histogram = Histogram()
    tracemalloc.start()
    histogram.record_many(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def agree(values: IntArray) -> bool:
    """Print percentiles of both; whether all are within one sub-bucket, 1/1,024, of each other."""
    ours, theirs = record_many(values), hdr_record_many(values)
    expected = theirs.get_percentile_to_value_dict([100 * p for p in FRACTIONS])
    pairs = [(ours.percentile(p) or 0, expected[100 * p]) for p in FRACTIONS]
    for p, (our_ns, their_ns) in zip(FRACTIONS, pairs, strict=True):
        print(f"p{100 * p:g}: {our_ns:,} ns; hdrhistogram {their_ns:,} ns")
    return all(1024 * abs(our_ns - their_ns) <= their_ns for our_ns, their_ns in pairs)


def main() -> None:
    """Measure and print; exit with 1 where the percentiles differ."""
    rng = np.random.default_rng(SEED)
    values = np.rint(rng.lognormal(np.log(MEDIAN_NS), 0.5, VALUES)).astype(np.int64)
    sample = values[:SAMPLE]
    one_by_one = sample.tolist()
    print(f"{VALUES:,} latencies around {MEDIAN_NS / 1e6:g} ms; hdrhistogram {SAMPLE:,} of them")
    print(f"memory beside the histogram: {extra_bytes(values) / 1e6:.2f} MB at the most")
    our_many_ns = best_ns(lambda: record_many(values), VALUES)
    our_one_ns = best_ns(lambda: record(one_by_one), SAMPLE)
    their_one_ns = best_ns(lambda: hdr_record(one_by_one), SAMPLE)
    their_many_ns = best_ns(lambda: hdr_record_many(sample), SAMPLE)
    print(f"record_many: {our_many_ns:.1f} ns a value, {1e3 / our_many_ns:,.0f} million a second")
    print(f"  a loop of record_value {their_one_ns:.0f} ns, x {their_one_ns / our_many_ns:.0f}")
    print(f"  the distinct values {their_many_ns:.0f} ns, x {their_many_ns / our_many_ns:.0f}")
    print(f"record: {our_one_ns:.0f} ns a value")
    print(f"  record_value {their_one_ns:.0f} ns, x {their_one_ns / our_one_ns:.1f}")
    if not agree(sample):
        sys.exit("the percentiles differ by more than one sub-bucket")


if __name__ == "__main__":
    main()
