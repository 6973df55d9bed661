"""What a file of JMH holds.

The file is not genuine: it was built after JSONResultFormat.java of JMH, which writes such files.
"""

from __future__ import annotations

from tests.formats.case import Case

JMH = [
    Case(
        "jmh",
        "jmh/built.json",
        "jmh 1.37",
        {
            "org.example.Lists.fill[mode=thrpt,kind=array,size=10]": (
                "throughput ops/s higher sampled 2x3 loops=1 3.446e+06",
                "gc.alloc.rate.norm B lower exact 2x3 loops=1 43.05",
            ),
            "org.example.Lists.fill[mode=thrpt,kind=array,size=1000]": (
                "throughput ops/s higher sampled 2x3 loops=1 4.361e+04",
            ),
            "org.example.Lists.sort[mode=avgt]": ("time s lower sampled 2x3 loops=1 1.226e-07",),
            "org.example.Lists.start[mode=ss]": ("time s lower sampled 2x3 loops=1 0.01535",),
            "org.example.Lists.find[mode=sample]": ("time s lower sampled 2x7 loops=1 5e-07",),
            "org.example.Queues.both[mode=thrpt]": (
                "throughput ops/s higher sampled 2x3 loops=1 5.419e+04",
                "get ops/s higher sampled 2x3 loops=1 2.024e+04",
                "put ops/s higher sampled 2x3 loops=1 3.249e+04",
            ),
            "org.example.Lists.nan[mode=avgt]": (
                "[6].primaryMetric.rawData[0][1]: nan is not a possible value"
            ),
        },
        (
            "gc.alloc.rate: JMH does not say which direction of 'MB/sec' is better",
            "gc.count: JMH does not say which direction of 'counts' is better",
        ),
    ),
]
