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
ASV = [
    Case(
        "asv",
        "asv/alone.json",
        "asv",
        {
            "bench.TimeSuite.time_work(10, 'a')": ("time s lower sampled 1x1 loops=1 2.533e-06",),
            "bench.TimeSuite.time_work(10, 'b')": ("time s lower sampled 1x1 loops=1 2.998e-06",),
            "bench.TimeSuite.time_work(1000, 'a')": ("time s lower sampled 1x1 loops=1 2.006e-05",),
            "bench.TimeSuite.time_work(1000, 'b')": ("time s lower sampled 1x1 loops=1 2.086e-05",),
            "bench.time_fail": "it failed under asv, which does not say why",
            "bench.TimeSuite.mem_list(10, 'a')": ("value  lower summary 1x1 loops=1 136",),
            "bench.TimeSuite.mem_list(10, 'b')": ("value  lower summary 1x1 loops=1 136",),
            "bench.TimeSuite.mem_list(1000, 'a')": ("value  lower summary 1x1 loops=1 8056",),
            "bench.TimeSuite.mem_list(1000, 'b')": ("value  lower summary 1x1 loops=1 8056",),
            "bench.TimeSuite.peakmem_list(10, 'a')": (
                "value  lower summary 1x1 loops=1 2.749e+07",
            ),
            "bench.TimeSuite.peakmem_list(10, 'b')": (
                "value  lower summary 1x1 loops=1 2.749e+07",
            ),
            "bench.TimeSuite.peakmem_list(1000, 'a')": (
                "value  lower summary 1x1 loops=1 3.119e+07",
            ),
            "bench.TimeSuite.peakmem_list(1000, 'b')": (
                "value  lower summary 1x1 loops=1 3.118e+07",
            ),
            "bench.TimeSuite.track_count(10, 'a')": ("value  lower summary 1x1 loops=1 20",),
            "bench.TimeSuite.track_count(10, 'b')": ("value  lower summary 1x1 loops=1 20",),
            "bench.TimeSuite.track_count(1000, 'a')": ("value  lower summary 1x1 loops=1 2000",),
            "bench.TimeSuite.track_count(1000, 'b')": ("value  lower summary 1x1 loops=1 2000",),
        },
    ),
    Case(
        "asv",
        "asv/results",
        "asv",
        {
            "bench.TimeSuite.time_work(10, 'a')": ("time s lower sampled 1x1 loops=1 2.533e-06",),
            "bench.TimeSuite.time_work(10, 'b')": ("time s lower sampled 1x1 loops=1 2.998e-06",),
            "bench.TimeSuite.time_work(1000, 'a')": ("time s lower sampled 1x1 loops=1 2.006e-05",),
            "bench.TimeSuite.time_work(1000, 'b')": ("time s lower sampled 1x1 loops=1 2.086e-05",),
            "bench.time_fail": "it failed under asv, which does not say why",
            "bench.TimeSuite.mem_list(10, 'a')": ("memory B lower exact 1x1 loops=1 136",),
            "bench.TimeSuite.mem_list(10, 'b')": ("memory B lower exact 1x1 loops=1 136",),
            "bench.TimeSuite.mem_list(1000, 'a')": ("memory B lower exact 1x1 loops=1 8056",),
            "bench.TimeSuite.mem_list(1000, 'b')": ("memory B lower exact 1x1 loops=1 8056",),
            "bench.TimeSuite.peakmem_list(10, 'a')": (
                "peak_rss B lower summary 1x1 loops=1 2.749e+07",
            ),
            "bench.TimeSuite.peakmem_list(10, 'b')": (
                "peak_rss B lower summary 1x1 loops=1 2.749e+07",
            ),
            "bench.TimeSuite.peakmem_list(1000, 'a')": (
                "peak_rss B lower summary 1x1 loops=1 3.119e+07",
            ),
            "bench.TimeSuite.peakmem_list(1000, 'b')": (
                "peak_rss B lower summary 1x1 loops=1 3.118e+07",
            ),
            "bench.TimeSuite.track_count(10, 'a')": ("value items lower summary 1x1 loops=1 20",),
            "bench.TimeSuite.track_count(10, 'b')": ("value items lower summary 1x1 loops=1 20",),
            "bench.TimeSuite.track_count(1000, 'a')": (
                "value items lower summary 1x1 loops=1 2000",
            ),
            "bench.TimeSuite.track_count(1000, 'b')": (
                "value items lower summary 1x1 loops=1 2000",
            ),
        },
    ),
    Case(
        "asv",
        "asv/samples",
        "asv",
        {
            "suite.Sorts.time_sort(10, 'up')": ("time s lower sampled 1x8 loops=1 3.425e-06",),
            "suite.Sorts.time_sort(1000, 'up')": ("time s lower sampled 1x8 loops=1 9.113e-06",),
            "suite.Sorts.time_sort(1000, 'down')": "it failed under asv, which does not say why",
            "suite.time_broken": "it failed under asv, which does not say why",
            "suite.time_len": ("time s lower sampled 1x8 loops=17855 6.141e-08",),
            "suite.timeraw_import": ("time s lower sampled 1x8 loops=1 0.0274",),
            "suite.Sorts.mem_list(10, 'up')": ("memory B lower exact 1x1 loops=1 136",),
            "suite.Sorts.mem_list(1000, 'up')": ("memory B lower exact 1x1 loops=1 8056",),
            "suite.Sorts.mem_list(1000, 'down')": ("memory B lower exact 1x1 loops=1 8056",),
            "suite.peakmem_list": ("peak_rss B lower summary 1x1 loops=1 2.739e+07",),
            "suite.track_answer": ("value answers lower summary 1x1 loops=1 42",),
        },
        (
            "suite.Sorts.time_sort(10, 'down'): asv skipped it",
            "suite.Sorts.mem_list(10, 'down'): asv skipped it",
        ),
    ),
]
