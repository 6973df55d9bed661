"""The verdict as JSON: `Verdict` to a versioned document and back."""

from collections import Counter
from typing import Annotated, Any, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.model.codec_document import Format
from benchgate.model.codec_environment import EnvironmentRecord, add_unknown_timer
from benchgate.model.codec_policy import LoosenedRecord
from benchgate.model.codec_row import RowRecord
from benchgate.model.codec_skipped import SkippedRecord
from benchgate.model.codec_source import SourceRecord
from benchgate.model.codec_types import (
    Count,
    Many,
    Probability,
    Record,
    Redact,
    Text,
    Word,
    misplaced,
)
from benchgate.model.verdict import Decision, GateSettings, Outcome, Reason, Verdict

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
        row |= {"base_median": row["base"], "head_median": row["head"]}
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
