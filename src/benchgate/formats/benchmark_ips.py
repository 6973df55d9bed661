"""What benchmark-ips for Ruby writes: JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.contents import read_json
from benchgate.formats.rows import (
    begins,
    reads,
    summary,
)
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ReadRows


@reads(
    "benchmark-ips",
    "ruby BENCHMARK.rb, with `x.json! 'FILE'` in it",
    begins(b"[", b'"central_tendency"'),
    has_samples=False,
)
def benchmark_ips(source: ForeignFile, rows: ReadRows) -> None:
    """benchmark-ips: the file that `x.json! FILE` writes.

    It has no samples, but for each benchmark the central tendency of its iterations per second.
    """
    for node in read_json(source).each():
        with rows.row() as row:
            row.id = node["name"].text
            rate = node["central_tendency"]
            better = Better.HIGHER
            row.series.append(summary("throughput", "i/s", rate.number, rate.place, better=better))
