"""Every command in an environment that has what benchgate depends on, and no extra."""

from __future__ import annotations

import os
import subprocess
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from tests.done import Done

from benchgate.cli import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.git.repository import Git

ROOT = Path(__file__).parents[2]
BENCH = "def bench_sum():\n    return sum(range(1000))\n"
RESULT = "result.json.gz"
# Each call with its exit code, in an order in which the files of one serve the next.
CALLS = (
    (0, "list"),
    (0, "validate"),
    (0, "schema", "verdict"),
    (4, "check", "--against", "HEAD", "--rounds", "2", "--html", "check.html"),
    (0, "report"),
    (0, "run", "--rounds", "1", "--output", RESULT),
    (0, "show", RESULT),
    (0, "report", RESULT),
    (0, "export", RESULT, "--samples", "samples.csv"),
    (0, "cache"),
    (2, "history"),
    (2, "site"),
)


def needed(requirements: Iterable[str]) -> dict[str, set[str]]:
    """The names at the top of each distribution that these requirements install."""
    found: dict[str, set[str]] = {}
    wanted = list(requirements)
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name not in found:
            here = distribution(requirement.name)
            names = {path.parts[0] for path in here.files or ()}
            found[requirement.name] = names - {"..", "__pycache__"}
            wanted += here.requires or ()
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment as `pipx install .` makes it."""
    folder = tmp_path_factory.mktemp("plain")
    venv.create(folder, symlinks=True)
    place = next(folder.glob("lib/python*/site-packages"))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, tops in needed(settings["project"]["dependencies"]).items():
        installed = Path(str(distribution(name).locate_file("")))
        for top in tops:
            (place / top).symlink_to(installed / top)
    (place / "benchgate.pth").write_text(f"{ROOT / 'src'}\n")
    return folder / "bin" / "python"


def call(python: Path, cwd: Path, *arguments: str) -> Done:
    unwanted = {"PYTHONPATH", "GITHUB_ACTIONS", "VIRTUAL_ENV"}
    environ = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [python, "-m", "benchgate", *arguments],
        cwd=cwd,
        env=environ | {"XDG_STATE_HOME": str(cwd.parent / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


HELP = """
from click.testing import CliRunner
from benchgate.cli import COMMANDS, cli
for name in COMMANDS:
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0, (name, done.exception)
    print(done.output.splitlines()[0])
"""


def test_every_command_has_help(plain: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [plain, "-c", HELP]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert [line.split()[2] for line in done.stdout.splitlines()] == list(COMMANDS)


def test_every_command_works_or_says_what_to_install(
    plain: Path, repo: Git, commit: Callable[[Git, Mapping[str, str]], str]
) -> None:
    commit(repo, {"benchmarks/bench_sum.py": BENCH, "benchgate.toml": ""})
    for code, *arguments in CALLS:
        call(plain, repo.root, *arguments).check(
            code, *['pip install "benchgate[history]"'] * (code == 2)
        )
