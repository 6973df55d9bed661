"""What `export` writes, read by the programs that it is for."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from tests.loads import measured_step
from tests.results import arm

from benchgate.cli import cli
from benchgate.describe.steps import histogram_of
from benchgate.errors import FormatError, UsageError
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.model.load import LoadLaunch

STARTED = "2025-01-31T09:30:00Z"
BEGUN_S = 1738315800.0


def run_of(*benchmarks: BenchmarkResult) -> Run:
    return Run(Source(), STARTED, Environment(), benchmarks)


def written(path: Path, result: Result) -> Path:
    path.write_bytes(encode_result(result, str))
    return path


@pytest.fixture
def steps() -> tuple[BenchmarkResult, BenchmarkResult]:
    rng = np.random.default_rng(1)
    lookup = measured_step(rng, rounds=3, stall=True, failing=2)
    return lookup, measured_step(rng, rounds=2, id_="orders/a report, slow")


@pytest.fixture
def result(tmp_path: Path, steps: tuple[BenchmarkResult, ...]) -> Path:
    base = measured_step(np.random.default_rng(2), rounds=3)
    return written(tmp_path / "result.json", Result(run_of(*steps), run_of(base)))


@pytest.fixture
def export(result: Path) -> Callable[..., str]:
    def run(*args: object) -> str:
        given = ["export", str(result), *map(str, args)]
        done = CliRunner().invoke(cli, given, catch_exceptions=False, standalone_mode=False)
        return done.stdout

    return run


def intervals(path: Path) -> list[HdrHistogram]:
    reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000_000, 3))
    found = []
    while (one := reader.get_next_interval_histogram()) is not None:
        found.append(one)
    reader.close()
    return found


def launch_of(step: BenchmarkResult, index: int) -> LoadLaunch:
    assert step.load is not None
    return step.load.launches[index]


def test_hdrhistogram_reads_what_was_measured(
    tmp_path: Path, export: Callable[..., str], steps: tuple[BenchmarkResult, BenchmarkResult]
) -> None:
    log = tmp_path / "latencies.hlog"
    assert export("--hdr", log) == ""
    found = intervals(log)
    assert [one.get_tag() for one in found] == [
        "head:orders/lookup", "head:orders/a%20report%2C%20slow", "base:orders/lookup",
        "head:orders/lookup", "head:orders/a%20report%2C%20slow", "base:orders/lookup",
        "head:orders/lookup", "base:orders/lookup",
    ]  # fmt: skip
    second = found[3]
    ours = histogram_of("x", launch_of(steps[0], 1))
    assert second.get_total_count() == ours.count == launch_of(steps[0], 1).ops
    for p in (0.5, 0.95, 0.99, 0.999):
        assert second.get_value_at_percentile(100 * p) == pytest.approx(
            ours.percentile(p), rel=1e-3
        )
    assert second.get_start_time_stamp() == (BEGUN_S + 5) * 1000
    assert second.get_end_time_stamp() == (BEGUN_S + 10) * 1000
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[1] == "#[Histogram log format version 1.3]"
    assert float(lines[5].split(",")[3]) == pytest.approx(found[0].get_max_value() / 1e6, rel=1e-3)


def test_windows_are_lines_and_those_without_anything_too(
    export: Callable[..., str], steps: tuple[BenchmarkResult, BenchmarkResult]
) -> None:
    header, *rows = csv.reader(export("--csv", "-", "--filter", "*/lookup").splitlines())
    assert header[:5] == ["benchmark", "arm", "round", "start_s", "width_s"]
    assert header[5:] == ["ops", "errors", "p50_s", "p95_s", "p99_s"]
    assert len(rows) == 2 * 3 * 5
    windows = launch_of(steps[0], 0).windows
    stalled = rows[2]
    assert stalled == ["orders/lookup", "head", "0", "2.0", "1.0", "0", str(windows.errors[2]),
                       "", "", ""]  # fmt: skip
    assert int(rows[1][5]) == windows.ops[1]
    assert float(rows[1][7]) * 1e9 == pytest.approx(windows.p50_ns[1])


def test_no_name_runs_as_a_formula(result: Path, export: Callable[..., str]) -> None:
    step = measured_step(np.random.default_rng(1), rounds=1, id_="=1+1")
    written(result, Result(run_of(step)))
    _, *rows = csv.reader(export("--csv", "-").splitlines())
    assert {row[0] for row in rows} == {"'=1+1"}


def test_every_sample_is_a_line(result: Path, export: Callable[..., str]) -> None:
    first = Launch(0, 1, np.array([0.1, 1 / 3]), np.array([0.7]))
    second = Launch(2, 0, np.array([1e-9]), np.empty(0), lane=1)
    lone = Launch(0, 0, np.array([12.0]), np.empty(0))
    one = BenchmarkResult(
        "a, b",
        "w",
        Tier.LOCKSTEP,
        (
            Series(Metric("time", "s"), 16, (first, second)),
            Series(Metric("peak_rss", "B"), 1, (lone,)),
        ),
    )
    written(result, Result(run_of(one), run_of(replace(one, series=one.series[1:]))))
    header, *rows = csv.reader(export("--samples", "-").splitlines())
    assert header[:4] == ["benchmark", "arm", "metric", "unit"]
    assert header[4:] == ["round", "order", "lane", "part", "index", "value"]
    assert rows == [
        ["a, b", "head", "time", "s", "0", "1", "", "warmup", "0", "0.7"],
        ["a, b", "head", "time", "s", "0", "1", "", "sample", "0", "0.1"],
        ["a, b", "head", "time", "s", "0", "1", "", "sample", "1", str(1 / 3)],
        ["a, b", "head", "time", "s", "2", "0", "1", "sample", "0", "1e-09"],
        ["a, b", "head", "peak_rss", "B", "0", "0", "", "sample", "0", "12.0"],
        ["a, b", "base", "peak_rss", "B", "0", "0", "", "sample", "0", "12.0"],
    ]


def test_samples_of_the_chosen_benchmarks(
    tmp_path: Path, export: Callable[..., str], steps: tuple[BenchmarkResult, BenchmarkResult]
) -> None:
    file = tmp_path / "samples.csv"
    assert export("--samples", file, "--filter", "*/lookup").strip() == ""
    _, *rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    assert {(row[0], row[1]) for row in rows} == {
        ("orders/lookup", "head"),
        ("orders/lookup", "base"),
    }
    of_head = sum(row[1] == "head" for row in rows)
    assert of_head == sum(
        launch.samples.size + launch.warmup.size
        for series in steps[0].series
        for launch in series.launches
    )


def test_both_files_at_once(tmp_path: Path, export: Callable[..., str]) -> None:
    log = tmp_path / "latencies.hlog"
    assert export("--hdr", log, "--csv", "-").startswith("benchmark,arm,")
    assert len(intervals(log)) == 8


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "there is nothing to write"),
        (("--hdr", "-", "--csv", "-"), "would both be written to standard output"),
        (("--hdr", "a", "--csv", "a"), "would both be written to a"),
        (("--samples", "-", "--csv", "-"), "would both be written to standard output"),
        (("--samples", "-", "--filter", "nothing/*"), "nothing/"),
        (("--csv", "-", "--filter", "nothing/*"), "nothing/"),
        (("--csv", "nowhere/windows.csv"), "nowhere"),
    ],
)
def test_what_cannot_be_written_is_an_error(
    export: Callable[..., str], args: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        export(*args)


def test_the_result_is_not_overwritten(result: Path, export: Callable[..., str]) -> None:
    with pytest.raises(UsageError, match="would overwrite the result"):
        export("--hdr", result)


def test_a_result_without_a_scenario_is_an_error(result: Path, export: Callable[..., str]) -> None:
    written(result, Result(arm({"parse": 0.001})))
    with pytest.raises(UsageError, match="holds no scenario") as caught:
        export("--csv", "-")
    assert "--samples" in caught.value.hint


@pytest.mark.parametrize("histogram", ["", "HISTF", "AAAA", "A" * 400])
def test_a_histogram_that_is_none_is_an_error(
    tmp_path: Path, result: Path, export: Callable[..., str], histogram: str
) -> None:
    step = measured_step(np.random.default_rng(1), rounds=2)
    assert step.load is not None
    first, second = step.load.launches
    broken = replace(step.load, launches=(first, replace(second, histogram=histogram)))
    written(result, Result(run_of(replace(step, load=broken))))
    with pytest.raises(FormatError, match="the histogram of 'orders/lookup' in round 1") as caught:
        export("--hdr", tmp_path / "x.hlog")
    assert caught.value.message.startswith(f"{result}: ")
    assert not (tmp_path / "x.hlog").exists() or not (tmp_path / "x.hlog").read_bytes()
