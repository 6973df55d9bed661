"""What files of any tool hold, in the formats of services that keep results."""

from __future__ import annotations

from tests.formats.case import Case

CUSTOM = [
    Case(
        "customSmallerIsBetter",
        "custom/times.json",
        "customSmallerIsBetter",
        {
            "parse": ("time s lower summary 1x1 loops=1 1.847e-06",),
            "load": ("time s lower summary 1x1 loops=1 0.012",),
            "build": ("time s lower summary 1x1 loops=1 41.5",),
            "bundle": ("value kB lower summary 1x1 loops=1 310",),
            "not run": ("[4]: the key 'value' is missing"),
            "twice": ("the file has 2 benchmarks of this name"),
        },
        is_recognized=False,
    ),
    Case(
        "customBiggerIsBetter",
        "custom/rates.json",
        "customBiggerIsBetter",
        {
            "requests": ("value req/s higher summary 1x1 loops=1 7012",),
            "uptime": ("value s higher summary 1x1 loops=1 3600",),
        },
        is_recognized=False,
    ),
]
BENCHER = [
    Case(
        "bencher",
        "bencher/results.json",
        "bencher",
        {
            "parse [n=10]": (
                "time s lower summary 1x1 loops=1 8.825e-08",
                "throughput 1/s higher summary 1x1 loops=1 1.133e+07",
            ),
            "build.sh": ("build_time s lower summary 1x1 loops=1 87",),
            "binary": (
                "file_size B lower exact 1x1 loops=1 4.2e+06",
                "instructions  lower exact 1x1 loops=1 5.32e+04",
            ),
            "broken": ("broken.latency: the key 'value' is missing"),
        },
        ("cover: coverage: Bencher does not define this measure",),
    ),
]
