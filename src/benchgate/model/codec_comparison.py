"""The details of a row as JSON: a `Comparison` and back."""

from typing import Self

from benchgate.interval import Interval
from benchgate.model.codec_types import Count, IntervalRecord, Many, Pair, Probability, Record, Text
from benchgate.model.comparison import Comparison, Effect, RatioEstimate, Significance


class RatioEstimateRecord(Record):
    """One way to estimate the ratio, head / base as measured."""

    name: Text
    ratio: float
    interval: IntervalRecord | None

    def estimate(self) -> RatioEstimate:
        """What was read."""
        interval = Interval(**self.interval.model_dump()) if self.interval else None
        return RatioEstimate(self.name, self.ratio, interval)


class SignificanceRecord(Record):
    """One test that nothing changed; `greater` and `less` speak of the head, as measured."""

    name: Text
    p: Probability
    p_greater: Probability | None
    p_less: Probability | None


class EffectRecord(Record):
    """How far the launches' values of the arms lie apart, > 0 where the head's are greater."""

    cliffs_delta: float
    vargha_delaney_a: float
    cohens_d: float | None
    hedges_g: float | None
    magnitude: Text


class ComparisonRecord(Record):
    """Every other estimate and test of the row, from all of its rounds; none of it decides."""

    launches: Pair[Count]
    ratios: Many[RatioEstimateRecord]
    tests: Many[SignificanceRecord]
    effect: EffectRecord
    q: Probability | None
    power: Probability
    detectable_ratio: float | None
    launches_needed: Count | None
    notes: Many[Text]

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """What is written of a comparison."""
        return cls.model_validate(comparison, from_attributes=True)

    def comparison(self) -> Comparison:
        """What was read."""
        return Comparison(
            launches=self.launches,
            ratios=tuple(one.estimate() for one in self.ratios),
            tests=tuple(Significance(**one.model_dump()) for one in self.tests),
            effect=Effect(**self.effect.model_dump()),
            q=self.q,
            power=self.power,
            detectable_ratio=self.detectable_ratio,
            launches_needed=self.launches_needed,
            notes=self.notes,
        )
