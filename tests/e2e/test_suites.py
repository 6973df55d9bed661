"""Suites of other tools, with the whole program: a stand-in that costs no time, and real tools."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.scene import SCENE
from tests.contract.server import GitHubServer
from tests.e2e.hosted import Hosted, pull_request, push

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROUNDS = ("--rounds", "10")
# It prints what hyperfine writes: a tenth of a percent of noise on what a file of the tree says.
TOOL = """\
import json, os, pathlib, random, sys
found = [
    {"command": name, "times": [value * random.uniform(1, 1.001) for _ in range(3)]}
    for name, value in json.loads(pathlib.Path("values.json").read_text()).items()
]
pathlib.Path("ran").open("a").write("x")
print(json.dumps({"results": found}))
sys.exit(not all(one["times"] for one in found))
"""
VALUES = {"parse": 1.0, "write": 2.0}
SUITE = f'[[benchmark]]\nsuite = "{sys.executable} tool.py"\n'


@pytest.fixture
def fake(toy: Project) -> Project:
    """The project, with a suite in place of its benchmark."""
    toy.write({"tool.py": TOOL, "values.json": json.dumps(VALUES), ".gitignore": "ran\n"})
    toy.configure("", benchmarks=SUITE)
    toy.commit()
    return toy


def set_values(project: Project, **values: float) -> None:
    project.write({"values.json": json.dumps({**VALUES, **values})})


def rows_of(done: Done) -> dict[str, dict[str, Any]]:
    return {row["benchmark"]: row for row in json.loads(done.out)["rows"]}


def test_a_slower_benchmark_of_a_suite_is_a_regression(benchgate: Program, fake: Project) -> None:
    set_values(fake, parse=1.1)
    done = benchgate(
        fake.root, "check", "--json", "-", "--output", "../result.json.gz", "--markdown", "../c.md"
    )
    done.check(
        3,
        f"running the suite {sys.executable} tool.py on both sides to find its benchmarks"[:70],
        "has 2 benchmarks; this run took",
        "2 benchmarks: 5 rounds each",
    )
    rows = rows_of(done)
    assert {id_: row["outcome"] for id_, row in rows.items()} == {
        "parse": "regressed",
        "write": "unchanged",
    }
    assert rows["parse"]["tier"] == "suite"
    assert 1.09 < rows["parse"]["ratio"] < 1.11
    result = json.loads(gzip.decompress((fake.root.parent / "result.json.gz").read_bytes()))
    for one in result["head"]["benchmarks"]:
        (series,) = one["series"]
        assert set(series["launches"]["samples"]) == {1}
    again = benchgate(fake.root, "compare", "../result.json.gz", "--json", "-")
    again.check(3)
    assert rows_of(again) == rows


SEARCHES = 3
"""How often a suite runs to find its benchmarks: on the base alone, then on both sides."""
# Like TOOL, with a filter: it notes what it was asked for, and prints what Google Benchmark does.
FILTERING = """\
import json, pathlib, random, re, sys
print(sys.argv[2], file=open(sys.argv[1], "a"))
found = [
    {"name": name, "iterations": 1, "real_time": value * random.uniform(1, 1.001),
     "cpu_time": value, "time_unit": "s"}
    for name, value in json.loads(pathlib.Path("values.json").read_text()).items()
    if re.search(sys.argv[2], name)
]
print(json.dumps({"context": {}, "benchmarks": found}))
"""


def test_more_rounds_of_a_suspect_run_it_alone(benchgate: Program, fake: Project) -> None:
    fake.write({"tool.py": FILTERING})
    log = fake.root.parent / "filters"
    suite = f'suite = "{sys.executable} tool.py {log} {{filter}}"\nformat = "google-benchmark"\n'
    fake.configure("", benchmarks=f"[[benchmark]]\n{suite}")
    fake.commit()
    set_values(fake, parse=1.1)
    done = benchgate(fake.root, "check", "--json", "-")
    done.check(3, "has 2 benchmarks", "every round of all takes about as long")
    assert {id_: row["outcome"] for id_, row in rows_of(done).items()} == {
        "parse": "regressed",
        "write": "unchanged",
    }
    asked = log.read_text().split()
    # Five rounds of everything; the runs that find the benchmarks are the first.
    assert asked[: SEARCHES + 8] == ["."] * (SEARCHES + 8)
    assert asked[-2:] == ["^(parse)$"] * 2
    log.unlink()
    benchgate(fake.root, "check", "--filter", "write", "--rounds", "2", "--json", "-")
    assert log.read_text().split() == [*["."] * SEARCHES, "^(write)$", "^(write)$"]


def test_a_list_does_not_run_it(benchgate: Program, fake: Project) -> None:
    fake.configure("", benchmarks=SUITE.replace("tool.py", "no-such-tool.py"))
    listed = benchgate(fake.root, "list")
    listed.check(0)
    assert "suite" in listed.out
    assert "1 suite: only a run tells its benchmarks" in listed.out
    assert benchgate(fake.root, "list", "--filter", "parse").code == 0
    assert "suite: " in benchgate(fake.root, "validate").out


def test_a_filter_that_rules_a_suite_out_saves_its_run(benchgate: Program, fake: Project) -> None:
    fake.configure("", benchmarks=f'{SUITE}group = "unit"\n\n[[benchmark]]\npython = "benchmarks"')
    fake.commit()
    once = ("--against", "HEAD", "--rounds", "1", "--json", "-")
    done = benchgate(fake.root, "check", "--filter", "toy/*", *once)
    assert "running the suite" not in done.err
    assert set(rows_of(done)) == {"toy/work"}
    done = benchgate(fake.root, "check", "--filter", "unit/p*", *once)
    assert "running the suite" in done.err
    assert set(rows_of(done)) == {"unit/parse"}
    fake.configure("", benchmarks=f'{SUITE}group = "unit"\n')
    done = benchgate(fake.root, "check", "--filter", "other")
    done.check(2, "no benchmark matches other", "Available: toy/work, unit")


def test_a_failed_benchmark_fails_the_build_and_the_others_stand(
    benchgate: Program, fake: Project
) -> None:
    tool = TOOL.replace(
        "for name, value",
        'if name != "write" else {"command": "write", "times": []}\n    for name, value',
    )
    fake.write({"tool.py": tool})
    done = benchgate(fake.root, "check", "--json", "-", *ROUNDS)
    done.check(5)
    rows = rows_of(done)
    assert {id_: row["outcome"] for id_, row in rows.items()} == {
        "parse": "unchanged",
        "write": "failed",
    }


def test_a_suite_that_breaks_names_its_output(benchgate: Program, fake: Project) -> None:
    fake.write({"tool.py": "import sys\nsys.exit('this is why')\n"})
    done = benchgate(fake.root, "check", "--json", "-", *ROUNDS)
    done.check(5)
    rows = rows_of(done)
    assert {row["outcome"] for row in rows.values()} == {"failed"}
    assert set(rows) == set(VALUES)
    assert "this is why" in rows["parse"]["error"]


def test_an_earlier_result_is_a_baseline(benchgate: Program, fake: Project) -> None:
    benchgate(fake.root, "run", "--rounds", "6", "--output", "../a.json.gz").check(0)
    set_values(fake, parse=1.1)
    done = benchgate(
        *(fake.root, "check", "--baseline", "file:../a.json.gz", "--rounds", "6", "--json", "-")
    )
    rows = rows_of(done)
    assert 1.09 < rows["parse"]["ratio"] < 1.11
    assert 0.99 < rows["write"]["ratio"] < 1.01


def test_a_file_of_the_tool_is_a_baseline(benchgate: Program, fake: Project) -> None:
    run = subprocess.run(
        [sys.executable, "tool.py"], cwd=fake.root, check=True, capture_output=True
    )
    (fake.root.parent / "hyperfine.json").write_bytes(run.stdout)
    done = benchgate(
        *(fake.root, "check", "--baseline", "file:../hyperfine.json"),
        *("--rounds", "6", "--json", "-"),
    )
    for row in rows_of(done).values():
        assert 0.99 < row["ratio"] < 1.01
        assert row["tier"] == "stored"


def test_a_budget_that_is_too_short_is_said_so(benchgate: Program, fake: Project) -> None:
    fake.write({"tool.py": f"import time\ntime.sleep(1)\n{TOOL}"})
    fake.commit()
    done = benchgate(fake.root, "check", "--budget", "5s", "--json", "-", "--against", "HEAD")
    assert "the budget of 5.0 s is too short to confirm a slowdown" in done.err
    assert "use --budget " in done.err


def test_ctrl_c_ends_it_and_leaves_nothing(benchgate: Program, fake: Project) -> None:
    fake.write({"tool.py": f"import time\n\ntime.sleep(100)\n{TOOL}"})
    process = benchgate.start(fake.root, "check", "--against", "HEAD")
    assert process.stderr is not None
    for line in process.stderr:
        if "running the suite" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130)


@pytest.fixture
def hosted(fake: Project, benchgate: Program, tmp_path: Path) -> Iterator[Hosted]:
    text = (fake.root / "benchgate.toml").read_text()
    fake.write({"benchgate.toml": text.replace("[measure]\n", "[measure]\nrounds = 10\n")})
    fake.commit()
    fake.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    (tmp_path / "jobs").mkdir()
    with GitHubServer(*SCENE, prefix="/api/v3") as server:
        yield Hosted(fake, server, benchgate, tmp_path / "jobs")


def test_a_job_judges_a_suite(hosted: Hosted) -> None:
    base = hosted.origin.git.head_sha()
    hosted.run(push("0" * 40, base)).done.check(0)
    values = json.dumps({**VALUES, "parse": 1.1, "new": 3.0})
    head, merge = hosted.topic(base, {"values.json": values})
    hosted.open_pull_request(base, head)
    job = hosted.run(pull_request(base, head, merge))
    job.done.check(3)
    assert job.outputs["regressions"] == "1"
    _, comment = hosted.comments()
    assert "parse" in comment

    head, merge = hosted.topic(base, {"tool.py": "raise SystemExit('broken')\n"})
    hosted.open_pull_request(base, head)
    job = hosted.run(pull_request(base, head, merge))
    job.done.check(5)
    assert "broken" in job.done.out


def test_a_base_that_was_broken_is_no_verdict_on_the_head(hosted: Hosted) -> None:
    hosted.origin.write({"tool.py": "raise SystemExit('broken')\n"})
    base = hosted.origin.commit()
    head, merge = hosted.topic(base, {"tool.py": TOOL})
    hosted.open_pull_request(base, head)
    job = hosted.run(pull_request(base, head, merge))
    assert "crashed on the base" in job.done.out
    assert "No verdict: nothing could be compared" in job.done.out
    assert job.done.code == 5
    assert "the base fails now" not in job.done.out


CODE = "import time\n\n\ndef work():\n    time.sleep(0.001)\n    return 1\n"
PYTEST = """\
import toy


def test_work(benchmark):
    assert benchmark.pedantic(toy.work, rounds=3) > 0


def test_nothing():
    pass
"""
PYPERF = "import pyperf, toy\npyperf.Runner().bench_func('work', toy.work)\n"
GOOGLE = """\
import google_benchmark, toy


@google_benchmark.register
@google_benchmark.option.use_real_time()
def work(state):
    while state:
        toy.work()


google_benchmark.main()
"""
GO = """\
package toy

import (
	"testing"
	"time"
)

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Sleep(1 * time.Millisecond)
	}
}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with the tools."""
    folder = tmp_path_factory.mktemp("tools") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    names = ("pytest-benchmark", "pyperf", "google-benchmark")
    subprocess.run([folder / "bin/pip", "install", "--quiet", *names], check=True, timeout=200)
    return folder / "bin/python"


def compared(benchgate: Program, toy: Project, suite: str, **keys: str) -> str:
    """Compare a pause of 1 ms with one of 50 ms, as a suite measures them; return the one id."""
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    toy.configure("", benchmarks=f"[[benchmark]]\nsuite = '{suite}'\n{more}")
    shutil.rmtree(toy.root / "benchmarks")
    toy.write({".gitignore": "__pycache__\n.benchmarks\n.pytest_cache\n"})
    toy.write({"src/toy/__init__.py": CODE})
    toy.commit()
    toy.write({"src/toy/__init__.py": CODE.replace("0.001", "0.05")})
    if (toy.root / "toy_test.go").exists():
        toy.write({"toy_test.go": GO.replace("1 * time", "50 * time")})
    done = benchgate(toy.root, "check", "--rounds", "2", "--json", "-")
    ((id_, row),) = rows_of(done).items()
    assert row["head_median"], row["error"]
    assert row["head_median"] >= 0.05
    assert row["base_median"] >= 0.001
    assert row["head_median"] > row["base_median"]
    return id_


@pytest.mark.parametrize(
    ("file", "text", "suite"),
    [
        (
            "test_speed.py",
            PYTEST,
            "-m pytest test_speed.py -p no:cacheprovider --benchmark-json={output}",
        ),
        ("bench.py", PYPERF, "bench.py -p 2 -n 2 -w 1 -l 1 -o {output}"),
        ("bench.py", GOOGLE, "bench.py --benchmark_format=json --benchmark_min_time=3x"),
        ("bench.py", GOOGLE, "bench.py --benchmark_out={output} --benchmark_min_time=3x"),
    ],
)
def test_suites_of_python_tools(
    benchgate: Program,
    toy: Project,
    python: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    file: str,
    text: str,
    suite: str,
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # under it, benchmarks are disabled
    toy.write({file: text})
    id_ = compared(benchgate, toy, f"{python} {suite}", pythonpath='["src"]')
    assert id_ in {"test_speed.py::test_work", "work", "work/real_time"}


@pytest.mark.skipif(not shutil.which("hyperfine"), reason="needs hyperfine")
def test_hyperfine(benchgate: Program, toy: Project) -> None:
    toy.write({"main.py": "import toy\ntoy.work()\n"})
    command = f'"{sys.executable} main.py"'
    suite = f"hyperfine --runs 2 --export-json {{output}} {command}"
    assert "main.py" in compared(benchgate, toy, suite, pythonpath='["src"]')


@pytest.mark.skipif(not shutil.which("go"), reason="needs go")
def test_go(benchgate: Program, toy: Project) -> None:
    benchgate.variables |= {"GOCACHE": os.environ.get("GOCACHE", str(toy.root.parent / "go"))}
    toy.write({"go.mod": "module example.com/toy\n\ngo 1.19\n", "toy_test.go": GO})
    suite = "go test -run=NONE -bench=. -benchtime=3x ./..."
    assert compared(benchgate, toy, suite) == "example.com/toy.BenchmarkWork"


# Each has a second benchmark, which notes in a file that it runs.
NOTING = "    open('LOG', 'a').write('x')\n"
GO_NOTING = """
func BenchmarkOther(b *testing.B) {
	for _, name := range []string{"a", "b.c"} {
		b.Run(name, func(b *testing.B) {
			if b.N > 1 {
				log, _ := os.OpenFile("LOG", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				log.WriteString("x")
				log.Close()
			}
		})
	}
}
"""


def runs_of_others(benchgate: Program, toy: Project, suite: str, format_name: str, id_: str) -> int:
    """How often the other benchmarks ran while one of them was measured for three rounds."""
    benchmarks = (
        f"[[benchmark]]\nsuite = '{suite}'\nformat = '{format_name}'\npythonpath = ['src']\n"
    )
    toy.configure("", benchmarks=benchmarks)
    toy.commit()
    filters = ("--against", "HEAD", "--rounds", "3", "--filter", id_, "--json", "-")
    rows = rows_of(benchgate(toy.root, "check", *filters))
    assert [(one, row["error"]) for one, row in rows.items()] == [(id_, None)]
    assert not any("{filter}" in note for note in rows[id_]["notes"])
    return len((toy.root.parent / "log").read_text())


@pytest.mark.parametrize(
    ("format_name", "text", "other", "suite", "id_"),
    [
        (
            "pytest-benchmark",
            PYTEST,
            f"def test_other(benchmark):\n    benchmark.pedantic(int, rounds=1)\n{NOTING}",
            "-m pytest -k {filter} -p no:cacheprovider --benchmark-json={output} bench.py",
            "bench.py::test_work",
        ),
        (
            "google-benchmark",
            GOOGLE.replace("google_benchmark.main()", ""),
            (
                "@google_benchmark.register\n@google_benchmark.option.iterations(1)\n"
                f"def other(state):\n{NOTING}    while state:\n        pass\n\n\n"
                "google_benchmark.main()\n"
            ),
            "bench.py --benchmark_filter={filter} --benchmark_format=json",
            "work/real_time",
        ),
    ],
)
def test_filters_of_python_tools(
    benchgate: Program,
    toy: Project,
    python: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    format_name: str,
    text: str,
    other: str,
    suite: str,
    id_: str,
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    noting = other.replace("LOG", str(toy.root.parent / "log"))
    toy.write({"bench.py": f"{text}\n\n{noting}", "src/toy/__init__.py": CODE})
    assert runs_of_others(benchgate, toy, f"{python} {suite}", format_name, id_) == SEARCHES


@pytest.mark.skipif(not shutil.which("go"), reason="needs go")
@pytest.mark.parametrize(("name", "rounds"), [("Work", 0), ("Other/b.c", 2)])
def test_a_filter_of_go(benchgate: Program, toy: Project, name: str, rounds: int) -> None:
    benchgate.variables |= {"GOCACHE": os.environ.get("GOCACHE", str(toy.root.parent / "go"))}
    text = f"{GO}{GO_NOTING}".replace("import (", 'import (\n\t"os"')
    text = text.replace("LOG", str(toy.root.parent / "log"))
    toy.write({"go.mod": "module example.com/toy\n\ngo 1.19\n", "toy_test.go": text})
    suite = "go test -run=NONE -bench={filter} -benchtime=3x ./..."
    id_ = f"example.com/toy.Benchmark{name}"
    others = runs_of_others(benchgate, toy, suite, "go", id_)
    assert others == 2 * SEARCHES + 2 * rounds  # of two benchmarks, then of one on both sides
