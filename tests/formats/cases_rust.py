"""What the genuine output of tools for Rust holds, beside Criterion's folder and libtest."""

from __future__ import annotations

from tests.formats.case import Case

CRITERION_TEXT = [
    Case(
        "criterion",
        "criterion/verbose.txt",
        "criterion",
        {
            "alloc": (
                "time s lower summary 1x1 loops=1 0.002531",
                "throughput B/s higher summary 1x1 loops=1 4.144e+08",
            ),
        },
    ),
    Case(
        "criterion",
        "criterion/first.txt",
        "criterion",
        {
            "fib 10": ("time s lower summary 1x1 loops=1 1.419e-07",),
            "sum/of/iter/16": (
                "time s lower summary 1x1 loops=1 7.207e-10",
                "throughput elem/s higher summary 1x1 loops=1 2.22e+10",
            ),
            "sum/of/iter/256": (
                "time s lower summary 1x1 loops=1 6.788e-10",
                "throughput elem/s higher summary 1x1 loops=1 3.771e+11",
            ),
        },
    ),
]
DIVAN = [
    Case(
        "divan",
        "divan/readme.txt",
        "divan",
        {
            "example::fibonacci::1": ("time s lower summary 1x1 loops=1 6.57e-10",),
            "example::fibonacci::2": ("time s lower summary 1x1 loops=1 2.788e-09",),
            "example::fibonacci::4": ("time s lower summary 1x1 loops=1 7.061e-09",),
            "example::fibonacci::8": ("time s lower summary 1x1 loops=1 5.796e-08",),
            "example::fibonacci::16": ("time s lower summary 1x1 loops=1 2.916e-06",),
            "example::fibonacci::32": ("time s lower summary 1x1 loops=1 0.006283",),
        },
    ),
    Case(
        "divan",
        "divan/nested.txt",
        "divan",
        {
            "divan::time::timer::get_tsc": ("time s lower summary 1x1 loops=1 1.61e-10",),
            "divan::time::timer::measure::precision": (
                "time s lower summary 1x1 loops=1 0.0002019",
            ),
            "divan::time::timer::measure::sample_loop_overhead": (
                "time s lower summary 1x1 loops=1 0.0003145",
            ),
        },
    ),
    Case(
        "divan",
        "divan/rates.txt",
        "divan",
        {
            "chacha_bench::chacha_rng::1024": (
                "time s lower summary 1x1 loops=1 0.07329",
                ("items_per_second 1/s higher summary 1x1 loops=1 1.397e+04"),
            ),
            "chacha_bench::chacha_rng::1048576": (
                "time s lower summary 1x1 loops=1 0.07355",
                ("items_per_second 1/s higher summary 1x1 loops=1 1.425e+07"),
            ),
            "chacha_bench::chacha_rng::1073741824": (
                "time s lower summary 1x1 loops=1 0.1983",
                ("items_per_second 1/s higher summary 1x1 loops=1 5.412e+09"),
            ),
            "masked_xor_bench::masked_xor_64::1024": (
                "time s lower summary 1x1 loops=1 2.068e-05",
                "items_per_second 1/s higher summary 1x1 loops=1 9.9e+07",
            ),
            "masked_xor_bench::masked_xor_64::16777216": (
                "time s lower summary 1x1 loops=1 0.0004928",
                ("items_per_second 1/s higher summary 1x1 loops=1 6.808e+10"),
            ),
            "masked_xor_bench::masked_xor_256::16777216": (
                "time s lower summary 1x1 loops=1 0.001847",
                ("items_per_second 1/s higher summary 1x1 loops=1 1.816e+10"),
            ),
        },
    ),
]
GUNGRAUN = [
    Case(
        "gungraun",
        "gungraun/first.txt",
        "gungraun",
        {
            "library_benchmark::bench_fibonacci_group::bench_fibonacci short": (
                "instructions  lower exact 1x1 loops=1 1734",
                "estimated_cycles  lower summary 1x1 loops=1 2464",
            ),
            "library_benchmark::bench_fibonacci_group::bench_fibonacci long": (
                "instructions  lower exact 1x1 loops=1 2.621e+07",
                "estimated_cycles  lower summary 1x1 loops=1 3.564e+07",
            ),
        },
    ),
    Case(
        "gungraun",
        "gungraun/second.txt",
        "gungraun",
        {
            "library_benchmark::bench_fibonacci_group::bench_fibonacci short": (
                "instructions  lower exact 1x1 loops=1 2805",
                "estimated_cycles  lower summary 1x1 loops=1 3920",
            ),
            "library_benchmark::bench_fibonacci_group::bench_fibonacci long": (
                "instructions  lower exact 1x1 loops=1 1.62e+07",
                "estimated_cycles  lower summary 1x1 loops=1 2.203e+07",
            ),
        },
    ),
    Case(
        "gungraun",
        "gungraun/threads.txt",
        "gungraun",
        {
            "lib_bench_threads::my_group::bench_threads two_threads": (
                "instructions  lower exact 1x1 loops=1 2.73e+04",
                "estimated_cycles  lower summary 1x1 loops=1 8.692e+04",
            ),
        },
    ),
    Case(
        "gungraun",
        "gungraun/compared.txt",
        "gungraun",
        {
            "my_benchmark::bubble_sort_group::bubble_sort_best_case case_2": (
                "instructions  lower exact 1x1 loops=1 63",
                "estimated_cycles  lower summary 1x1 loops=1 231",
            ),
            "my_benchmark::bubble_sort_group::bubble_sort_best_case multiple_0": (
                "instructions  lower exact 1x1 loops=1 94",
                "estimated_cycles  lower summary 1x1 loops=1 268",
            ),
            "my_benchmark::bubble_sort_group::bubble_sort_best_case multiple_1": (
                "instructions  lower exact 1x1 loops=1 136",
                "estimated_cycles  lower summary 1x1 loops=1 319",
            ),
            "my_benchmark::bubble_sort_group::bubble_sort_worst_case case_2": (
                "instructions  lower exact 1x1 loops=1 66",
                "estimated_cycles  lower summary 1x1 loops=1 236",
            ),
            "my_benchmark::bubble_sort_group::bubble_sort_worst_case multiple_0": (
                "instructions  lower exact 1x1 loops=1 103",
                "estimated_cycles  lower summary 1x1 loops=1 283",
            ),
            "my_benchmark::bubble_sort_group::bubble_sort_worst_case multiple_1": (
                "instructions  lower exact 1x1 loops=1 154",
                "estimated_cycles  lower summary 1x1 loops=1 349",
            ),
        },
    ),
    Case(
        "gungraun",
        "gungraun/binary.txt",
        "gungraun",
        {
            "binary_benchmark::my_group::bench_binary some_id": (
                "instructions  lower exact 1x1 loops=1 3.421e+05",
                "estimated_cycles  lower summary 1x1 loops=1 6.044e+05",
            ),
        },
    ),
]
