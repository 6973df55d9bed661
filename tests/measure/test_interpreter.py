from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import functions

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.functions.interpreter import (
    default_interpreter,
    interpreter_of,
    scripts_of,
    settings_of,
    with_environment,
)

if TYPE_CHECKING:
    from benchgate.git.repository import Git


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    root = tmp_path / "a tree"
    root.mkdir()
    return Arm(ArmName.HEAD, root, tmp_path / "an env", "abc")


def test_the_interpreter_of_an_arm(arm: Arm) -> None:
    spec = functions("benchmarks")
    assert interpreter_of(arm, spec, "/my tools/python") == ("/my tools/python",)
    own = arm.env / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert interpreter_of(arm, spec, "/my tools/python") == (str(own),)
    named = functions("benchmarks", interpreter="{root}/run 'my python' -X dev")
    assert interpreter_of(arm, named, "p") == (f"{arm.root}/run", "my python", "-X", "dev")


@pytest.mark.parametrize("env", [".venv", "venv", ".pixi/envs/default"])
def test_the_environment_of_the_project_is_found_without_activation(repo: Git, env: str) -> None:
    folder = repo.root / "libs" / "a"
    folder.mkdir(parents=True)
    environ = {"PATH": "/usr/bin"}
    assert with_environment(environ, folder, repo.root) == environ
    python = executable(repo.root / env / "bin" / "python")
    active = with_environment(environ, folder, repo.root)
    assert default_interpreter(repo.root, active) == python
    assert active["PATH"] == f"{Path(python).parent}:/usr/bin"
    nearer = executable(folder / env / "bin" / "python")
    assert default_interpreter(repo.root, with_environment(environ, folder, repo.root)) == nearer


def test_an_active_environment_comes_first(repo: Git) -> None:
    executable(repo.root / ".venv" / "bin" / "python")
    environ = {"VIRTUAL_ENV": "/mine"}
    assert with_environment(environ, repo.root, repo.root) == environ


def test_an_environment_that_a_change_brings_along_is_not_used(repo: Git) -> None:
    executable(repo.root / ".venv" / "bin" / "python")
    repo.run("add", "--all")
    assert with_environment({}, repo.root, repo.root) == {}


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_users_interpreter(tmp_path: Path) -> None:
    active, path = tmp_path / "venv", tmp_path / "path"
    environ = {"VIRTUAL_ENV": str(active), "PATH": f"{path}{os.pathsep}/nowhere"}
    assert default_interpreter(tmp_path, environ) == sys.executable
    python = executable(path / "python")
    assert default_interpreter(tmp_path, environ) == python
    python3 = executable(path / "python3")
    assert default_interpreter(tmp_path, environ) == python3
    assert default_interpreter(Path(sys.prefix).parent, environ) == sys.executable
    in_venv = executable(active / "bin" / "python")
    assert default_interpreter(Path(sys.prefix).parent, environ) == in_venv


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("python3", "env SIZE=1 python3"),
        ("python3 -X dev", "python3 -X utf8"),
        ("nice -n 5 python3", "nice -n 9 python3"),
    ],
)
def test_what_is_set_for_the_interpreter_counts(was: str, now: str) -> None:
    before, after = (settings_of(functions(".", interpreter=words)) for words in (was, now))
    assert before != after


@pytest.mark.parametrize("words", ["tools/py", "{root}/tools/py -O", "sh tools/py"])
def test_a_script_of_the_tree_that_starts_python_counts(arm: Arm, words: str) -> None:
    script = arm.root / "tools" / "py"
    script.parent.mkdir()
    spec = functions(".", interpreter=words)
    found = []
    for text in (f"exec {arm.env}/python", "exec {env}/python", "SIZE=1 exec {env}/python"):
        script.write_text(f"#!/bin/sh\n{text}\n")
        found.append(scripts_of(arm, spec))
    assert found[0] == found[1] != found[2]
    # A script with a NUL byte runs all the same, and a program in the tree may do anything, too.
    for content in (b"#!/bin/sh\nSIZE=1 exec python3\n\0\n", b"\x7fELF\0"):
        script.write_bytes(content)
        found.append(scripts_of(arm, spec))
    assert found[3] != found[4]
    assert {} not in found


def test_the_interpreter_that_was_built_is_not_read(arm: Arm) -> None:
    program = arm.env / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"\x7fELF\0")
    assert scripts_of(arm, functions(".")) == {}


def test_no_other_interpreter_is_read(arm: Arm) -> None:
    for words in (None, "python3", sys.executable, "{env}/bin/python", "{root}/gone"):
        assert scripts_of(arm, functions(".", interpreter=words)) == {}
    wrapper = arm.env / "bin" / "python"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text("SIZE=1 exec python3")
    assert scripts_of(arm, functions("."))


@pytest.mark.parametrize("active", ["a" * 300, "/proc/1/cwd/nowhere"])
def test_an_environment_that_cannot_be_read_is_none(tmp_path: Path, active: str) -> None:
    found = default_interpreter(tmp_path, {"VIRTUAL_ENV": active, "PATH": "/nowhere"})
    assert found == sys.executable
