"""What genuine files of tools for Python hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

PYPERF = [
    Case(
        "pyperf",
        "pyperf/suite.json",
        "pyperf 2.10.0",
        {
            "dumps": (
                "time s lower sampled 4x3 loops=1000 1.664e-06",
                "peak_rss B lower sampled 4x1 loops=1 1.975e+07",
            ),
            "sum": (
                "time s lower sampled 4x3 loops=1000 6.594e-07",
                "peak_rss B lower sampled 4x1 loops=1 1.975e+07",
            ),
        },
    ),
    Case(
        "pyperf",
        "pyperf/command.json",
        "pyperf 2.10.0",
        {
            "true": (
                "time s lower sampled 5x1 loops=128 0.001376",
                "peak_rss B lower sampled 5x1 loops=1 1.285e+07",
            )
        },
    ),
    Case(
        "pyperf",
        "pyperf/calibrated.json",
        "pyperf 2.10.0",
        {
            "timeit": (
                "time s lower sampled 3x2 loops=8388608 1.574e-08",
                "peak_rss B lower sampled 3x1 loops=1 1.995e+07",
            )
        },
    ),
    Case(
        "pyperf",
        "pyperf/track-memory.json",
        "pyperf 2.10.0",
        {
            "timeit": (
                "memory B lower sampled 3x1 loops=1 1.264e+07",
                "peak_rss B lower sampled 3x1 loops=1 1.995e+07",
            )
        },
    ),
]
