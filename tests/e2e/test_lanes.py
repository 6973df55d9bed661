"""Checks that measure several benchmarks at the same time."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.measure.machine.cpus import supports_pinning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not supports_pinning() or len(os.sched_getaffinity(0)) < 2,
        reason="lanes need two CPUs to which processes can be bound",
    ),
]

TWO = "def bench_one(): sum(range(1000))\n\n\ndef bench_two(): sorted(range(1000))\n"
WRITING = """\
from pathlib import Path

FILE = Path(__file__).with_name("scratch.txt")


def bench_write():
    with FILE.open("x") as file:  # fails if another process writes it at the same time
        file.write("x")
    FILE.unlink()


def bench_other(): sum(range(1000))
"""


def lanes_in(path: Path) -> Iterator[tuple[int, int | None]]:
    """The round and lane of each launch of a time."""
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    for arm in ("base", "head"):
        for benchmark in document[arm]["benchmarks"]:
            assert benchmark["status"] == "ok", benchmark["error"]
            for series in benchmark["series"]:
                if series["metric"]["name"] == "time":
                    launches = series["launches"]
                    yield from zip(launches["round"], launches["lane"], strict=True)


def check(benchgate: Program, toy: Project, source: str, *options: str) -> tuple[str, set[Any]]:
    (toy.root / "benchmarks" / "bench_more.py").write_text(source, encoding="utf-8")
    toy.commit()
    output = toy.root.parent / "result.json.gz"
    measured = ("--against", "HEAD", "--rounds", "3", "--output", output)
    done = benchgate(toy.root, "check", *measured, *options)
    return done.err, set(lanes_in(output))


def test_all_rounds_are_measured_in_lanes(benchgate: Program, toy: Project) -> None:
    said, launches = check(benchgate, toy, TWO, "--lanes", "2")
    assert "at a time" not in said
    assert launches == {(index, lane) for index in range(3) for lane in (0, 1)}


def test_one_lane_measures_everything_alone(benchgate: Program, toy: Project) -> None:
    _, launches = check(benchgate, toy, TWO, "--lanes", "1")
    assert {lane for _, lane in launches} == {None}


def test_what_writes_into_its_tree_is_measured_alone(benchgate: Program, toy: Project) -> None:
    said, launches = check(benchgate, toy, WRITING, "--lanes", "2")
    assert "one of them writes into its tree (benchmarks" in said
    assert {lane for _, lane in launches} == {None}


def test_more_lanes_than_cpus(benchgate: Program, toy: Project) -> None:
    said, launches = check(benchgate, toy, TWO, "--lanes", "999")
    cpus = len(os.sched_getaffinity(0))
    assert f"measuring {cpus} at a time instead of 999: this process may use {cpus} CPUs" in said
    assert {lane for index, lane in launches if index} <= set(range(cpus))
