"""What the policy added to a verdict: waivers, and how a change loosens its own gate."""

from typing import Annotated, Self

from pydantic import Field

from benchgate.model.codec_types import Day, Record, Text
from benchgate.model.verdict import Loosened, Waiver


class WaiverRecord(Record):
    """What allows a regression; the day is the last on which it holds, in UTC."""

    ceiling: Annotated[float, Field(gt=0)]
    until: Day
    reason: Text

    @classmethod
    def of(cls, waiver: Waiver) -> Self:
        """What is written of a waiver."""
        return cls.model_validate(waiver, from_attributes=True)

    def waiver(self) -> Waiver:
        """What was read."""
        return Waiver(self.ceiling, self.until, self.reason)


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
