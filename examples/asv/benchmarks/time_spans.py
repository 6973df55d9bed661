"""Benchmarks for asv: what must not get slower."""

from __future__ import annotations

import random

from spans import covers, merge


class Merge:
    """Spans in random order, of which about half overlap."""

    params = ([100, 5000],)
    param_names = ("count",)

    def setup(self, count: int) -> None:
        source = random.Random(42)
        starts = [source.randrange(count * 20) for _ in range(count)]
        self.spans = [(start, start + source.randrange(1, 30)) for start in starts]

    def time_merge(self, count: int) -> None:
        merge(self.spans)


class Covers:
    """A search in spans that are merged already."""

    def setup(self) -> None:
        self.merged = [(start, start + 5) for start in range(0, 100_000, 10)]

    def time_covers(self) -> None:
        for moment in range(0, 100_000, 997):
            covers(self.merged, moment)
