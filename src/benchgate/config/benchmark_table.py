"""What every kind of [[benchmark]] has in common."""

from collections.abc import Mapping
from typing import ClassVar, Final

from benchgate.config.laxer import Laxer
from benchgate.tables.fields import Table

DATA_HELP: Final = (
    "Files that the work reads, such as `fixtures/*.json`, relative to the configuration file."
    " Both sides read those of the base."
)
IN_TURN_HELP: Final = (
    "Run base and head only in turn, because both use something that only one can use at a time,"
    " such as a port; by default they"
    " [may run at the same time](how-it-decides.md#at-the-same-time)."
)
TAGS_HELP: Final = "Tags for choosing benchmarks with `--tag`."
TIMEOUT_DEFAULT: Final = "by default `timeout` of `[measure]`"


class BenchmarkTable(Table):
    """What the kinds of [[benchmark]] have in common.

    Until a change is merged, both sides do the work that the base's table names, and under another
    name a benchmark is missing. So the keys that determine the work and the name are neutral.

    Attributes:
        KIND: the key that tells its tables from others.
        LAXER: for the keys that can loosen the gate, when they do.
        NEUTRAL: all other keys.
        MEASURE_KEYS: keys that take their value from [measure] if they are not set.
    """

    KIND: ClassVar[str]
    LAXER: ClassVar[Mapping[str, Laxer]]
    NEUTRAL: ClassVar[frozenset[str]]
    MEASURE_KEYS: ClassVar[tuple[str, ...]] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the table itself gives; none if only its files tell them."""
        return ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it measures, as people know it: ids, or folders."""
        return self.ids

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:
        """Whether it measures what another table of its kind measures.

        Args:
            subject: one of the other's subjects.
            aliases: old ids to new ids.
        """
        return not {subject, aliases.get(subject)}.isdisjoint(self.ids)
