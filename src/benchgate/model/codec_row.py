"""The rows of a verdict as JSON: `Row` to a record and back."""

import math
from typing import Annotated, Self

from pydantic import Field, model_validator

from benchgate.model.codec_comparison import ComparisonRecord
from benchgate.model.codec_policy import WaiverRecord
from benchgate.model.codec_types import (
    Count,
    Name,
    Pair,
    Probability,
    Record,
    Text,
    Word,
    misplaced,
)
from benchgate.model.result import Better, Tier
from benchgate.model.verdict import Calibration, Classical, Outcome, Row, Unconfirmed


class ClassicalRecord(Record):
    """The textbook comparison of the same data, whichever rule decided."""

    p: Probability | None
    p95_ratio: float | None
    result: Text

    @classmethod
    def of(cls, classical: Classical) -> Self:
        """What is written of a comparison."""
        return cls(
            p=_finite(classical.p),
            p95_ratio=_finite(classical.p95_ratio),
            result=classical.result,
        )

    def classical(self) -> Classical:
        """What was read."""
        return Classical(self.p, self.p95_ratio, self.result)


class UnconfirmedRecord(Record):
    """What it would have taken to confirm that a row got worse, or to clear it."""

    rounds: Count
    seconds: Annotated[float, Field(ge=0)] | None

    @classmethod
    def of(cls, unconfirmed: Unconfirmed) -> Self:
        """What is written of it."""
        return cls(rounds=unconfirmed.rounds, seconds=unconfirmed.seconds)

    def unconfirmed(self) -> Unconfirmed:
        """What was read."""
        return Unconfirmed(self.rounds, self.seconds)


class CalibrationRecord(Record):
    """What earlier runs on the same machine tell of how far runs of equal code differ."""

    calibrated: bool
    runs: Count
    spread: Annotated[float, Field(ge=0)] | None
    floor: Annotated[float, Field(ge=0)] | None

    @classmethod
    def of(cls, calibration: Calibration) -> Self:
        """What is written of a calibration."""
        return cls.model_validate(calibration, from_attributes=True)

    def calibration(self) -> Calibration:
        """What was read."""
        return Calibration(self.runs, self.spread, self.floor)

    @model_validator(mode="after")
    def _is_calibrated_where_it_has_a_floor(self) -> Self:
        if self.calibrated is (self.floor is None):
            raise misplaced("says otherwise than `floor`", "calibrated")
        return self


class RowRecord(Record):
    """One benchmark, metric and statistic. null: does not apply, unknown, or not finite."""

    benchmark: Name
    metric: Text
    statistic: Text
    unit: Text
    better: Word[Better]
    outcome: Word[Outcome]
    base: float | None
    head: float | None
    base_median: float | None
    head_median: float | None
    ratio: float | None
    interval: Pair[float | None] | None
    confidence: Probability
    margin: float | None
    p: Probability | None
    p_adjusted: Probability | None
    launches: Pair[Count]
    tier: Word[Tier] | None
    test: Text | None
    detectable: float | None
    rounds_needed: Count | None
    unconfirmed: UnconfirmedRecord | None = None
    advisory: bool
    calibration: CalibrationRecord | None
    waiver: WaiverRecord | None
    classical: ClassicalRecord | None
    renamed_from: Text | None
    detail: ComparisonRecord | None
    notes: list[Text]
    error: Text | None
    location: Text | None
    display_unit: Text | None

    @classmethod
    def of(cls, row: Row) -> Self:
        """What is written of a row."""
        return cls(
            benchmark=row.benchmark,
            metric=row.metric,
            statistic=row.statistic,
            unit=row.unit,
            better=row.better,
            outcome=row.outcome,
            base=_finite(row.base),
            head=_finite(row.head),
            base_median=_finite(row.base_median),
            head_median=_finite(row.head_median),
            ratio=_finite(row.ratio),
            interval=row.interval and (_finite(row.interval[0]), _finite(row.interval[1])),
            confidence=row.confidence,
            margin=_finite(row.margin),
            p=_finite(row.p),
            p_adjusted=_finite(row.p_adjusted),
            launches=row.launches,
            tier=row.tier,
            test=row.test,
            detectable=_finite(row.detectable),
            rounds_needed=row.rounds_needed,
            unconfirmed=UnconfirmedRecord.of(row.unconfirmed) if row.unconfirmed else None,
            advisory=row.advisory,
            calibration=CalibrationRecord.of(row.calibration) if row.calibration else None,
            waiver=WaiverRecord.of(row.waiver) if row.waiver else None,
            classical=ClassicalRecord.of(row.classical) if row.classical else None,
            renamed_from=row.renamed_from,
            detail=ComparisonRecord.of(row.detail) if row.detail else None,
            notes=list(row.notes),
            error=row.error,
            location=row.location,
            display_unit=row.display_unit,
        )

    def row(self) -> Row:
        """What was read."""
        return Row(
            benchmark=self.benchmark,
            outcome=self.outcome,
            metric=self.metric,
            statistic=self.statistic,
            unit=self.unit,
            better=self.better,
            base=self.base,
            head=self.head,
            base_median=self.base_median,
            head_median=self.head_median,
            ratio=self._ratio(),
            interval=self._interval(),
            confidence=self.confidence,
            margin=self.margin,
            p=self.p,
            p_adjusted=self.p_adjusted,
            launches=self.launches,
            tier=self.tier,
            test=self.test,
            detectable=self.detectable,
            rounds_needed=self.rounds_needed,
            unconfirmed=self.unconfirmed.unconfirmed() if self.unconfirmed else None,
            advisory=self.advisory,
            calibration=self.calibration.calibration() if self.calibration else None,
            waiver=self.waiver.waiver() if self.waiver else None,
            classical=self.classical.classical() if self.classical else None,
            renamed_from=self.renamed_from,
            detail=self.detail.comparison() if self.detail else None,
            notes=tuple(self.notes),
            error=self.error,
            location=self.location,
            display_unit=self.display_unit,
        )

    def _ratio(self) -> float | None:
        """The ratio; infinite where something came from nothing."""
        if self.ratio is None and self.base == 0 and self.head:
            return math.copysign(math.inf, self.head)
        return self.ratio

    def _interval(self) -> tuple[float, float] | None:
        if self.interval is None:
            return None
        low, high = self.interval
        return (-math.inf if low is None else low, math.inf if high is None else high)


def _finite(value: float | None) -> float | None:
    """JSON has no infinity and no NaN: null stands for both."""
    return value if value is not None and math.isfinite(value) else None
