"""The projects in `examples` with a suite of another tool or a scenario, judged as promised."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.load.databases import NotInstalledError, PostgresqlServer, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.conftest import Program

    from benchgate.git.repository import Git

EXAMPLES = Path(__file__).parents[2] / "examples"
# Ten rounds are the fewest that show anything among five benchmarks. Chance stays inside of 50 %.
QUICK = '[gate]\nmargin = "50%"\nstatistics = ["p25"]\n[measure]\nrounds = 12\ncanary = false\n'


@dataclass(frozen=True)
class Example:
    """A project.

    Attributes:
        found: what `init` says about it.
        regressed: ids of benchmarks that its change makes slower, not necessarily all.
        unchanged: ids of benchmarks that its change does not touch.
        needs: a program that must be installed.
    """

    found: list[str]
    regressed: list[str]
    unchanged: list[str]
    needs: str = "python3"


EXAMPLE = {
    "pytest-benchmark": Example(
        [
            "Found the Python package waypoint (in src).",
            "Found 3 tests with the benchmark fixture in tests/benchmarks.",
        ],
        [f"tests/benchmarks/test_speed.py::test_find_fixed[{size}]" for size in (10, 200)],
        ["tests/benchmarks/test_speed.py::test_add"],
    ),
    "asv": Example(
        [
            "Found the Python package spans (in src).",
            "Found 2 benchmarks of asv in benchmarks (asv.conf.json).",
        ],
        [f"time_spans.Merge.time_merge({count})" for count in (100, 5000)],
        ["time_spans.Covers.time_covers"],
    ),
    "go": Example(
        ["Found 2 benchmarks of Go in 1 package."],
        [f"wrap/Wrap/sentences={count}" for count in (10, 200)],
        ["wrap/Indent"],
        needs="go",
    ),
}


def copied(name: str, git: Git) -> str:
    """Make the two commits that the README describes; return its last command."""
    shutil.copytree(
        EXAMPLES / name,
        git.root,
        ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"),
        dirs_exist_ok=True,
    )
    shown = re.findall(r"^    (\S.*)$", (git.root / "README.md").read_text(), re.MULTILINE)
    start, change, check = shown[-3:]
    for commands in (start, change):
        subprocess.run(["/bin/sh", "-ec", commands], cwd=git.root, check=True, capture_output=True)
    return str(check)


@pytest.mark.parametrize("name", EXAMPLE)
def test_init_writes_the_configuration_that_an_example_has(
    benchgate: Program, make_repo: Callable[[str], Git], name: str
) -> None:
    git = make_repo(name)
    copied(name, git)
    written = git.root / "benchgate.toml"
    text = written.read_text()
    written.unlink()
    done = benchgate(git.root, "init", "--dry-run")
    done.check(0)
    assert done.out == f"# benchgate.toml\n{text}\n"
    said = [line for line in done.err.splitlines() if "is not installed here" not in line]
    assert said == EXAMPLE[name].found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", EXAMPLE)
def test_the_verdict_is_what_the_readme_says(
    benchgate: Program, make_repo: Callable[[str], Git], name: str
) -> None:
    example, git = EXAMPLE[name], make_repo(name)
    if shutil.which(example.needs) is None:
        pytest.skip(f"{example.needs} is not installed: install it to run this example")
    command, _, promise = copied(name, git).partition("#")
    program, *arguments = shlex.split(command)
    assert program == "benchgate"
    config = git.root / "benchgate.toml"
    config.write_text(f"{QUICK}\n{config.read_text()}")
    process = benchgate.start(git.root, *arguments, "--json", "-")
    done = benchgate.wait(process, 500)
    done.check(3)
    assert promise.endswith("regressed: the check fails with exit code 3")
    every = json.loads(done.out)["rows"]
    rows = {row["benchmark"]: row["outcome"] for row in every if row["decides"]}
    assert {rows.get(id_) for id_ in example.regressed} == {"regressed"}, rows
    assert {rows.get(id_) for id_ in example.unchanged} <= {"unchanged", "inconclusive"}, rows
    assert {"failed", "missing", "incomparable"}.isdisjoint(rows.values()), rows


@pytest.fixture
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the server that an example needs."""
    if request.getfixturevalue("name") != "postgresql-load":
        yield
        return
    try:
        with running(PostgresqlServer) as server:
            monkeypatch.setenv("ORDERS_DSN", server.dsn)
            yield
    except NotInstalledError as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["sqlite-load", "http-load", "postgresql-load"])
def test_the_verdict_of_a_scenario_is_what_the_readme_says(
    benchgate: Program, make_repo: Callable[[str], Git], name: str
) -> None:
    git = make_repo(name)
    command, _, promise = copied(name, git).partition("#")
    said = re.fullmatch(r" (\S+) regressed: exit code 3", promise)
    assert said
    config = git.root / "benchgate.toml"
    config.write_text(f"{QUICK}\n{config.read_text()}")
    process = benchgate.start(git.root, *shlex.split(command)[1:], "--json", "-")
    done = benchgate.wait(process, 500)
    done.check(3)
    every = json.loads(done.out)["rows"]
    rows = [row for row in every if row["benchmark"] == said[1] and row["metric"] == "time_p50"]
    assert [row["outcome"] for row in rows] == ["regressed"], every
    assert {"failed", "missing", "incomparable"}.isdisjoint(row["outcome"] for row in every), every
