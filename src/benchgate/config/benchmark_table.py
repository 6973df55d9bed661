"""What all tables [[benchmark]] have."""

from __future__ import annotations

from typing import ClassVar, Final

from benchgate.config.keys import dropped, key, neutral, on
from benchgate.tables.fields import Table

# Keys that several kinds have in the same words.
DATA: Final = key(
    dropped,
    (),
    "Files that the work reads, such as `fixtures/*.json`. Both sides read those of the base.",
)
ENV: Final = key(neutral, dict, "Variables added to the environment.")
IN_TURN: Final = key(
    on,
    False,
    "Never run base and head [at the same time](how-it-decides.md#at-the-same-time), because they"
    " share something such as a port.",
)
PARALLEL: Final = key(on, False, "The work uses several CPUs: measure it without pinning.")
PYTHONPATH: Final = key(
    neutral,
    None,
    "Folders to import from; by default [those of the side's own code](#whose-code-runs).",
)
TAGS: Final = key(dropped, (), "Tags for choosing benchmarks with `--tag`.")
TIMEOUT_DEFAULT: Final = "by default `timeout` of `[measure]`"


class BenchmarkTable(Table):
    """What the kinds of [[benchmark]] have in common.

    Until a change is merged, both sides do the work that the base's table names, and under another
    name a benchmark is missing. So the keys that determine the work and the name are neutral.

    Attributes:
        KIND: the key that tells its tables from others.
    """

    KIND: ClassVar[str]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the table itself gives; none if only its files tell them."""
        return ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it measures, as people know it: ids, or folders."""
        return self.ids

    def covers(self, subject: str) -> bool:
        """Whether it measures what is a subject of another table of its kind."""
        return subject in self.subjects
