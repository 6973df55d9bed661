"""Splits the spread into the part between launches and the part within them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.moments import Moments, binary_scaled, moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Components:
    """The spread of one benchmark's samples, split by launch, in the unit of the data.

    Attributes:
        launches: number of launches.
        samples: number of samples in all launches.
        between_sd: standard deviation of the launches' true means, >= 0; None for one launch, and
            if no launch has two samples.
        within_sd: standard deviation of samples around the mean of their launch; None if no
            launch has two samples.
        intraclass_correlation: between**2 / (between**2 + within**2), from 0 to 1: how much two
            samples of one launch resemble each other; None like `between_sd`, and if both are 0.
        pooled_sem: s / sqrt(samples) of all samples, as if they were independent: too small if
            launches differ; None for one sample.
        launch_sem: s / sqrt(launches) of the launches' means, because the launch is what was
            repeated; None for one launch.
        notes: why a value is None, or was set to 0.
    """

    launches: int
    samples: int
    between_sd: float | None
    within_sd: float | None
    intraclass_correlation: float | None
    pooled_sem: float | None
    launch_sem: float | None
    notes: tuple[str, ...]


def variance_components(launches: Sequence[FloatArray]) -> Components:
    """Split the variance by one-way analysis of variance with random launches.

    For k launches of n_i samples, N in all: within**2 = MSW, between**2 = (MSB - MSW) / n0,
    n0 = (N - sum n_i**2 / N) / (k - 1) (Searle, 1971). Their ratio is the ANOVA estimate of the
    intraclass correlation (Donner, 1986). A negative between**2 is set to 0.

    Args:
        launches: of shapes (n_1,), (n_2,), ..., each n_i >= 1, finite.

    Raises:
        ValueError: on NaN, infinity, no launch, an empty launch or another shape.
    """
    if not launches:
        raise ValueError("launches is empty: at least 1 is needed")
    for k, launch in enumerate(launches):
        require_vector(f"launches[{k}]", launch)
    scaled, exponent = binary_scaled(np.concatenate(launches))
    starts = np.cumsum([len(launch) for launch in launches])[:-1]
    each = [moments(launch) for launch in np.split(scaled, starts)]
    pooled = moments(scaled)
    within = _within(each)
    between = _between(each, pooled, within)
    return Components(
        launches=len(each),
        samples=pooled.n,
        between_sd=_unscaled(None if between is None else math.sqrt(max(0.0, between)), exponent),
        within_sd=_unscaled(None if within is None else math.sqrt(within), exponent),
        intraclass_correlation=_correlation(between, within),
        pooled_sem=_unscaled(pooled.sem, exponent),
        launch_sem=_unscaled(moments(_means(each)).sem, exponent),
        notes=_notes(len(each), between, within),
    )


def _within(each: list[Moments]) -> float | None:
    """Return the mean square within launches; None if no launch has two samples."""
    freedom = sum(one.n - 1 for one in each)
    squares = sum((one.n - 1) * one.sd**2 for one in each if one.sd is not None)
    return squares / freedom if freedom else None


def _between(each: list[Moments], pooled: Moments, within: float | None) -> float | None:
    """Return the variance between launches; negative if launches are too similar."""
    freedom = len(each) - 1
    if freedom == 0 or within is None:
        return None
    sizes = np.array([one.n for one in each])
    mean_square = (sizes * np.square(_means(each) - pooled.mean)).sum() / freedom
    n0 = (pooled.n - np.square(sizes).sum() / pooled.n) / freedom
    return float((mean_square - within) / n0)


def _correlation(between: float | None, within: float | None) -> float | None:
    if between is None or within is None or between == within == 0:
        return None
    return max(0.0, between) / (max(0.0, between) + within)


def _means(each: list[Moments]) -> FloatArray:
    return np.array([one.mean for one in each])


def _notes(launches: int, between: float | None, within: float | None) -> tuple[str, ...]:
    notes = []
    if launches == 1:
        notes.append("one launch: no spread between launches; take at least 2")
    if within is None:
        notes.append("one sample per launch: no spread within launches; take at least 2")
    if between is not None and between < 0:
        notes.append("launches differ no more than their samples: spread between them set to 0")
    if between == within == 0:
        notes.append("all values are equal: no intraclass correlation")
    return tuple(notes)


def _unscaled(value: float | None, exponent: int) -> float | None:
    return None if value is None else math.ldexp(value, exponent)
