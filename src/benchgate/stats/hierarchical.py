"""Bootstrap intervals for samples that come in launches.

A resample draws launches with replacement. From each drawn launch, it draws with replacement as
many samples as that launch has. Then it pools them (Davison and Hinkley, 1997, section 3.8).
Samples of one launch resemble each other, so intervals that treat all samples as independent are
too short. A launch with more samples has more weight.

With few launches, these intervals are too short as well. Coverage of a nominal 95 %, simulated with
launches of 45 lognormal samples, 2 % between and 3 % within launches (1,000 runs, standard error
1 %):

    launches   2    3    4    5    7   10   12   15   20
    p50       68   79   84   88   90   92   92   94   94
    p95       66   79   80   83   85   90   89   90   91
    p99        -   54   65   73   82   89   85   90   89

So a note warns below 10 launches. The t interval of the launches' means covers 95 % with any number
of launches.

The means of launches already vary a little because each launch has few samples. Drawing the samples
again adds that variation a second time. So the intervals are too wide if launches hardly differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.interval import Interval
from benchgate.stats.bootstrap import percentile_interval
from benchgate.stats.checks import LARGEST, require_fraction
from benchgate.stats.quantiles import nearest_rank, quantile_rank
from benchgate.stats.resampling import RESAMPLES, Pool, blocks, generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray, IntArray

LEAST_LAUNCHES = 10
"""With fewer launches, a nominal 95 % interval may cover less than 90 %."""

_METHOD = "hierarchical bootstrap"


@dataclass(frozen=True, slots=True)
class LaunchIntervals:
    """Intervals of several quantiles from one set of resamples, in the unit of the data.

    Attributes:
        quantiles: one interval for each quantile asked for. None for a single launch, and for a
            quantile that is the least or the greatest sample: no resample goes beyond it.
        notes: warnings about the number of launches.
    """

    quantiles: tuple[Interval | None, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """A ratio head / base.

    Attributes:
        ratio: None if a value is not above 0, or is more than 2**1000 times another.
        interval: None if the ratio is None, if an arm has one launch, and if the percentile is
            the least or the greatest sample of an arm.
        notes: the reasons for None, and warnings about the number of launches.
    """

    ratio: float | None
    interval: Interval | None
    notes: tuple[str, ...]


def hierarchical_intervals(
    launches: Sequence[FloatArray],
    quantiles: Sequence[float],
    confidence: float,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> LaunchIntervals:
    """Return percentile intervals of pooled nearest-rank quantiles.

    All quantiles share one set of resamples. Each drawn sample takes about 10 ns: 0.06 s for 12
    launches of 45 samples, and seconds for launches of thousands of samples.

    Args:
        launches: of shapes (n_1,), (n_2,), ..., each n_i >= 1, finite.
        quantiles: fractions, 0 < p < 1, e.g. (0.5, 0.95).
        confidence: e.g. 0.95.
        seed: >= 0; the same seed gives the same intervals.
        resamples: how many resamples are drawn.

    Raises:
        ValueError: on NaN, infinity, no launch, an empty launch, another shape, or another
            argument out of range.
    """
    for p in quantiles:
        require_fraction("p", p)
    require_fraction("confidence", confidence)
    pool = Pool.of("launches", launches)
    spans, rng = blocks(resamples, pool.most_drawn), generator(seed)
    launch_notes = _launch_notes(len(launches))
    if len(launches) == 1:
        return LaunchIntervals((None,) * len(quantiles), launch_notes)
    replicates = np.empty((len(quantiles), resamples))
    for rows in spans:
        draw = pool.draw(_draw_launches(rows, len(launches), rng), rng)
        for k, p in enumerate(quantiles):
            replicates[k, rows] = draw.quantile(p)
    return LaunchIntervals(
        quantiles=tuple(
            None if _outermost_note(len(pool.ranks), p) else _interval(row, confidence)
            for row, p in zip(replicates, quantiles, strict=True)
        ),
        notes=launch_notes,
    )


def ratio_of_percentile(
    base: Sequence[FloatArray],
    head: Sequence[FloatArray],
    p: float,
    confidence: float,
    *,
    paired: bool,
    seed: int,
    resamples: int = RESAMPLES,
) -> RatioInterval:
    """Estimate head / base of a pooled nearest-rank quantile, with a percentile interval.

    Coverage of a nominal 95 % for p95, simulated as above (400 runs, standard error 1 to 2 %):
    84, 93, 96 and 95 % for arms that were measured apart, with 2, 5, 10 and 20 launches; 99 % for
    paired arms whose rounds share the 2 % and differ by another 0.5 %.

    Args:
        base: launches of shapes (n_1,), (n_2,), ..., each n_i >= 1, finite.
        head: the same; the sizes may differ from those of the base.
        p: a fraction, 0 < p < 1, e.g. 0.95.
        confidence: e.g. 0.95.
        paired: whether launch i of both arms was measured in the same round. Such launches are
            drawn together.
        seed: >= 0; the same seed gives the same interval.
        resamples: how many resamples are drawn.

    Raises:
        ValueError: on NaN, infinity, no launch, an empty launch, another shape, paired arms with
            different numbers of launches, or another argument out of range.
    """
    require_fraction("p", p)
    require_fraction("confidence", confidence)
    below, above = Pool.of("base", base), Pool.of("head", head)
    if paired and len(base) != len(head):
        raise ValueError(f"paired arms must share rounds: {len(base)} and {len(head)} launches")
    spans, rng = blocks(resamples, below.most_drawn + above.most_drawn), generator(seed)
    undefined = _no_ratio_note(below, above)
    if undefined:
        return RatioInterval(None, None, (undefined,))
    ratio = _quantile(head, p) / _quantile(base, p)
    fewest = min(len(base), len(head))
    outermost = _outermost_note(min(len(below.ranks), len(above.ranks)), p)
    notes = (*_launch_notes(fewest), *filter(None, [outermost]))
    if fewest == 1 or outermost:
        return RatioInterval(ratio, None, notes)
    replicates = np.empty(resamples)
    for rows in spans:
        drawn = _draw_launches(rows, len(base), rng)
        also_drawn = drawn if paired else _draw_launches(rows, len(head), rng)
        quantiles = below.draw(drawn, rng).quantile(p), above.draw(also_drawn, rng).quantile(p)
        replicates[rows] = quantiles[1] / quantiles[0]
    return RatioInterval(ratio, _interval(replicates, confidence), notes)


def _draw_launches(rows: slice, launches: int, rng: np.random.Generator) -> IntArray:
    return rng.integers(launches, size=(rows.stop - rows.start, launches))


def _interval(replicates: FloatArray, confidence: float) -> Interval:
    return Interval(*percentile_interval(replicates, confidence), confidence, _METHOD)


def _quantile(launches: Sequence[FloatArray], p: float) -> float:
    return float(nearest_rank(np.concatenate(launches), p))


def _launch_notes(launches: int) -> tuple[str, ...]:
    if launches == 1:
        return (f"one launch: no spread between launches; take {LEAST_LAUNCHES} or more",)
    if launches < LEAST_LAUNCHES:
        few = f"{launches} launches: intervals may be too short"
        return (f"{few}; {LEAST_LAUNCHES} or more are better",)
    return ()


def _outermost_note(samples: int, p: float) -> str | None:
    place = quantile_rank(samples, p) - 1
    if 0 < place < samples - 1:
        return None
    which = "least" if place == 0 else "greatest"
    return (
        f"the {which} of {samples} samples: no interval, as no resample goes beyond it; "
        "it takes more samples"
    )


def _no_ratio_note(base: Pool, head: Pool) -> str | None:
    least = min(base.values[0], head.values[0])
    greatest = max(base.values[-1], head.values[-1])
    if least <= 0:
        return f"no ratio: values must be above 0, and one is {least:g}"
    if math.log2(greatest) - math.log2(least) > math.log2(LARGEST):
        return f"no ratio: values from {least:g} to {greatest:g} are too far apart"
    return None
