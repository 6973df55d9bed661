"""What files of BenchmarkDotNet hold.

They are not genuine: they were built after JsonExporterBase.cs of BenchmarkDotNet, which writes
such files.
"""

from __future__ import annotations

from tests.formats.case import Case

BENCHMARKDOTNET = [
    Case(
        "benchmarkdotnet",
        "benchmarkdotnet/built-report-full.json",
        "benchmarkdotnet 0.13.12",
        {
            "Example.Lists.Sort(N: 10)": (
                "time s lower sampled 1x3 loops=65536 4.985e-08",
                "Gen0Collects  lower summary 1x1 loops=1 0.05",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Sort(N: 1000)": (
                "time s lower sampled 1x3 loops=1024 9.752e-06",
                "Allocated Memory B lower exact 1x1 loops=1 4024",
                "Hits hits higher summary 1x1 loops=1 3",
            ),
            "Example.Lists.Find[Runtime=.NET 6.0]": (
                "time s lower sampled 2x3 loops=4096 1.273e-08",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Find[Runtime=.NET 8.0]": (
                "time s lower sampled 2x3 loops=4096 1.204e-08",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Broken": "it failed under BenchmarkDotNet, whose log says why",
        },
    ),
    Case(
        "benchmarkdotnet",
        "benchmarkdotnet/built-report-brief.json",
        "benchmarkdotnet 0.13.12",
        {
            "Example.Lists.Sort(N: 10)": (
                "time s lower summary 1x1 loops=1 4.55e-08",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Sort(N: 1000)": (
                "time s lower summary 1x1 loops=1 9e-06",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Find[Runtime=.NET 6.0]": (
                "time s lower summary 1x1 loops=1 1.2e-08",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Find[Runtime=.NET 8.0]": (
                "time s lower summary 1x1 loops=1 1.1e-08",
                "Allocated Memory B lower exact 1x1 loops=1 424",
            ),
            "Example.Lists.Broken": "it failed under BenchmarkDotNet, whose log says why",
        },
    ),
]
