"""How a format is read: row by row, so that a benchmark that cannot be read fails alone."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.parsed import (
    Reading,
    RowError,
    distinct,
    failed,
    sampled,
    shown,
    time_summary,
)
from benchgate.json_object import MAX_NAME
from benchgate.model.run import TIME, BenchmarkResult, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import ForeignFile
    from benchgate.model.run import Metric, Series

APPEND = "Append the output of several runs to one file with `>>`: each of them is a launch."
"""For tools whose outputs may follow each other in a file."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How to get the best input from a tool, for messages and for the docs.

    Attributes:
        command: what writes it, with FILE in the place of its name; "" if no command does.
        has_samples: whether it holds samples; if not, every launch gives one value.
        launches: how one file can hold several launches, in a sentence; "" if it cannot.
    """

    command: str
    has_samples: bool = True
    launches: str = ""


@dataclass(slots=True)
class ReadRow:
    """A benchmark while it is read. Whoever cannot read it raises a RowError.

    Attributes:
        id: the tool's own name for it, stable between two runs of the tool.
        version: the tool's own hash of what the benchmark does, if it has one; without it, that is
            known by the id alone.
    """

    id: str = ""
    series: list[Series] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str | None = None

    def samples(
        self, node: Node, metric: Metric = TIME, *, loops: int = 1, scale: float = 1
    ) -> None:
        """Add the samples of a list, which are of one launch; see `sampled`."""
        self.series.append(sampled(metric, [node.list], node.place, loops=loops, scale=scale))

    def value(self, metric: Metric, value: float, place: str, *, scale: float = 1) -> None:
        """Add the only value of a metric."""
        self.series.append(sampled(metric, [[value]], place, scale=scale))

    def time(self, node: Node, scale: float = 1) -> None:
        """Add the mean or the median of times that the file does not have."""
        self.series.append(time_summary(node.number * scale, node.place))

    def result(self, tool: str) -> BenchmarkResult:
        """The benchmark; RowError if a name is empty or too long, or a metric is there twice."""
        names: set[str] = set()
        for name in (each.metric.name for each in self.series):
            _check_name(name, "a metric")
            if name in names:
                raise RowError(f"the metric {shown(name)} is there twice")
            names.add(name)
        _check_name(self.id, "the benchmark")
        workload = f"{tool}:{self.id}" + ("" if self.version is None else f"@{self.version}")
        notes = tuple(self.notes)
        return BenchmarkResult(self.id, workload, Tier.STORED, tuple(self.series), notes=notes)


def _check_name(name: str, whose: str) -> None:
    if not name.strip():
        raise RowError(f"{whose} has no name")
    if len(name) > MAX_NAME:
        raise RowError(f"the name of {whose} has {len(name)} characters, more than {MAX_NAME}")


@dataclass(slots=True)
class ReadRows:
    """What was read of a file so far.

    Attributes:
        tool: the name of the format.
        version: of the tool; "" if the file does not tell.
        found: the benchmarks, in the order of the file.
        skipped: what was left out, with the place and the reason, one sentence for each.
    """

    tool: str
    version: str = ""
    found: list[BenchmarkResult] = field(default_factory=list)
    skipped: dict[str, None] = field(default_factory=dict)

    @contextmanager
    def row(self, id_: str = "") -> Iterator[ReadRow]:
        """Read a benchmark; one without any series is left out."""
        row = ReadRow(id_)
        try:
            yield row
            if row.series:
                self.found.append(row.result(self.tool))
        except RowError as error:
            self.fail(row.id, str(error))

    def fail(self, id_: str, why: str) -> None:
        """Add a benchmark that failed under the tool, or that cannot be read."""
        self.found.append(failed(self.tool, id_, why))

    def skip(self, *sentences: str) -> None:
        """Say what was left out, once."""
        self.skipped.update(dict.fromkeys(sentences))


@dataclass(frozen=True, slots=True, eq=False)
class ForeignFormat:
    """What another tool writes.

    Attributes:
        name: what people call it, and what `--format` accepts.
        advice: how to get the best input from the tool.
        sniff: whether the content looks like this format; cheap, and never an error.
        read: reads the benchmarks; a RowError, too, says that the file as a whole is broken.
    """

    name: str
    advice: Advice
    sniff: Callable[[ForeignFile], bool]
    read: Callable[[ForeignFile, ReadRows], None]

    def parse(self, source: ForeignFile) -> Reading:
        """Read the benchmarks; FormatError if the file as a whole is broken."""
        rows = ReadRows(self.name)
        with as_a_whole(source):
            self.read(source, rows)
        tool = f"{self.name} {rows.version}".rstrip()
        return Reading(tool, distinct(self.name, rows.found), tuple(rows.skipped))


def reads(
    name: str,
    command: str,
    sniff: Callable[[ForeignFile], bool],
    *,
    has_samples: bool = True,
    launches: str = "",
) -> Callable[[Callable[[ForeignFile, ReadRows], None]], ForeignFormat]:
    """Make a format of the function that reads it; see `Advice` and `ForeignFormat`."""
    return lambda read: ForeignFormat(name, Advice(command, has_samples, launches), sniff, read)


@contextmanager
def as_a_whole(source: ForeignFile) -> Iterator[None]:
    """Let the file be broken where no benchmark is."""
    try:
        yield
    except RowError as error:
        raise source.error("", str(error)) from None


def begins(
    first: bytes, *texts: bytes, near: tuple[int, bytes] = (0, b"")
) -> Callable[[ForeignFile], bool]:
    """Whether a file begins so, and its beginning has these texts.

    Args:
        near: a number of bytes, and a text that must be among the first of them.
    """

    def sniff(source: ForeignFile) -> bool:
        head = source.head
        has_all = near[1] in head[: near[0]] and all(text in head for text in texts)
        return head.startswith(first) and has_all

    return sniff
