"""A stored result that was not used, in JSON."""

from benchgate.model.codec_types import Record, Text
from benchgate.model.verdict import Skipped


class SkippedRecord(Record):
    """A stored result that was found and not used."""

    what: Text
    reason: Text

    def skipped(self) -> Skipped:
        """What was read."""
        return Skipped(self.what, self.reason)
