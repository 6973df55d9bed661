"""Files of other tools: each is one launch, and together they are a run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchgate.baselines.any_file import read_any
from benchgate.errors import FormatError, UsageError
from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.metrics import Kind
from benchgate.model.result import Result
from benchgate.model.run import Run, Source, Status


def row(name: str, values: list[float] | None, **stats: Any) -> dict[str, Any]:  # noqa: ANN401
    data = {"data": values} if values else {}
    return {"fullname": name, "stats": {"median": 1.0, "iterations": 1, **data, **stats}}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"machine_info": {}, "version": "5.1.0", "benchmarks": rows}))
    return path


def test_each_file_is_a_launch(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{n}.json", row("t::a", [n, n + 1.0])) for n in range(3)]
    result = read_any(paths)
    (found,) = result.head.benchmarks
    (series,) = found.series
    launches = [(each.round, each.samples.tolist()) for each in series.launches]
    assert launches == [(0, [0, 1]), (1, [1, 2]), (2, [2, 3])]
    assert (result.tool, result.warnings) == ("pytest-benchmark 5.1.0", ())
    assert result.head.source.why == "from 0.json and 2 more files"


def test_files_of_the_same_second_are_different_runs_unless_they_are_equal(tmp_path: Path) -> None:
    values = {"a": 1.0, "b": 2.0, "c": 2.0}
    paths = [write(tmp_path / name, row("t::a", [value])) for name, value in values.items()]
    for path in paths:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    a, b, c = (read_any([path]).head for path in paths)
    assert a.started == b.started
    assert a.seed != b.seed == c.seed


def test_one_launch_is_told(tmp_path: Path) -> None:
    command = "pytest --benchmark-json=FILE"
    one_launch = (
        "one launch of pytest-benchmark does not show how much its runs differ: run it ten times "
        f"on each side ({command}), and name all files with --base and --head, or keep the "
        "files of ten earlier runs and compare with all of them."
    )
    found = read_any([write(tmp_path / "a.json", row("t::a", [1.0, 2.0]))])
    assert found.warnings == (one_launch,)
    found = read_any([write(tmp_path / "b.json", row("t::a", None))])
    summary = "there are no samples in what pytest-benchmark wrote; this writes them: "
    assert found.warnings == (f"{summary}{command}", one_launch)


def test_a_tool_that_can_start_several_processes_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "jmh.json"
    metric = {"scoreUnit": "s/op", "rawData": [[1.0]]}
    row = {"benchmark": "a", "mode": "avgt", "primaryMetric": metric}
    path.write_text(json.dumps([row]))
    (warning,) = read_any([path]).warnings
    assert warning.endswith("With `-f 10`, one file holds ten launches: the forks.")


def test_a_benchmark_that_only_some_files_have_keeps_its_launches(tmp_path: Path) -> None:
    first = write(tmp_path / "1.json", row("t::a", [1.0]), row("t::b", [1.0]))
    second = write(tmp_path / "2.json", row("t::b", [2.0]))
    a, b = read_any([first, second]).head.benchmarks
    assert (a.notes, len(a.series[0].launches)) == (("only 1 of 2 files have it",), 1)
    assert (b.notes, len(b.series[0].launches)) == ((), 2)


def test_a_benchmark_that_failed_once_has_failed(tmp_path: Path) -> None:
    first = write(tmp_path / "1.json", row("t::a", [1.0]), row("t::b", [1.0]))
    second = write(tmp_path / "2.json", row("t::a", [-1.0]), row("t::b", None))
    a, b = read_any([first, second]).head.benchmarks
    assert (a.status, a.error) == (
        Status.FAILED,
        "benchmarks[0].stats.data[0]: -1.0 is negative, which a time cannot be",
    )
    assert b.error == "the files differ in the unit, direction or kind of time"
    assert read_any([first]).head.benchmarks[1].series[0].metric.kind is Kind.SAMPLED


def test_the_files_of_a_side_are_of_one_tool(tmp_path: Path) -> None:
    one = write(tmp_path / "1.json", row("t::a", [1.0]))
    other = tmp_path / "2.json"
    other.write_text('{"results": [{"command": "ls", "times": [1.0]}]}')
    with pytest.raises(
        UsageError, match=r"1\.json comes from pytest-benchmark, but .*2\.json from hyper"
    ):
        read_any([one, other])


def test_a_result_of_benchgate_is_named_alone(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    run = Run(Source("a"), "2026-01-01T00:00:00Z", Environment(), ())
    write_atomic(own, encode_result(Result(run), str))
    assert read_any([own]).head.source.sha == "a"
    with pytest.raises(
        UsageError, match=r"own\.json is a result of benchgate, and cannot be joined"
    ):
        read_any([write(tmp_path / "1.json", row("t::a", [1.0])), own])


@pytest.mark.parametrize("text", ["{}", "hello\n", '{"a": 1}'])
def test_what_nobody_knows_is_an_error_that_names_the_formats(tmp_path: Path, text: str) -> None:
    path = tmp_path / "it.json"
    path.write_text(text)
    with pytest.raises(FormatError, match="is neither a result of benchgate nor") as caught:
        read_any([path])
    assert "hyperfine" in caught.value.hint


@pytest.mark.parametrize("text", ['[{"name": "a", "unit": "ms", "value": 1}]'])
def test_a_file_that_does_not_say_what_is_better_names_both_formats(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "it.json"
    path.write_text(text)
    with pytest.raises(FormatError, match="does not say what is better") as caught:
        read_any([path])
    assert "Add --format customSmallerIsBetter if less is better" in caught.value.hint
    assert read_any([path], "customBiggerIsBetter").head.benchmarks[0].id == "a"


def test_the_text_of_two_tools_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "it.txt"
    path.write_text("test a ... bench: 1 ns/iter (+/- 0)\nBenchmarkX-8 1 1 ns/op\n")
    with pytest.raises(FormatError, match="looks like what go and libtest print") as caught:
        read_any([path])
    assert caught.value.hint.startswith(
        "Add --format go or --format libtest, or split the file. Where there is no --format: "
        "benchgate import "
    )
    assert read_any([path], "libtest").head.benchmarks[0].id == "a"


def test_our_own_result_may_quote_any_tool(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    quoted = "line 1: 'a x 1 ops/sec (9 runs sampled)'"
    run = Run(Source("a"), "2026-01-01T00:00:00Z", Environment(), ())
    write_atomic(own, encode_result(Result(run, warnings=(quoted,)), str))
    assert read_any([own]).warnings == (quoted,)


def test_a_folder_of_no_known_tool_is_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "0001_a.json", row("t::a", [1.0]))
    with pytest.raises(FormatError, match="is a folder, but neither one of asv") as caught:
        read_any([tmp_path])
    assert caught.value.hint.endswith("/0001_a.json.")


ASV = Path(__file__).parents[1] / "formats" / "samples" / "asv"


def test_asv_says_its_units_beside_the_folder_of_the_machine(tmp_path: Path) -> None:
    results = ASV / "results"
    (path,) = results.glob("vm/*-py3.11.json")
    for place in (path, results):
        units = {
            series.metric.unit for one in read_any([place]).head.benchmarks for series in one.series
        }
        assert units == {"s", "B", "items"}
    alone = tmp_path / "alone.json"
    alone.write_bytes(path.read_bytes())
    assert "" in {s.metric.unit for one in read_any([alone]).head.benchmarks for s in one.series}


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no format 'jmhh'"):
        read_any([write(tmp_path / "1.json", row("t::a", [1.0]))], "jmhh")


def test_a_file_is_one_launch(tmp_path: Path) -> None:
    path = write(tmp_path / "1.json", row("t::a", [1.0]))
    with pytest.raises(UsageError, match="is named twice"):
        read_any([path, path])
    link = tmp_path / "2.json"
    link.symlink_to(path)
    with pytest.raises(UsageError, match=r"1.json and .*2.json are one file"):
        read_any([path, link])


def test_a_large_file_of_another_tool_is_refused_with_the_option_that_permits_more(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "large.json", row("t::a", [0.123456789] * 100_000))
    with pytest.raises(FormatError, match=r"large.json: is larger than the limit of 1 MiB") as got:
        read_any([path], max_mib=1)
    assert f"benchgate import {path} --max-mib 2 --output" in got.value.hint
    assert len(read_any([path], max_mib=2).head.benchmarks) == 1
    with pytest.raises(FormatError, match=r": is larger than the limit of 1 MiB"):
        read_any([tmp_path], max_mib=1)


def test_a_large_result_of_benchgate_is_no_file_of_another_tool(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    notes = tuple(f"{n}" * 10_000 for n in range(1000, 1100))
    run = Run(Source(), "2026-01-01T00:00:00Z", Environment(), ())
    write_atomic(path, encode_result(Result(head=run, tool="t", warnings=notes), str))
    assert read_any([path], max_mib=1).tool == "t"


def test_a_large_suite_is_told_how_many_launches_it_needs(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{run}.json", *(row(f"t::{n}", [1.0 + run, 2.0]) for n in range(1500)))
        for run in range(11)
    ]
    need = "1500 benchmarks need 11 launches on each side, at the default `alpha`: there are 10"
    assert read_any(paths[:10]).warnings == (need,)
    assert read_any(paths).warnings == ()
    assert "run it 11 times on each side" in read_any(paths[:1]).warnings[0]


def test_the_same_is_left_out_of_several_files_in_one_sentence(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}.txt"
        skip = "" if number == 1 else "--- SKIP: BenchmarkY\n"
        path.write_text(f"goos: linux\ngoarch: amd64\n{skip}BenchmarkX-2 5 {number} ns/op\n")
        paths.append(path)
    assert read_any(paths).warnings == (
        f"{paths[0]} and 1 more file: BenchmarkY: go test skipped it",
    )
    assert read_any(paths[1:]).warnings == (f"{paths[2]}: BenchmarkY: go test skipped it",)


def on(path: Path, cpu: str, commit: str = "a" * 40, *, dirty: bool = False) -> Path:
    """A file of a run on a machine, of a commit."""
    document = json.loads(write(path, row("t::a", [len(path.name), 2.0])).read_text())
    document["machine_info"] = {"cpu": {"brand_raw": cpu, "count": 4}, "system": "Linux"}
    document["commit_info"] = {"id": commit, "dirty": dirty}
    path.write_text(json.dumps(document))
    return path


def test_machine_and_commit_are_those_that_all_files_name(tmp_path: Path) -> None:
    silent = write(tmp_path / "silent.json", row("t::a", [1.0]))
    known = [on(tmp_path / "1.json", "A"), on(tmp_path / "22.json", "A", dirty=True)]
    found = read_any([silent, *known]).head
    assert found.environment == Environment(os="Linux", cpu_model="A", cpu_count=4)
    assert (found.source.sha, found.source.dirty) == ("a" * 40, True)
    assert not found.is_mixed


def test_files_of_several_machines_and_commits_are_told(tmp_path: Path) -> None:
    first, second = on(tmp_path / "1.json", "A"), on(tmp_path / "22.json", "B", "b" * 40)
    result = read_any([first, second])
    assert result.warnings[:2] == (
        f"{first} and {second} were measured on different machines: CPU: 'A' and 'B'",
        f"{first} and {second} are of different commits: aaaaaaa and bbbbbbb",
    )
    assert result.head.is_mixed
    assert result.head.source.sha is None
    assert result.head.differences(read_any([first]).head)
