"""The code of one arm as verdicts and statistics hold it."""

from typing import Self

from benchgate.model.codec_types import Count, Record, Text
from benchgate.model.result import Source


class SourceRecord(Record):
    """The code of one arm; `why` says why a base was chosen."""

    sha: Text | None
    ref: Text | None
    dirty: bool
    why: Text
    untracked: Count = 0

    @classmethod
    def of(cls, source: Source) -> Self:
        """What is written of a source."""
        return cls(
            sha=source.sha,
            ref=source.ref,
            dirty=source.dirty,
            why=source.why,
            untracked=source.untracked,
        )

    def code(self) -> Source:
        """What was read."""
        return Source(self.sha, self.ref, self.dirty, self.why, self.untracked)
