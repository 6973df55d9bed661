"""What genuine files of these tools hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

CRITERION = [
    Case(
        "criterion",
        "criterion/target-criterion",
        "criterion",
        {
            "fib 10": ("time s lower sampled 1x20 loops=65163 1.475e-07",),
            "sum/of/iter/16": ("time s lower sampled 1x20 loops=14397789 6.883e-10",),
        },
    ),
]
