"""Bootstrap intervals from replicates, and summaries of streams."""

from __future__ import annotations

from random import Random

import numpy as np
from scipy import stats

from benchgate.stats.bootstrap import bca_interval, percentile_interval
from benchgate.stats.histogram import Histogram
from benchgate.stats.reservoir import Reservoir
from validation.agreement.case import Agreement, Draw, Pair

CONFIDENCE = 0.95
STREAMS = 20_000
TAIL = (1 - CONFIDENCE) / 2


def _percentile(draw: Draw, b: int) -> Pair:
    replicates = draw(b)
    ours = [percentile_interval(row, CONFIDENCE) for row in replicates]
    low = stats.quantile(replicates, TAIL, method="inverted_cdf", axis=1)
    high = -stats.quantile(-replicates, TAIL, method="inverted_cdf", axis=1)
    return ours, np.stack([low, high], axis=1)


def _bca(draw: Draw, n: int) -> Pair:
    """Compare the shares of SciPy's replicates beyond each end."""
    ours, theirs = [], []
    for row in draw(n):
        found = stats.bootstrap((row,), np.mean, n_resamples=20_000, rng=draw.rng, method="BCa")
        replicates = np.asarray(found.bootstrap_distribution)
        jackknife = (row.sum() - row) / (n - 1)
        ends = bca_interval(replicates, float(row.mean()), jackknife, CONFIDENCE)
        ours.append([(replicates < end).mean() for end in ends])
        theirs.append([(replicates < end).mean() for end in found.confidence_interval])
    return ours, theirs


def _histogram(draw: Draw, n: int) -> Pair:
    """Compare percentiles of durations, which must be less than 1/1,024 above the exact ones."""
    durations = np.rint(draw(n) * 1e5).astype(np.int64)
    shares = (0.01, 0.25, 0.5, 0.95, 0.99)
    ours = []
    for row in durations:
        histogram = Histogram()
        histogram.record_many(row)
        ours.append([histogram.percentile(p) for p in shares])
    theirs = stats.quantile(durations, np.array(shares), method="inverted_cdf", axis=1)
    return np.array(ours, dtype=np.float64), theirs


def _reservoir(draw: Draw, slots: int) -> Pair:
    """Count how often each place of a stream is kept: all must be kept equally often."""
    stream = np.arange(2 * slots + 1)
    random = Random(int(draw.rng.integers(2**32)))  # noqa: S311 - a simulation, no secret
    kept = np.zeros(len(stream))
    for _ in range(STREAMS):
        reservoir = Reservoir(random, slots)
        reservoir.record_many(stream)
        kept[reservoir.values()] += 1
    return kept / STREAMS, np.full(len(stream), slots / len(stream))


ROWS = (
    Agreement(
        "percentile bootstrap, ends",
        '`scipy.stats.quantile`, "inverted_cdf"',
        (2, 10, 100, 500),
        0.0,
        _percentile,
    ),
    Agreement(
        "BCa bootstrap, shares of replicates below the ends",
        "`scipy.stats.bootstrap`, which interpolates",
        (5, 10, 30, 100, 500),
        0.01,
        _bca,
        ("normal", "skewed"),
        rows=5,
    ),
    Agreement(
        "histogram, percentiles",
        '`scipy.stats.quantile`, "inverted_cdf"',
        (2, 10, 100, 500),
        1 / 1024,
        _histogram,
    ),
    Agreement(
        "reservoir, how often each place of a stream is kept",
        f"slots / length, in {STREAMS:,} streams",
        (2, 5, 10),
        0.05,
        _reservoir,
        ("uniform",),
        rows=1,
    ),
)
