"""Everything else that is known of two arms of a row, whichever rule decided it.

It is computed from all rounds, those that raised a suspicion among them: it describes what was
measured and decides nothing. Ratios are head / base as measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.interval import Interval
from benchgate.json_object import Count, JsonObject, Probability, Text


@dataclass(frozen=True, slots=True)
class RatioEstimate(JsonObject):
    """One way to estimate the ratio.

    Attributes:
        name: what is estimated, "Hodges-Lehmann, of rounds".
        interval: None where there are too few launches for the confidence asked for.
    """

    name: Text
    ratio: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Significance(JsonObject):
    """One test that nothing changed.

    Attributes:
        name: "Wilcoxon signed rank", "Mann-Whitney, exact".
        p: two-sided.
        p_greater, p_less: one-sided, against a head that measures more, or less, than the base.
    """

    name: Text
    p: Probability
    p_greater: Probability | None = None
    p_less: Probability | None = None


@dataclass(frozen=True, slots=True)
class Effect(JsonObject):
    """How far the launches' values of the arms lie apart, > 0 where the head's are greater.

    Attributes:
        cliffs_delta: P(head > base) - P(head < base).
        vargha_delaney_a: P(head > base), ties counted half.
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
    """Every other estimate and test of a row, from all of its rounds; none of it decides.

    Attributes:
        launches: of base and head, all of them.
        q: the two-sided p of the first test, adjusted by Benjamini and Hochberg over all rows.
        power: that the next two promise.
        detectable_ratio: the smallest that so many launches would find; None where they are too
            few for any p to reach alpha, and beyond 100.
        launches_needed: on each side, to find a change of the margin; None for one launch, and
            when it is more than were counted to.
        notes: what not to trust.
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
