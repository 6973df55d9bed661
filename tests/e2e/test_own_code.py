"""Commands of an installed project: each arm runs its own code, or it is an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import INSTALL, TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

MAIN = """\
import time


def main():
    time.sleep(0.01)


if __name__ == "__main__":
    main()
"""
SETUPTOOLS = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy"
version = "1"
scripts.toy = "toy.__main__:main"

[tool.setuptools]
packages = ["toy"]
"""
HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "toy"
version = "1"
scripts.toy = "toy.__main__:main"

[tool.hatch.build]
dev-mode-dirs = ["src"]
"""
IN_SRC = 'package-dir."" = "src"\n'
# What scikit-build-core and meson-python install: it comes before every search path.
FIRST_FINDER = """\
import importlib.util
import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "toy":
            folder = {folder!r}
            return importlib.util.spec_from_file_location(
                name, f"{{folder}}/__init__.py", submodule_search_locations=[folder]
            )
        return None


sys.meta_path.insert(0, Finder)
"""
COMMANDS = """\
[[benchmark]]
name = "module"
command = "python3 -m toy"

[[benchmark]]
name = "script"
command = "toy"
"""
ROUND = ("check", "--rounds", "1", "--json", "-")


@pytest.fixture
def venv(tmp_path: Path, benchgate: Program) -> Path:
    """An active virtual environment, where packages are built with the tools of the tests."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    benchgate.variables |= {
        "VIRTUAL_ENV": str(folder),
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
    }
    return folder


def install(venv: Path, root: Path, *options: str) -> None:
    command = [*INSTALL.split(), f"{venv}/bin/python", *options]
    environ = {**os.environ, **TOOLS, "TMPDIR": str(venv)}
    subprocess.run(command, cwd=root, check=True, env=environ)


def make(
    toy: Project,
    pyproject: str = SETUPTOOLS + IN_SRC,
    benchmarks: str = COMMANDS,
    *,
    seconds: float = 1.0,
) -> None:
    """A project of which the working tree is slower, by default far, than what is committed."""
    where = "src/toy" if "src" in pyproject or "hatchling" in pyproject else "toy"
    if where == "toy":
        (toy.root / "src" / "toy").rename(toy.root / "toy")
    toy.write({"pyproject.toml": pyproject, f"{where}/__main__.py": MAIN})
    toy.write({".gitignore": "build\n*.egg-info\n__pycache__\ndata\n.venv\n"})
    toy.configure("", benchmarks=benchmarks)
    toy.commit()
    toy.write({f"{where}/__main__.py": MAIN.replace("0.01", str(seconds))})


def rows_of(out: str) -> dict[str, dict[str, Any]]:
    return {row["benchmark"]: row for row in json.loads(out)["rows"]}


@pytest.mark.parametrize(
    ("pyproject", "options"),
    [
        pytest.param(SETUPTOOLS + IN_SRC, ("-e", "."), id="setuptools"),
        pytest.param(
            SETUPTOOLS + IN_SRC,
            ("-e", ".", "--config-settings", "editable_mode=strict"),
            id="setuptools, strict",
        ),
        pytest.param(SETUPTOOLS, ("-e", "."), id="setuptools, flat, with a finder"),
        pytest.param(HATCHLING, ("-e", "."), id="hatchling"),
        pytest.param(SETUPTOOLS + IN_SRC, (".",), id="not editable"),
    ],
)
def test_an_installed_project_is_measured_in_its_arms(
    benchgate: Program, toy: Project, venv: Path, pyproject: str, options: tuple[str, ...]
) -> None:
    make(toy, pyproject)
    install(venv, toy.root, *options)
    done = benchgate(toy.root, *ROUND)
    rows = rows_of(done.out)
    assert rows.keys() == {"module", "script"}
    for row in rows.values():
        assert row["base"] < 1 <= row["head"], done.out


def test_what_init_suggests_is_right_in_an_editable_install(
    benchgate: Program, toy: Project, venv: Path
) -> None:
    make(toy)
    (toy.root / "benchgate.toml").unlink()
    proposed = benchgate(toy.root, "init", "--dry-run")
    proposed.check(0)
    lines = proposed.out.splitlines()
    example = lines[lines.index("# [[benchmark]]") :]
    toy.git.run("checkout", "--quiet", ".")
    make(toy, benchmarks="\n".join(line.removeprefix("# ") for line in example))
    install(venv, toy.root, "-e", ".")
    done = benchgate(toy.root, *ROUND)
    (row,) = rows_of(done.out).values()
    assert row["base"] < 1 <= row["head"], done.out


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it cannot be seen")
@pytest.mark.parametrize("command", ["python3 -IB -m toy", "python3 -EB -m toy"])
def test_both_arms_in_the_users_checkout_are_an_error(
    benchgate: Program, toy: Project, venv: Path, command: str
) -> None:
    make(toy, benchmarks=f'[[benchmark]]\nname = "cli"\ncommand = "{command}"\n', seconds=0.02)
    install(venv, toy.root, "-e", ".")
    done = benchgate(toy.root, *ROUND)
    done.check(5)
    (row,) = rows_of(done.out).values()
    assert row["outcome"] == "failed"
    assert f"of your checkout {toy.root}, not of its own tree" in row["error"]
    assert "{env}/bin/PROGRAM" in row["error"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it cannot be seen")
def test_an_install_that_comes_before_every_search_path_is_an_error(
    benchgate: Program, toy: Project, venv: Path
) -> None:
    make(toy, seconds=0.02)
    install(venv, toy.root, ".")
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "_finder.py").write_text(FIRST_FINDER.format(folder=str(toy.root / "src" / "toy")))
    (packages / "finder.pth").write_text("import _finder\n")
    done = benchgate(toy.root, *ROUND)
    done.check(5)
    for row in rows_of(done.out).values():
        assert "opened src/toy/__" in row["error"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it cannot be seen")
def test_a_program_that_is_installed_for_both_is_an_error_unless_it_is_wanted(
    benchgate: Program, toy: Project, venv: Path
) -> None:
    tool = venv / "bin" / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    benchmarks = '[[benchmark]]\nname = "cli"\ncommand = "tool"\n'
    make(toy, benchmarks=benchmarks)
    done = benchgate(toy.root, *ROUND)
    done.check(5)
    (row,) = rows_of(done.out).values()
    assert "opened no file of its own tree" in row["error"]
    toy.configure("", benchmarks=f"{benchmarks}allow_foreign = true\n")
    done = benchgate(toy.root, *ROUND, "--all")
    assert rows_of(done.out)["cli"]["outcome"] == "not tested"


def test_data_in_the_checkout_and_an_interpreter_there_are_no_error(
    benchgate: Program, toy: Project
) -> None:
    make(toy)
    venv = toy.root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    install(venv, toy.root, "-e", ".")
    toy.write({"data/large": "1"})
    benchgate.variables["PATH"] = f"{venv}/bin:{os.environ['PATH']}"
    command = f"cat {toy.root}/data/large && toy"
    make(toy, benchmarks=f'[[benchmark]]\nname = "cli"\nshell = true\ncommand = "{command}"\n')
    done = benchgate(toy.root, *ROUND)
    (row,) = rows_of(done.out).values()
    assert row["base"] < 1 <= row["head"], done.out


def test_the_environment_of_an_arm_is_the_active_one(
    benchgate: Program, toy: Project, venv: Path
) -> None:
    build = (
        f'[build]\ncommand = ["{sys.executable} -m venv --without-pip {{env}}", '
        '"cp tool {env}/bin/"]\n\n'
    )
    command = 'test \\"$VIRTUAL_ENV\\" = \\"$(dirname $(dirname $(command -v python3)))\\" && tool'
    make(
        toy,
        benchmarks=f'{build}[[benchmark]]\nname = "cli"\nshell = true\ncommand = "{command}"\n',
    )
    for where, seconds in (("HEAD", "0.01"), ("", "1.0")):
        toy.write({"tool": f"#!/bin/sh\nsleep {seconds}\n"})
        (toy.root / "tool").chmod(0o755)
        if where:
            toy.commit()
    (venv / "bin" / "tool").symlink_to(toy.root / "tool")
    done = benchgate(toy.root, *ROUND)
    (row,) = rows_of(done.out).values()
    assert row["base"] < 1 <= row["head"], done.out
