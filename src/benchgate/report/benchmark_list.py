"""Prints the benchmarks that would be measured, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.report.columns import Column, Line, print_columns, print_text
from benchgate.report.escape import plain_line
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_COLUMNS = (
    Column("benchmark", name=True),
    Column("kind"),
    Column("defined at", drop=2),
    Column("tags", drop=1),
)


@dataclass(frozen=True, slots=True)
class ListedBenchmark:
    """A benchmark that would be measured.

    Attributes:
        kind: "python", "command".
        location: `path:line` of its definition; None when unknown.
    """

    id: str
    kind: str
    location: str | None = None
    tags: tuple[str, ...] = ()


def render_listing(benchmarks: Sequence[ListedBenchmark], console: Console) -> None:
    """Print the benchmarks that would be measured, one line each."""
    lines = [
        Line(
            (
                plain_line(benchmark.id),
                plain_line(benchmark.kind),
                plain_line(benchmark.location or ""),
                plain_line(", ".join(benchmark.tags)),
            )
        )
        for benchmark in benchmarks
    ]
    print_columns(console, _COLUMNS, lines)
    console.print()
    print_text(console, Text(counted(len(benchmarks), "benchmark"), "dim"))
