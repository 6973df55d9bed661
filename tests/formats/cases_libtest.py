"""What genuine files of these tools hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

PANIC = "it failed under cargo bench\nthread 'main' (1) panicked at src/lib.rs:7:63:\nboom"

LIBTEST = [
    Case(
        "libtest",
        "libtest/bench.txt",
        "libtest",
        {
            "tests::bench_bytes": (
                "time s lower summary 1x1 loops=1 1.485e-07",
                "throughput B/s higher summary 1x1 loops=1 6.918e+09",
            ),
            "tests::bench_fib_10": ("time s lower summary 1x1 loops=1 1.178e-07",),
            "tests::bench_fib_20": ("time s lower summary 1x1 loops=1 1.476e-05",),
        },
    ),
    Case(
        "libtest",
        "libtest/bench.ndjson",
        "libtest",
        {
            "tests::bench_bytes": (
                "time s lower summary 1x1 loops=1 1.454e-07",
                "throughput B/s higher summary 1x1 loops=1 7.062e+09",
            ),
            "tests::bench_fib_10": ("time s lower summary 1x1 loops=1 1.155e-07",),
            "tests::bench_fib_20": ("time s lower summary 1x1 loops=1 1.475e-05",),
        },
    ),
    Case(
        "libtest",
        "libtest/criterion.txt",
        "libtest",
        {
            "fib 10": ("time s lower summary 1x1 loops=1 1.47e-07",),
            "sum/of/iter/16": ("time s lower summary 1x1 loops=1 0",),
            "sum/of/iter/256": ("time s lower summary 1x1 loops=1 0",),
        },
    ),
    Case(
        "libtest",
        "libtest/fail.txt",
        "libtest",
        {
            "tests::bench_noise": ("time s lower summary 1x1 loops=1 5.5e-10",),
            "tests::bench_panic": PANIC,
            "tests::bench_sum": ("time s lower summary 1x1 loops=1 1.4e-09",),
        },
    ),
    Case(
        "libtest",
        "libtest/fail.ndjson",
        "libtest",
        {
            "tests::bench_noise": ("time s lower summary 1x1 loops=1 5.437e-10",),
            "tests::bench_panic": PANIC,
            "tests::bench_sum": ("time s lower summary 1x1 loops=1 1.217e-09",),
        },
    ),
    Case(
        "libtest",
        "libtest/noise.txt",
        "libtest",
        {
            "tests::bench_noise": ("time s lower summary 1x1 loops=1 5.5e-10",),
            "tests::bench_panic": "it failed under cargo bench",
            "tests::bench_sum": ("time s lower summary 1x1 loops=1 1.21e-09",),
        },
    ),
    Case(
        "libtest",
        "libtest/noise.ndjson",
        "libtest",
        {
            "tests::bench_noise": ("time s lower summary 1x1 loops=1 5.916e-10",),
            "tests::bench_panic": "it failed under cargo bench",
            "tests::bench_sum": ("time s lower summary 1x1 loops=1 1.371e-09",),
        },
    ),
]
