"""A project in a subfolder: all paths of its configuration start there, wherever one calls from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import QUICK

from benchgate.session.benchmark_sets import EDITED

if TYPE_CHECKING:
    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

CONFIGURATION = f"""\
{QUICK}
[build]
command = "cp template.py src/core/made.py"

[[benchmark]]
python = "perf"
data = ["data/*.txt"]

[[benchmark]]
name = "cli"
command = "python3 run.py"
cwd = "work"
data = ["data/*.txt"]

[[benchmark]]
name = "other"
command = "python3 -c 'import extra'"
pythonpath = ["more"]
"""
FILES = {
    "libs/core/benchgate.toml": CONFIGURATION,
    "libs/core/template.py": "SIZE = 100\n",
    "libs/core/.gitignore": "made.py\n",
    "libs/core/src/core/__init__.py": "from core.made import SIZE\n",
    "libs/core/perf/bench_core.py": "import core\n\n\ndef bench_sum():\n"
    "    sum(range(core.SIZE))\n    open('data/a.txt').close()\n",
    "libs/core/data/a.txt": "1\n",
    "libs/core/work/run.py": "import core\n\nopen('../data/a.txt').close()\n",
    "libs/core/more/extra.py": "",
}
ROUND = ("--rounds", "1", "--seed", "1", "--json", "-")


@pytest.fixture
def nested(toy: Project) -> Project:
    """A repository whose root and whose subfolder `libs/core` have a configuration each."""
    toy.write(FILES)
    toy.commit()
    return toy


def outcomes(done: Done) -> dict[str, str]:
    assert done.out, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["rows"]
    assert all(row["error"] is None for row in rows), rows
    return {row["benchmark"]: row["outcome"] for row in rows}


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ("libs/core", ()),
        ("libs/core/src", ()),
        (".", ("--config", "libs/core/benchgate.toml")),
        ("benchmarks", ("--config", "../libs/core/benchgate.toml")),
    ],
)
def test_paths_start_at_the_configuration(
    benchgate: Program, nested: Project, start: str, options: tuple[str, ...]
) -> None:
    folder = nested.root / start
    done = benchgate(folder, "check", "--against", "HEAD", *ROUND, *options)
    assert outcomes(done).keys() == {"core/sum", "cli", "other"}
    benchgate(folder, "validate", *options).check(0)
    listed = benchgate(folder, "list", *options)
    assert "libs/core/perf/bench_core.py:4" in listed.out


def test_a_changed_data_file_is_found_there(benchgate: Program, nested: Project) -> None:
    nested.write({"libs/core/data/a.txt": "2\n"})
    done = benchgate(nested.root / "libs/core", "check", *ROUND)
    notes = {row["benchmark"]: row["notes"] for row in json.loads(done.out)["rows"]}
    assert EDITED in notes["core/sum"]
    assert EDITED in notes["cli"]
    assert EDITED not in notes["other"]


def test_a_folder_that_the_base_lacks_is_new(benchgate: Program, toy: Project) -> None:
    toy.git.run("rm", "--quiet", "benchgate.toml")
    toy.commit()
    toy.write(FILES)
    done = benchgate(toy.root / "libs/core", "check", *ROUND)
    assert set(outcomes(done).values()) == {"new"}


def test_a_configuration_may_move(benchgate: Program, nested: Project) -> None:
    nested.git.run("rm", "--quiet", "benchgate.toml")
    nested.git.run("mv", "libs/core/benchgate.toml", "benchgate.toml")
    text = CONFIGURATION.replace('"cp template.py src', '"cp libs/core/template.py libs/core/src')
    for old in ("perf", "data/*.txt", "work", "more"):
        text = text.replace(f'"{old}"', f'"libs/core/{old}"')
    text = text.replace('python = "', 'pythonpath = ["libs/core/src"]\npython = "')
    text = text.replace('cwd = "', 'pythonpath = ["libs/core/src"]\ncwd = "')
    nested.write({"benchgate.toml": text})
    done = benchgate(nested.root / "libs/core", "check", "--against", "HEAD", *ROUND)
    assert json.loads(done.out)["rows"], done.err
    assert "left out" not in done.err


def test_an_ignored_configuration_is_refused(benchgate: Program, toy: Project) -> None:
    toy.write({"mine/.gitignore": "*\n", "mine/benchgate.toml": QUICK})
    done = benchgate(toy.root / "mine", "check", "--against", "HEAD")
    done.check(2, "mine/benchgate.toml is in a folder that git ignores", "hint:")


def test_a_file_outside_of_the_repository_starts_at_the_root(
    benchgate: Program, toy: Project
) -> None:
    outside = toy.root.parent / "outside.toml"
    outside.write_text((toy.root / "benchgate.toml").read_text())
    done = benchgate(toy.root / "src", "check", "--against", "HEAD", "--config", outside, *ROUND)
    assert outcomes(done).keys() == {"toy/work"}
