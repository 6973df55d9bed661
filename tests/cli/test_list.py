from __future__ import annotations

import io

from rich.console import Console

from benchgate.cli.tree import print_benchmarks
from benchgate.measure.contract.found import Definition
from benchgate.model.run import Tier

LISTED = (
    Definition(
        "json/dumps",
        "",
        Tier.LOCKSTEP,
        "python",
        ("fast", "json"),
        location="benchmarks/bench_json.py:3",
    ),
    Definition("cli/start", "", Tier.INTERLEAVED, "command"),
)


def console() -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=80), stream


def test_a_listing_says_where_each_benchmark_is_from() -> None:
    target, stream = console()

    print_benchmarks(LISTED, target)

    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["benchmark", "kind", "defined", "at", "tags"]
    assert lines[1].split() == [
        "json/dumps",
        "python",
        "benchmarks/bench_json.py:3",
        "fast,",
        "json",
    ]
    assert lines[2].split() == ["cli/start", "command"]
    assert lines[-1] == "2 benchmarks"


def test_a_suite_is_counted_apart() -> None:
    target, stream = console()

    print_benchmarks((*LISTED, Definition("unit", "", Tier.SUITE, "suite")), target)

    lines = stream.getvalue().splitlines()
    assert lines[3].split() == ["unit", "suite"]
    assert lines[-1] == "2 benchmarks, and 1 suite: only a run tells its benchmarks"


def test_an_empty_listing_says_so() -> None:
    target, stream = console()

    print_benchmarks((), target)

    assert stream.getvalue().strip() == "0 benchmarks"
