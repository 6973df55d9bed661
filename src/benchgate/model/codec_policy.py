"""What the policy added to a verdict: waivers, and how a change loosens its own gate."""

from typing import Annotated, Self

from pydantic import Field

from benchgate.model.codec_types import Day, Object, Record, Text, Word
from benchgate.model.policy import Acceptance
from benchgate.model.verdict import Loosened, Outcome, Waiver


class WaiverRecord(Record):
    """What allows a regression up to a ceiling, or that a benchmark is missing or incomparable.

    The day is the last on which it holds, in UTC.
    """

    outcome: Word[Outcome]

    ceiling: Annotated[float, Field(gt=0)] | None
    until: Day
    reason: Text
    accepted: Object[Acceptance] | None

    @classmethod
    def of(cls, waiver: Waiver) -> Self:
        """What is written of a waiver."""
        return cls(
            outcome=waiver.outcome,
            ceiling=waiver.ceiling,
            until=waiver.until,
            reason=waiver.reason,
            accepted=waiver.accepted,
        )

    def waiver(self) -> Waiver:
        """What was read."""
        return Waiver(self.outcome, self.ceiling, self.until, self.reason, self.accepted)


class LoosenedRecord(Record):
    """One way in which the head's configuration is laxer than the base's."""

    key: Text
    about: Text
    before: Text
    after: Text
    place: Text
    in_force: bool

    @classmethod
    def of(cls, loosened: Loosened) -> Self:
        """What is written of it."""
        return cls.model_validate(loosened, from_attributes=True)

    def loosened(self) -> Loosened:
        """What was read."""
        return Loosened(**self.model_dump())
