"""What genuine files of these tools hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

BENCHMARK_IPS = [
    Case(
        "benchmark-ips",
        "benchmark-ips/a.json",
        "benchmark-ips",
        {
            "addition": ("throughput i/s higher summary 1x1 loops=1 3.247e+07",),
            "concat <a>|b": ("throughput i/s higher summary 1x1 loops=1 8.523e+06",),
        },
    ),
]
