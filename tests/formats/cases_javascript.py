"""What the genuine files of JavaScript's tools hold."""

from __future__ import annotations

from tests.formats.case import Case

TINYBENCH = [
    Case(
        "tinybench",
        "tinybench/samples.json",
        "tinybench",
        {
            "sort 100": ("time s lower sampled 1x100 loops=1 3.017e-06",),
            "concat": ("time s lower sampled 1x100 loops=1 5.4e-08",),
            "throws": "it failed: 'Error: boom'",
        },
    ),
    Case(
        "tinybench",
        "tinybench/medians.json",
        "tinybench",
        {
            "sort 100": ("time s lower summary 1x1 loops=1 2.996e-06",),
            "concat": ("time s lower summary 1x1 loops=1 5.9e-08",),
            "throws": "it failed: 'Error: boom'",
        },
    ),
    Case(
        "tinybench",
        "tinybench/v2.json",
        "tinybench",
        {
            "sort 100": ("time s lower sampled 1x34 loops=1 9.995e-06",),
            "spin": ("time s lower sampled 1x52 loops=1 1.89e-05",),
            "throws": "it threw an error",
        },
    ),
    Case(
        "tinybench",
        "tinybench/v3.json",
        "tinybench",
        {
            "sort 100": ("time s lower sampled 1x20 loops=1 9.925e-06",),
            "spin": ("time s lower sampled 1x20 loops=1 1.737e-05",),
            "throws": "it threw an error",
        },
    ),
]
VITEST = [
    Case(
        "vitest",
        "vitest/v4.json",
        "vitest",
        {
            "a.bench.js > sort > normal": ("time s lower summary 1x1 loops=1 2.11e-07",),
            "a.bench.js > sort > rev": ("time s lower summary 1x1 loops=1 4.8e-08",),
            "a.bench.js > outer > inner > x > p|q": ("time s lower summary 1x1 loops=1 1.47e-07",),
        },
    ),
    Case(
        "vitest",
        "vitest/v3-fails.json",
        "vitest",
        {
            "a.bench.js > top level": ("time s lower summary 1x1 loops=1 3.3e-07",),
            "a.bench.js > sort > normal": ("time s lower summary 1x1 loops=1 2.51e-07",),
            "a.bench.js > sort > throws": "it has no times: it threw an error, or did not run",
        },
    ),
]
MITATA = [
    Case(
        "mitata",
        "mitata/samples.json",
        "mitata",
        {
            "spin": ("time s lower sampled 1x100 loops=1 0.0007309",),
            "throws": "it failed: 'boom'",
            "g > same[n=8]": ("time s lower sampled 1x100 loops=4096 3.308e-07",),
            "g > same[n=64]": ("time s lower sampled 1x100 loops=4096 5.208e-06",),
        },
    ),
    Case(
        "mitata",
        "mitata/no-samples.json",
        "mitata",
        {
            "noop": ("time s lower summary 1x1 loops=1 7.935e-11",),
            "g > Array(1024)": ("time s lower summary 1x1 loops=1 3.098e-05",),
            "g > sort(8)": ("time s lower summary 1x1 loops=1 4.64e-07",),
            "g > sort(64)": ("time s lower summary 1x1 loops=1 4.041e-06",),
        },
    ),
    Case(
        "mitata",
        "mitata/bun.json",
        "mitata",
        {
            "noop": ("time s lower summary 1x1 loops=1 7.935e-11",),
            "g > Array(1024)": ("time s lower summary 1x1 loops=1 2.724e-06",),
            "g > sort(8)": ("time s lower summary 1x1 loops=1 2.924e-07",),
            "g > sort(64)": ("time s lower summary 1x1 loops=1 2.57e-06",),
        },
    ),
]
DENO_BENCH = [
    Case(
        "deno-bench",
        "deno-bench/fails.json",
        "deno-bench 2.9.6",
        {
            "d.bench.ts > async sleep0": ("time s lower summary 1x1 loops=1 7.659e-08",),
            "d.bench.ts > boom": "it failed: 'x'",
            "d.bench.ts > g > url parse": ("time s lower summary 1x1 loops=1 4.92e-07",),
            "d.bench.ts > g > json": ("time s lower summary 1x1 loops=1 5.077e-08",),
        },
    ),
    Case(
        "deno-bench",
        "deno-bench/two-files.json",
        "deno-bench 2.9.6",
        {
            "a/mod.bench.ts > spin": ("time s lower summary 1x1 loops=1 0.0004915",),
            "a/mod.bench.ts > timer": ("time s lower summary 1x1 loops=1 1.081e-07",),
            "b/mod.bench.ts > spin": ("time s lower summary 1x1 loops=1 0.0005249",),
            "b/mod.bench.ts > timer": ("time s lower summary 1x1 loops=1 9.49e-08",),
        },
    ),
]
BENCHMARK_JS = [
    Case(
        "benchmark.js",
        "benchmarkjs/output.txt",
        "benchmark.js",
        {
            "RegExp#test": ("time s lower summary 1x1 loops=1 1.446e-08",),
            "String#indexOf": ("time s lower summary 1x1 loops=1 7.919e-10",),
            "bad": "line 3: it failed, and shows no result",
        },
        ("line 4 is not a result: 'Fastest is String#indexOf'",),
    ),
    Case(
        "benchmark.js",
        "benchmarkjs/colors.txt",
        "benchmark.js",
        {
            "slow x 2": ("time s lower summary 1x1 loops=1 0.03059",),
            "ok": ("time s lower summary 1x1 loops=1 1.679e-09",),
        },
        (
            "line 1 is not a result: 'Suite 1:'",
            "line 3 is not a result: 'bad string: plain text'",
        ),
    ),
]
