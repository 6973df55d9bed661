"""The `[build]` tables that the docs show for tools that manage environments, with these tools."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import BENCHMARK, CODE, PYTHON, QUICK

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Program, Project

# Some of the tools have many dependencies to install.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
RECIPES = dict(
    re.findall(r"<!-- recipe: (\w+) -->\n```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
)
BACKENDS = {
    "uv": ("hatchling", "hatchling.build"),
    "poetry": ("poetry-core", "poetry.core.masonry.api"),
    "pdm": ("pdm-backend", "pdm.backend"),
    "hatch": ("hatchling", "hatchling.build"),
    "pip": ("hatchling", "hatchling.build"),
}
LOCK = {"uv": ("uv", "lock"), "poetry": ("poetry", "lock"), "pdm": ("pdm", "lock")}
PYPROJECT = """\
[build-system]
requires = ["{}"]
build-backend = "{}"

[project]
name = "toy"
version = "1"
requires-python = ">=3.11"
dependencies = []

[tool.poetry]
packages = [{{ include = "toy", from = "src" }}]
"""
ROUND = ("--rounds", "1", "--seed", "1", "--json", "-")


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a tool apart from everything else, and put it on PATH."""

    def install(name: str) -> None:
        folder = tmp_path / "tool"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        if name != "pip":
            pip = [str(folder / "bin" / "pip"), "install", "--quiet", name]
            subprocess.run(pip, check=True, timeout=200)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("POETRY_VIRTUALENVS_PATH", str(tmp_path / "virtualenvs"))
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    return install


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_each_side_gets_its_environment(
    benchgate: Program, toy: Project, tool: Callable[[str], None], name: str
) -> None:
    tool(name)
    toy.git.run("rm", "--quiet", "-r", ".")
    toy.write(
        {
            "pyproject.toml": PYPROJECT.format(*BACKENDS[name]),
            "src/toy/__init__.py": CODE,
            "benchmarks/bench_toy.py": BENCHMARK,
            "benchgate.toml": f"{QUICK}{RECIPES[name]}\n{PYTHON}",
            ".gitignore": ".venv\n.pdm-python\n",
        }
    )
    if name in LOCK:
        subprocess.run(LOCK[name], cwd=toy.root, check=True, timeout=100)
    toy.commit()
    toy.slow_down()
    # uv and Poetry leave files of their own in the folder for temporary files.
    done = benchgate.wait(benchgate.start(toy.root, "check", *ROUND), 300)
    assert done.out, done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["head"] > 2 * row["base"], done.err
    assert "({env}/bin/python); toy " in done.err


def test_uv_runs_python_in_each_tree(
    benchgate: Program, toy: Project, tool: Callable[[str], None]
) -> None:
    tool("uv")
    toy.write(
        {
            "pyproject.toml": PYPROJECT.format(*BACKENDS["uv"]),
            "benchgate.toml": f'{QUICK}{PYTHON.rstrip()}\ninterpreter = "uv run python"\n',
            ".gitignore": ".venv\nuv.lock\n",
        }
    )
    toy.commit()
    toy.slow_down()
    # uv and Poetry leave files of their own in the folder for temporary files.
    done = benchgate.wait(benchgate.start(toy.root, "check", *ROUND), 300)
    assert done.out, done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["head"] > 2 * row["base"], done.err
    assert "({root}/.venv/bin/python); toy from src of its tree" in done.err


def test_the_docs_have_a_recipe_for_each_tool() -> None:
    assert RECIPES.keys() == BACKENDS.keys()
