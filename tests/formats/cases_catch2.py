"""What genuine files of these tools hold: one list for each format."""

from __future__ import annotations

from tests.formats.case import Case

CATCH2 = [
    Case(
        "catch2",
        "catch2/all-with-failure.xml",
        "catch2",
        {
            "Fib/fib 10": ("time s lower summary 1x1 loops=1 5.804e-08",),
            'Fib/fib <15> & "q"': ("time s lower summary 1x1 loops=1 8.218e-07",),
            "Fails/thrower": "it failed: x",
        },
    ),
    Case(
        "catch2",
        "catch2/fib.xml",
        "catch2",
        {
            "Fib/fib 10": ("time s lower summary 1x1 loops=1 5.507e-08",),
            'Fib/fib <15> & "q"': ("time s lower summary 1x1 loops=1 8.117e-07",),
        },
    ),
    Case(
        "catch2",
        "catch2/sections.xml",
        "catch2",
        {
            "Fib/fib 10": ("time s lower summary 1x1 loops=1 2.203e-07",),
            'Fib/fib <15> & "q"': ("time s lower summary 1x1 loops=1 2.474e-06",),
            "Tpl - int/add": ("time s lower summary 1x1 loops=1 2.708e-10",),
            "Tpl - double/add": ("time s lower summary 1x1 loops=1 2.721e-10",),
            "Gen/gen": "the file has 2 benchmarks of this name",
        },
    ),
]
