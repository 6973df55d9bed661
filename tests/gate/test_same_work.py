from __future__ import annotations

from dataclasses import replace

import pytest
from tests.results import series_of

from benchgate.gate.same_work import TOOL, VERSION, does_same_work, like_a_suite, work_in_files
from benchgate.model.metrics import Kind, Metric
from benchgate.model.run import BenchmarkResult, Series, Tier

SUITE = BenchmarkResult("a[x@y]", "hash", Tier.SUITE, parts={TOOL: "go", "its definition": "d"})
FILE = BenchmarkResult("a[x@y]", "go:a[x@y]", Tier.STORED)


@pytest.mark.parametrize(
    ("base", "head", "same"),
    [
        (FILE, SUITE, True),
        (replace(FILE, workload="pyperf:a[x@y]"), SUITE, False),
        (replace(FILE, workload="go:a[x@y]@1"), SUITE, False),
        (
            replace(FILE, workload="go:a[x@y]@1"),
            replace(SUITE, parts={TOOL: "go", VERSION: "1"}),
            True,
        ),
        (replace(SUITE, workload="other"), SUITE, False),
        (replace(SUITE, tier=Tier.STORED, workload="hash"), SUITE, True),
        (FILE, replace(SUITE, tier=Tier.INTERLEAVED), False),
        (SUITE, FILE, False),
    ],
)
def test_a_file_of_the_same_tool_has_the_same_work(
    base: BenchmarkResult, head: BenchmarkResult, *, same: bool
) -> None:
    assert does_same_work(base, head) is same


def test_only_suites_have_work_in_files() -> None:
    assert work_in_files(SUITE) == "go:a[x@y]"
    assert work_in_files(FILE) is None


def series(kind: Kind = Kind.SAMPLED) -> Series:
    return series_of([[1.0, 9.0, 2.0], [4.0]], metric=Metric("time", "s", kind=kind), loops=7)


@pytest.mark.parametrize("kind", [Kind.SAMPLED, Kind.SUMMARY])
def test_beside_a_suite_each_launch_is_its_median(kind: Kind) -> None:
    found = like_a_suite(series(kind), SUITE)
    assert [list(launch.samples) for launch in found.launches] == [[2.0], [4.0]]
    assert (found.loops, found.metric) == (1, Metric("time", "s"))


def test_counts_and_other_kinds_stay() -> None:
    counts = series(Kind.EXACT)
    assert like_a_suite(counts, SUITE) is counts
    times = series()
    assert like_a_suite(times, FILE) is times
