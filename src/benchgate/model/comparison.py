"""All further estimates and tests of a row, whichever rule decided it.

They are computed from all rounds, including those that raised a suspicion: they describe what
was measured, and decide nothing. Ratios are head / base as measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.interval import Interval
from benchgate.json_object import Count, JsonObject, Probability, Text


@dataclass(frozen=True, slots=True)
class RatioEstimate(JsonObject):
    """One estimate of the ratio head / base.

    Attributes:
        name: the estimator, such as "Hodges-Lehmann, of rounds".
        interval: None if there are too few launches for the requested confidence.
    """

    name: Text
    ratio: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Significance(JsonObject):
    """One test of the hypothesis that nothing changed.

    Attributes:
        name: "Wilcoxon signed rank", "Mann-Whitney, exact".
        p: two-sided.
        p_greater, p_less: one-sided p-values for a head that measures more, or less, than the base.
    """

    name: Text
    p: Probability
    p_greater: Probability | None = None
    p_less: Probability | None = None


@dataclass(frozen=True, slots=True)
class Effect(JsonObject):
    """How far apart the launch values of the two arms are; > 0 if the head's are greater.

    Attributes:
        cliffs_delta: P(head > base) - P(head < base).
        vargha_delaney_a: P(head > base), with ties counted half.
        cohens_d, hedges_g: difference of the means in standard deviations; None without spread.
        magnitude: of Cliff's delta, in words.
    """

    cliffs_delta: float
    vargha_delaney_a: float
    cohens_d: float | None
    hedges_g: float | None
    magnitude: Text


@dataclass(frozen=True, slots=True)
class Comparison(JsonObject):
    """Further estimates and tests of a row, from all of its rounds; none of them decides.

    Attributes:
        launches: number of launches of base and head, all counted.
        q: the two-sided p of the first test, adjusted over all rows (Benjamini-Hochberg).
        power: the probability for which the next two are computed.
        detectable_ratio: the smallest ratio that this many launches would find; None if they are
            too few for any p to reach alpha, or if it is above 100.
        launches_needed: on each side, to find a change of the margin; None for a single launch, or
            if more are needed than were tried.
        notes: which of the figures not to trust, and why.
    """

    launches: tuple[Count, Count]
    ratios: tuple[RatioEstimate, ...]
    tests: tuple[Significance, ...]
    effect: Effect
    q: Probability | None
    power: Probability
    detectable_ratio: float | None
    launches_needed: Count | None
    notes: tuple[Text, ...] = ()
