"""What a result file holds of stored runs."""

from typing import Annotated, Final, Self

from pydantic import FailFast, Field

from benchgate.model.codec_arm import ArmRecord, arm_fields
from benchgate.model.codec_skipped import SkippedRecord
from benchgate.model.codec_types import Record, Redact, Text
from benchgate.model.screening import Screening, StoredRun

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
