"""`benchgate import`, `show` and `compare` on files of other tools."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest

from benchgate.baselines.stored_files import read_result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Eight runs of a suite on each side; on the new one, `a` takes 30 % longer."""
    for side, factor in (("old", 1.0), ("new", 1.3)):
        for run in range(8):
            rng = random.Random(f"{side}{run}")  # noqa: S311 - the same in every test
            rows = [
                {
                    "fullname": f"test_x.py::test_{name}",
                    "stats": {"data": [scale * rng.uniform(0.99, 1.01) for _ in range(50)]},
                }
                for name, scale in (("a", 1e-3 * factor), ("b", 2e-3))
            ]
            text = json.dumps({"machine_info": {}, "version": "5.1.0", "benchmarks": rows})
            (tmp_path / f"{side}{run}.json").write_text(text)
    return tmp_path


def test_many_files_a_side_are_as_many_launches(call: Call, files: Path) -> None:
    old, new = ([f"{side}{run}.json" for run in range(8)] for side in ("old", "new"))
    done = call(files, "compare", "--base", *old, "--json", "-", "--head", *new)
    verdict = json.loads(done.out)
    found = {
        row["benchmark"]: row["outcome"] for row in verdict["rows"] if row["statistic"] == "p25"
    }
    assert found == {"test_x.py::test_a": "regressed", "test_x.py::test_b": "unchanged"}


def test_one_file_a_side_decides_nothing(call: Call, files: Path) -> None:
    done = call(files, "compare", "old0.json", "new0.json")
    done.check(4)
    assert done.out.count("one launch of pytest-benchmark") == 1


def test_what_is_imported_is_a_result(call: Call, files: Path) -> None:
    done = call(files, "import", "old0.json", "old1.json", "--output", "old.json.gz")
    done.check(0)
    assert done.out == "old.json.gz: 2 benchmarks of pytest-benchmark 5.1.0\n"
    assert len(read_result(files / "old.json.gz").head.benchmarks[0].series[0].launches) == 2
    assert "2 x 50" in call(files, "show", "old.json.gz").out
    assert "1 x 50" in call(files, "show", "old0.json").out


def test_what_fails_is_told(call: Call, tmp_path: Path) -> None:
    text = '{"results": [{"command": "ls", "times": []}, {"command": "cat", "times": [1.5]}]}'
    (tmp_path / "h.json").write_text(text)
    done = call(tmp_path, "import", "h.json", "-o", "h.json.gz")
    done.check(0, "crashed: ls: results[0].times: there are no samples")
    assert "2 benchmarks of hyperfine, 1 of them crashed" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base", "a.json"], "--base and --head belong together"),
        (["x.json", "--base", "a.json", "--head", "b.json"], "no other files may be named"),
        (["--format", "jmhh", "--base", "old0.json", "--head", "new0.json"], "no format 'jmhh'"),
    ],
)
def test_a_wrong_use_says_what_is_wrong(
    call: Call, files: Path, arguments: list[str], message: str
) -> None:
    call(files, "compare", *arguments).check(2, message)


def test_a_tool_without_samples_and_times_is_tested_by_its_runs(call: Call, tmp_path: Path) -> None:
    for side, factor in (("old", 1.0), ("new", 0.8)):
        for run in range(10):
            value = 1000 * factor * (1 + run / 1000)
            row = {"name": "serve", "unit": "req/s", "value": value}
            (tmp_path / f"{side}{run}.json").write_text(json.dumps([row]))
    old, new = ([f"{side}{run}.json" for run in range(10)] for side in ("old", "new"))
    sides = ["--base", *old, "--head", *new]
    call(tmp_path, "compare", *sides).check(2, "--format customBiggerIsBetter if more is")
    done = call(tmp_path, "compare", *sides, "--format", "customBiggerIsBetter")
    done.check(0)
    assert "No verdict: serve value (-20 %) looks smaller" in done.out


def test_one_file_a_side_that_is_twice_as_slow_is_advisory(call: Call, tmp_path: Path) -> None:
    for name, value in (("old", 1.0), ("new", 2.5)):
        row = {"name": "build", "unit": "s", "value": value}
        (tmp_path / f"{name}.json").write_text(json.dumps([row]))
    done = call(tmp_path, "compare", "old.json", "new.json", "--format", "customSmallerIsBetter")
    done.check(0)
    assert "build (+" in done.out
    assert "no samples: run-to-run noise is unknown" in done.out


def machines(folder: Path, **told: dict[str, object]) -> None:
    """Write into each file what it says of its machine."""
    for side, info in told.items():
        for path in folder.glob(f"{side}*.json"):
            document = json.loads(path.read_text())
            document["machine_info"] = info
            path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        (
            {"cpu": {"brand_raw": "EPYC", "count": 4}},
            {"cpu": {"brand_raw": "Xeon", "count": 16}},
            "measured on different machines: CPU: 'EPYC' and 'Xeon'; cores: '4' and '16'",
        ),
        (
            {"python_version": "3.11.7"},
            {"python_version": "3.12.1"},
            "measured with different tools: python: '3.11.7' and '3.12.1'",
        ),
    ],
)
def test_files_of_different_machines_are_not_compared(
    call: Call, files: Path, old: dict[str, object], new: dict[str, object], warning: str
) -> None:
    machines(files, old=old, new=new)
    for base, head in (("old", "new"), ("new", "old")):
        done = call(files, "compare", *sides(base, head), "--json", "v.json")
        done.check(4)
        assert "look" not in done.out
        verdict = json.loads((files / "v.json").read_text())
        assert {row["outcome"] for row in verdict["rows"]} == {"incomparable"}
        assert (warning in verdict["warnings"]) == (base == "old")
    machines(files, new=old)
    assert "measured" not in call(files, "compare", *sides("old", "new")).out


def sides(base: str, head: str) -> list[str]:
    named = (("--base", base), ("--head", head))
    return [f"{option}={side}{run}.json" for option, side in named for run in range(8)]


def test_a_copy_is_the_same_run(call: Call, files: Path) -> None:
    (files / "copy").mkdir()
    for run in range(8):
        text = (files / f"old{run}.json").read_bytes()
        (files / "copy" / f"{run}.json").write_bytes(text)
    done = call(files, "compare", *sides("old", "copy/"))
    done.check(2)
    assert "copy/0.json has the contents of old0.json: it is the same run" in done.err
    done = call(files, "compare", *sides("old", "old"))
    done.check(2, "old0.json is named on both sides")
    done = call(files, "compare", "--base", "old0.json", "copy/0.json", "--head", "new0.json")
    done.check(2)
    call(files, "compare", "old0.json", "copy/0.json").check(2)
    (files / "copy/0.json.gz").write_bytes(gzip.compress((files / "old0.json").read_bytes()))
    call(files, "compare", "old0.json", "copy/0.json.gz").check(2)
    for name, folder in (("base", "old"), ("head", "copy/")):
        paths = [f"{folder}{run}.json" for run in range(8)]
        call(files, "import", *paths, "--output", f"{name}.gz").check(0)
    done = call(files, "compare", "base.gz", "head.gz")
    done.check(2)
    assert "head.gz and base.gz are of one run" in done.err
    call(files, "compare", "base.gz", "base.gz").check(2)


def test_counts_and_sizes_may_be_equal_in_two_runs(call: Call, tmp_path: Path) -> None:
    text = json.dumps([{"name": "binary", "unit": "bytes", "value": 4_200_112}])
    for name in ("old.json", "new.json"):
        (tmp_path / name).write_text(text)
    smaller = ("--format", "customSmallerIsBetter")
    assert "is the same run" not in call(tmp_path, "compare", "old.json", "new.json", *smaller).err
    call(tmp_path, "compare", "old.json", "old.json", *smaller).check(2)


def dotnet(path: Path, size: float, *, launches: int = 10, factor: float = 1.0) -> str:
    """A file of BenchmarkDotNet, with a memory diagnoser."""
    rng = random.Random(path.name)  # noqa: S311 - the same in every test
    measurements = [
        {
            "IterationMode": "Workload",
            "IterationStage": "Result",
            "LaunchIndex": launch,
            "Operations": 1000,
            "Nanoseconds": 1e5 * rng.uniform(0.99, 1.01) * factor,
        }
        for launch in range(launches)
        for _ in range(5)
    ]
    metrics = [
        {
            "Value": value,
            "Descriptor": {"Id": id_, "Unit": unit, "TheGreaterTheBetter": False},
        }
        for id_, unit, value in (("Gen0Collects", "Count", 0.5), ("Allocated Memory", "B", size))
    ]
    row = {"FullName": "A.Sort", "Measurements": measurements, "Metrics": metrics}
    host = {"BenchmarkDotNetVersion": "0.15.0"}
    path.write_text(json.dumps({"HostEnvironmentInfo": host, "Benchmarks": [row]}))
    return path.name


@pytest.mark.parametrize(
    ("size", "settings", "code"),
    [
        (12_000.0 * 1.25, "", 3),
        (12_000.0 * 1.0003, "", 0),
        (12_000.0 * 1.25, 'tolerance = "30%"\n', 0),
        (12_000.0 * 1.0003, 'tolerance = "0%"\n', 3),
    ],
)
def test_allocated_bytes_decide_exactly_also_from_one_file(
    call: Call, tmp_path: Path, size: float, settings: str, code: int
) -> None:
    base, head = dotnet(tmp_path / "base.json", 12_000.0), dotnet(tmp_path / "head.json", size)
    config = tmp_path / "benchgate.toml"
    config.write_text(f'[gate]\nmetrics = ["time", "Allocated Memory"]\n{settings}')
    done = call(tmp_path, "compare", "--config", config, base, head, "--json", "v.json")
    done.check(code)
    rows = json.loads((tmp_path / "v.json").read_text())["rows"]
    (memory,) = [row for row in rows if row["metric"] == "Allocated Memory"]
    assert (memory["test"], memory["advisory"]) == ("exact", False)
    assert "does not show how much its runs differ" not in done.out


def test_bytes_that_vary_after_all_are_tested(call: Call, tmp_path: Path) -> None:
    (tmp_path / "benchgate.toml").write_text('[gate]\nmetrics = ["B/op"]\n')
    for side, factor in (("base", 1.0), ("head", 1.3)):
        for run in range(8):
            rng = random.Random(f"{side}{run}")  # noqa: S311 - the same in every test
            size = 1000 * factor * rng.uniform(0.9, 1.1)
            line = f"BenchmarkA-8 \t100\t{rng.uniform(1, 2)} ns/op\t{size} B/op\n"
            (tmp_path / f"{side}{run}.json").write_text(f"goos: linux\ngoarch: amd64\n{line}")
    done = call(tmp_path, "compare", *sides("base", "head"), "--json", "v.json")
    (row,) = [
        row
        for row in json.loads((tmp_path / "v.json").read_text())["rows"]
        if row["metric"] == "B/op"
    ]
    assert (row["outcome"], row["test"]) == ("regressed", "mann-whitney"), done.out


UNSEEN = "\x1b[31m\x9b31m\x7f\u202e"


def test_names_of_metrics_and_units_and_errors_are_made_harmless(
    call: Call, tmp_path: Path
) -> None:
    for side, factor in (("base", 1.0), ("head", 1.5)):
        for run in range(8):
            time, work = f"{100 + run / 10} ns/op", f"{7 * factor + run / 100} u{UNSEEN}/op"
            line = f"BenchmarkA{UNSEEN}-8 \t100\t{time}\t{work}\t{64 * factor} B{UNSEEN}/x\n"
            text = f"goos: linux\ngoarch: amd64\ncpu: C{UNSEEN}\n{line}"
            (tmp_path / f"{side}{run}.json").write_text(text)
    config = tmp_path / "benchgate.toml"
    for metric, code in (("u\\u009b31m\\u007f\\u202e/op", 3), ("v\\u009b\\u202e", 2)):
        limit = f'[[limit]]\nbenchmark = "*"\nmetric = "{metric}"\nmax = "3"\n'
        config.write_text(f'[gate]\nmetrics = ["time", "{metric}"]\n{limit}')
        files = ("--html", "v.html", "--markdown", "v.md", "--csv", "v.csv")
        done = call(tmp_path, "compare", *sides("base", "head"), "-v", "--detail", *files)
        done.check(code)
        shown = [done.out, done.err, *(each.read_text() for each in tmp_path.glob("v.*"))]
        assert not [text for text in shown if set(text) & set(UNSEEN) - set("[31m")]


def test_the_last_line_names_files_and_launches(call: Call, files: Path) -> None:
    done = call(files, "compare", *sides("old", "new"))
    said = (
        "Compared an unknown commit (from old0.json and 7 more files) with an unknown commit "
        "(from new0.json and 7 more files), 8 launches."
    )
    assert said in " ".join(done.out.split())
