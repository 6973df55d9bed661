"""What a result file holds beside its arms: stored runs, and by what it was judged."""

from dataclasses import asdict
from typing import Annotated, Final, Self

from pydantic import FailFast, Field

from benchgate.model.codec_arm import ArmRecord, arm_fields
from benchgate.model.codec_policy import AcceptanceRecord
from benchgate.model.codec_skipped import SkippedRecord
from benchgate.model.codec_types import Many, Record, Redact, Text
from benchgate.model.screening import Document, Options, Policy, Screening, StoredRun

MOST_STORED: Final = 100


class StoredRunRecord(ArmRecord):
    """An earlier run that the head was held against."""

    name: Text
    because: Text

    @classmethod
    def of_one(cls, one: StoredRun, redact: Redact) -> Self:
        """What is written of it."""
        return cls(name=one.name, because=one.why, **arm_fields(one.run, redact))

    def stored_run(self) -> StoredRun:
        """What was read."""
        return StoredRun(self.name, self.because, self.arm())


class ScreeningRecord(Record):
    """What stored runs said before anything was measured in turn."""

    head: ArmRecord | None
    earlier: Annotated[list[StoredRunRecord], FailFast(), Field(max_length=MOST_STORED)]
    skipped: list[SkippedRecord]
    warnings: list[Text]
    is_first: bool

    @classmethod
    def of(cls, screening: Screening, redact: Redact) -> Self:
        """What is written of it."""
        return cls(
            head=ArmRecord(**arm_fields(screening.head, redact)) if screening.head else None,
            earlier=[StoredRunRecord.of_one(one, redact) for one in screening.earlier],
            skipped=[SkippedRecord(what=x.what, reason=x.reason) for x in screening.skipped],
            warnings=list(screening.warnings),
            is_first=screening.is_first,
        )

    def screening(self) -> Screening:
        """What was read."""
        return Screening(
            self.head.arm() if self.head else None,
            tuple(one.stored_run() for one in self.earlier),
            tuple(one.skipped() for one in self.skipped),
            tuple(self.warnings),
            self.is_first,
        )


class DocumentRecord(Record):
    """A configuration as it was written."""

    name: Text
    text: Text

    @classmethod
    def of(cls, document: Document) -> Self:
        """What is written of it."""
        return cls(name=document.name, text=document.text)

    def document(self) -> Document:
        """What was read."""
        return Document(self.name, self.text)


class OptionsRecord(Record):
    """What the command line said instead of a configuration."""

    rule: Text | None
    alpha: float | None
    margin: Text | None
    fail_on: Many[Text]
    budget: Text | None
    rounds: int | None
    until_decided: bool
    seed: int | None
    baseline: Text | None


class PolicyRecord(Record):
    """By what the result was judged."""

    head: DocumentRecord | None
    base: DocumentRecord | None
    options: OptionsRecord
    accepted: AcceptanceRecord | None

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """What is written of it."""
        return cls(
            head=DocumentRecord.of(policy.head) if policy.head else None,
            base=DocumentRecord.of(policy.base) if policy.base else None,
            options=OptionsRecord(**asdict(policy.options)),
            accepted=AcceptanceRecord.of(policy.accepted) if policy.accepted else None,
        )

    def policy(self) -> Policy:
        """What was read."""
        return Policy(
            self.head.document() if self.head else None,
            self.base.document() if self.base else None,
            Options(**self.options.model_dump()),
            self.accepted.acceptance() if self.accepted else None,
        )
