"""The verdict as JSON: `Verdict` to a versioned document and back."""

import math
from collections import Counter
from typing import Annotated, Any, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.model.codec_comparison import ComparisonRecord
from benchgate.model.codec_document import Format
from benchgate.model.codec_environment import EnvironmentRecord, add_unknown_timer
from benchgate.model.codec_policy import LoosenedRecord, WaiverRecord
from benchgate.model.codec_skipped import SkippedRecord
from benchgate.model.codec_source import SourceRecord
from benchgate.model.codec_types import (
    Count,
    Many,
    Name,
    Pair,
    Probability,
    Record,
    Redact,
    Text,
    Word,
    misplaced,
)
from benchgate.model.result import Better, Tier
from benchgate.model.verdict import (
    Calibration,
    Classical,
    Decision,
    GateSettings,
    Outcome,
    Reason,
    Row,
    Verdict,
)

VERDICT_SCHEMA: Final = 5
"""Version of the verdict.

1: the first.
2: rows have a `detail`; the environment has `timer_cost_ns` and `timer_resolution_ns`.
3: rows have a `calibration`.
4: the stored results that were `skipped`.
5: rows have a `waiver` and `renamed_from`; `policy_changes`, and whose `policy` decided.
"""


class BaseRecord(SourceRecord):
    """The base; `source` is `git` when it was measured for the verdict, else where it was read."""

    source: Text


class SettingsRecord(Record):
    """The rule that the rows were decided by."""

    rule: Text
    alpha: Probability
    correction: Text
    confidence: Probability
    fail_on: list[Text]
    min_compared: Count | None
    policy: Text

    @classmethod
    def of(cls, settings: GateSettings) -> Self:
        """What is written of the settings."""
        return cls(
            rule=settings.rule,
            alpha=settings.alpha,
            correction=settings.correction,
            confidence=settings.confidence,
            fail_on=list(settings.fail_on),
            min_compared=settings.min_compared,
            policy=settings.policy,
        )

    def settings(self) -> GateSettings:
        """What was read."""
        return GateSettings(
            rule=self.rule,
            alpha=self.alpha,
            correction=self.correction,
            confidence=self.confidence,
            fail_on=tuple(self.fail_on),
            min_compared=self.min_compared,
            policy=self.policy,
        )


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


class VerdictRecord(Record):
    """A verdict of benchgate: one row for each benchmark, metric and statistic, worst first."""

    version: Annotated[int, Field(ge=VERDICT_SCHEMA, le=VERDICT_SCHEMA)] = Field(alias="schema")
    verdict: Word[Decision]
    exit_code: Count
    reason: Word[Reason] | None
    complete: bool
    summary: Text
    base: BaseRecord
    head: SourceRecord
    settings: SettingsRecord
    rows: Annotated[list[RowRecord], FailFast()]
    counts: dict[Word[Outcome], Count]
    warnings: list[Text]
    skipped: Many[SkippedRecord]
    policy_changes: list[LoosenedRecord]
    environment: EnvironmentRecord
    duration_s: Annotated[float, Field(ge=0)]
    rounds: Count

    @model_validator(mode="after")
    def _counts_are_those_of_the_rows(self) -> Self:
        actual = Counter(row.outcome for row in self.rows)
        for outcome in Outcome:
            stated = self.counts.get(outcome, 0)
            if stated != actual[outcome]:
                message = f"{stated}, but the rows hold {actual[outcome]}"
                raise misplaced(message, "counts", outcome.value)
        return self


def _second(document: dict[str, Any]) -> dict[str, Any]:
    add_unknown_timer(document["environment"])
    for row in document["rows"]:
        row["detail"] = None
    return document


def _third(document: dict[str, Any]) -> dict[str, Any]:
    for row in document["rows"]:
        row["calibration"] = None
    return document


def _fourth(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"skipped": []}


def _fifth(document: dict[str, Any]) -> dict[str, Any]:
    document["settings"]["policy"] = "head"
    for row in document["rows"]:
        row |= {"waiver": None, "renamed_from": None}
    return document | {"policy_changes": [], "reason": None, "complete": True}


VERDICT = Format(
    "verdict",
    VerdictRecord,
    VERDICT_SCHEMA,
    hallmark="rows",
    migrations={1: _second, 2: _third, 3: _fourth, 4: _fifth},
)


def encode_verdict(verdict: Verdict, redact: Redact) -> bytes:
    """The verdict as indented JSON, `schema` first.

    Args:
        verdict: a number in its rows that is not finite is written as null.
        redact: takes the secrets out of a text; applied to every text of the document.

    Raises:
        ValueError: the verdict holds what `decode_verdict` would refuse.
    """
    return VerdictRecord(
        schema=VERDICT_SCHEMA,
        verdict=verdict.decision,
        exit_code=verdict.exit_code,
        reason=verdict.reason,
        complete=verdict.complete,
        summary=verdict.summary,
        base=BaseRecord(**SourceRecord.of(verdict.base).model_dump(), source=verdict.base_source),
        head=SourceRecord.of(verdict.head),
        settings=SettingsRecord.of(verdict.settings),
        rows=[RowRecord.of(row) for row in verdict.rows],
        counts=dict(verdict.counts),
        warnings=list(verdict.warnings),
        skipped=tuple(SkippedRecord(what=one.what, reason=one.reason) for one in verdict.skipped),
        policy_changes=[LoosenedRecord.of(one) for one in verdict.policy_changes],
        environment=EnvironmentRecord.of(verdict.environment),
        duration_s=verdict.duration_s,
        rounds=verdict.rounds,
    ).to_json(redact, indent=2)


def decode_verdict(data: bytes, name: str) -> Verdict:
    """The verdict that a file holds.

    Args:
        data: the file, not compressed.
        name: of the file, for messages.

    Raises:
        FormatError: names the file and the place in it.
    """
    record = VERDICT.read(data, name)
    return Verdict(
        decision=record.verdict,
        exit_code=record.exit_code,
        summary=record.summary,
        base=record.base.code(),
        head=record.head.code(),
        settings=record.settings.settings(),
        rows=tuple(row.row() for row in record.rows),
        warnings=tuple(record.warnings),
        skipped=tuple(one.skipped() for one in record.skipped),
        policy_changes=tuple(one.loosened() for one in record.policy_changes),
        environment=record.environment.environment(),
        duration_s=record.duration_s,
        rounds=record.rounds,
        base_source=record.base.source,
        reason=record.reason,
        complete=record.complete,
    )
