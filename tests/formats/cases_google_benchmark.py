"""What genuine files of Google Benchmark hold."""

from __future__ import annotations

from tests.formats.case import Case

GOOGLE_BENCHMARK = [
    Case(
        "google-benchmark",
        "google-benchmark/single.json",
        "google-benchmark",
        {
            "BM_Sort/8": (
                "time s lower sampled 1x1 loops=254312 5.347e-08",
                "cpu_time s lower sampled 1x1 loops=254312 5.334e-08",
                "bytes_per_second B/s higher sampled 1x1 loops=254312 6e+08",
                "items_per_second items/s higher sampled 1x1 loops=254312 1.5e+08",
            ),
            "BM_Sort/64": (
                "time s lower sampled 1x1 loops=68972 2.192e-07",
                "cpu_time s lower sampled 1x1 loops=68972 1.828e-07",
                "bytes_per_second B/s higher sampled 1x1 loops=68972 1.4e+09",
                "items_per_second items/s higher sampled 1x1 loops=68972 3.501e+08",
            ),
            "BM_Sort/512": (
                "time s lower sampled 1x1 loops=9169 1.531e-06",
                "cpu_time s lower sampled 1x1 loops=9169 1.531e-06",
                "bytes_per_second B/s higher sampled 1x1 loops=9169 1.338e+09",
                "items_per_second items/s higher sampled 1x1 loops=9169 3.345e+08",
            ),
            "BM_Str/real_time/threads:1": (
                "time s lower sampled 1x1 loops=905642 1.539e-08",
                "cpu_time s lower sampled 1x1 loops=905642 1.539e-08",
            ),
            "BM_Str/real_time/threads:2": (
                "time s lower sampled 1x1 loops=1662352 8.872e-09",
                "cpu_time s lower sampled 1x1 loops=1662352 1.77e-08",
            ),
            'weird "name", <x>/y': (
                "time s lower sampled 1x1 loops=394797 3.694e-08",
                "cpu_time s lower sampled 1x1 loops=394797 3.656e-08",
            ),
            "BM_Err": "it failed: no device",
        },
        ("the counter 'rate': the file says neither its unit nor which direction is better",),
    ),
    Case(
        "google-benchmark",
        "google-benchmark/repetitions.json",
        "google-benchmark",
        {
            "BM_Sort/8": (
                "time s lower sampled 1x5 loops=290661 4.906e-08",
                "cpu_time s lower sampled 1x5 loops=290661 4.863e-08",
                "bytes_per_second B/s higher sampled 1x5 loops=290661 6.581e+08",
                "items_per_second items/s higher sampled 1x5 loops=290661 1.645e+08",
            ),
            "BM_Sort/64": (
                "time s lower sampled 1x5 loops=92934 1.492e-07",
                "cpu_time s lower sampled 1x5 loops=92934 1.491e-07",
                "bytes_per_second B/s higher sampled 1x5 loops=92934 1.717e+09",
                "items_per_second items/s higher sampled 1x5 loops=92934 4.293e+08",
            ),
            "BM_Sort/512": (
                "time s lower sampled 1x5 loops=9308 1.514e-06",
                "cpu_time s lower sampled 1x5 loops=9308 1.514e-06",
                "bytes_per_second B/s higher sampled 1x5 loops=9308 1.353e+09",
                "items_per_second items/s higher sampled 1x5 loops=9308 3.382e+08",
            ),
            "BM_Str/real_time/threads:1": (
                "time s lower sampled 1x5 loops=1013167 1.544e-08",
                "cpu_time s lower sampled 1x5 loops=1013167 1.544e-08",
            ),
            "BM_Str/real_time/threads:2": (
                "time s lower sampled 1x5 loops=1816016 1.554e-08",
                "cpu_time s lower sampled 1x5 loops=1816016 1.572e-08",
            ),
            'weird "name", <x>/y': (
                "time s lower sampled 1x5 loops=363192 3.851e-08",
                "cpu_time s lower sampled 1x5 loops=363192 3.843e-08",
            ),
            "BM_Err": "it failed: no device",
        },
        ("the counter 'rate': the file says neither its unit nor which direction is better",),
    ),
    Case(
        "google-benchmark",
        "google-benchmark/aggregates.json",
        "google-benchmark",
        {
            "BM_Sort/8": (
                "time s lower summary 1x1 loops=1 9.906e-08",
                "cpu_time s lower summary 1x1 loops=1 5.363e-08",
                "bytes_per_second B/s higher summary 1x1 loops=1 5.966e+08",
                "items_per_second items/s higher summary 1x1 loops=1 1.492e+08",
            ),
            "BM_Sort/64": (
                "time s lower summary 1x1 loops=1 3.399e-07",
                "cpu_time s lower summary 1x1 loops=1 3.379e-07",
                "bytes_per_second B/s higher summary 1x1 loops=1 7.577e+08",
                "items_per_second items/s higher summary 1x1 loops=1 1.894e+08",
            ),
            "BM_Sort/512": (
                "time s lower summary 1x1 loops=1 3.674e-06",
                "cpu_time s lower summary 1x1 loops=1 3.277e-06",
                "bytes_per_second B/s higher summary 1x1 loops=1 6.25e+08",
                "items_per_second items/s higher summary 1x1 loops=1 1.562e+08",
            ),
            "BM_Str/real_time/threads:1": (
                "time s lower summary 1x1 loops=1 2.655e-08",
                "cpu_time s lower summary 1x1 loops=1 2.317e-08",
            ),
            "BM_Str/real_time/threads:2": (
                "time s lower summary 1x1 loops=1 1.174e-08",
                "cpu_time s lower summary 1x1 loops=1 2.322e-08",
            ),
            'weird "name", <x>/y': (
                "time s lower summary 1x1 loops=1 1.194e-07",
                "cpu_time s lower summary 1x1 loops=1 5.463e-08",
            ),
            "BM_Err": "it failed: no device",
        },
        ("the counter 'rate': the file says neither its unit nor which direction is better",),
    ),
    Case(
        "google-benchmark",
        "google-benchmark/v1.9.5.json",
        "google-benchmark 1.9.5",
        {
            "sum_million/100": (
                "time s lower sampled 1x3 loops=1392 5.197e-05",
                "cpu_time s lower sampled 1x3 loops=1392 1.075e-05",
            ),
            "skipped": "it failed: no device",
            "my name/manual_time": (
                "time s lower sampled 1x3 loops=10 0.001",
                "cpu_time s lower sampled 1x3 loops=10 1.532e-07",
            ),
        },
        ("the counter 'hits': the file says neither its unit nor which direction is better",),
    ),
    Case(
        "google-benchmark",
        "google-benchmark/single.csv",
        "google-benchmark",
        {
            "BM_Sort/8": (
                "time s lower sampled 1x1 loops=260591 5.265e-08",
                "cpu_time s lower sampled 1x1 loops=260591 5.261e-08",
                "bytes_per_second B/s higher sampled 1x1 loops=260591 6.083e+08",
                "items_per_second items/s higher sampled 1x1 loops=260591 1.521e+08",
            ),
            "BM_Sort/64": (
                "time s lower sampled 1x1 loops=72058 1.918e-07",
                "cpu_time s lower sampled 1x1 loops=72058 1.918e-07",
                "bytes_per_second B/s higher sampled 1x1 loops=72058 1.335e+09",
                "items_per_second items/s higher sampled 1x1 loops=72058 3.336e+08",
            ),
            "BM_Sort/512": (
                "time s lower sampled 1x1 loops=6712 2.021e-06",
                "cpu_time s lower sampled 1x1 loops=6712 2.021e-06",
                "bytes_per_second B/s higher sampled 1x1 loops=6712 1.013e+09",
                "items_per_second items/s higher sampled 1x1 loops=6712 2.533e+08",
            ),
        },
    ),
    Case(
        "google-benchmark",
        "google-benchmark/repetitions.csv",
        "google-benchmark",
        {
            "BM_Sort/8": (
                "time s lower sampled 1x3 loops=48083 2.254e-07",
                "cpu_time s lower sampled 1x3 loops=48083 5.74e-08",
            ),
            "BM_Sort/64": (
                "time s lower sampled 1x3 loops=14534 4.954e-07",
                "cpu_time s lower sampled 1x3 loops=14534 1.706e-07",
            ),
            "BM_Sort/512": (
                "time s lower sampled 1x3 loops=1123 5.249e-06",
                "cpu_time s lower sampled 1x3 loops=1123 2.556e-06",
            ),
            "BM_Str/real_time/threads:1": (
                "time s lower sampled 1x3 loops=100000 4.246e-08",
                "cpu_time s lower sampled 1x3 loops=100000 2.149e-08",
            ),
            "BM_Str/real_time/threads:2": (
                "time s lower sampled 1x3 loops=222994 1.714e-08",
                "cpu_time s lower sampled 1x3 loops=222994 2.26e-08",
            ),
            'weird "name", <x>/y': (
                "time s lower sampled 1x3 loops=60390 2.059e-07",
                "cpu_time s lower sampled 1x3 loops=60390 7.201e-08",
            ),
            "BM_Err": "it failed: no device",
        },
    ),
    Case(
        "google-benchmark",
        "google-benchmark/v1.9.5.csv",
        "google-benchmark",
        {
            "sum_million/100": (
                "time s lower sampled 1x2 loops=1231 3.171e-05",
                "cpu_time s lower sampled 1x2 loops=1231 1.384e-05",
            ),
            "skipped": "it failed: no device",
        },
        ("the counter 'hits': the file says neither its unit nor which direction is better",),
    ),
]
