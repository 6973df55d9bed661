"""What genuine files of these tools hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

HASKELL_CRITERION = [
    Case(
        "haskell-criterion",
        "haskell-criterion/out.json",
        "haskell-criterion 1.5.13.0",
        {
            "fib/5": (
                "time s lower sampled 1x18 loops=1826278 2.702e-08",
                "cpu_time s lower sampled 1x18 loops=1826278 2.703e-08",
            ),
            "fib/10": (
                "time s lower sampled 1x16 loops=175581 2.584e-07",
                "cpu_time s lower sampled 1x16 loops=175581 2.584e-07",
            ),
        },
    ),
    Case(
        "haskell-criterion",
        "haskell-criterion/out.csv",
        "haskell-criterion",
        {
            "fib/5": ("time s lower summary 1x1 loops=1 2.48e-08",),
            "fib/10": ("time s lower summary 1x1 loops=1 2.59e-07",),
        },
    ),
]
