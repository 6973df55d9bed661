from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchgate.measure.benchfiles import (
    PythonSpec,
    default_interpreter,
    find_files,
    interpreter_of,
)
from benchgate.measure.engine import Arm, ArmName

FILES = [
    "benchmarks/bench_text.py",
    "benchmarks/io/bench_read.py",
    "benchmarks/io/deep/bench_write.py",
    "benchmarks/helper.py",
    "benchmarks/bench_data.json",
    "benchmarks/.hidden/bench_no.py",
    "benchmarks/__pycache__/bench_no.py",
    "benchmarks/node_modules/x/bench_no.py",
    "benchmarks/site-packages/bench_no.py",
    "speed/any_name.py",
]


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    arm = Arm(ArmName.HEAD, tmp_path / "a tree", tmp_path / "an env", "abc")
    for name in FILES:
        (arm.root / name).parent.mkdir(parents=True, exist_ok=True)
        (arm.root / name).touch()
    return arm


@pytest.mark.parametrize(
    ("path", "group", "expected"),
    [
        (
            "benchmarks",
            "",
            {
                "benchmarks/bench_text.py": "text",
                "benchmarks/io/bench_read.py": "io/read",
                "benchmarks/io/deep/bench_write.py": "io/deep/write",
            },
        ),
        (
            "benchmarks/io/",
            "py",
            {
                "benchmarks/io/bench_read.py": "py/read",
                "benchmarks/io/deep/bench_write.py": "py/deep/write",
            },
        ),
        ("benchmarks/io/bench_read.py", "", {"benchmarks/io/bench_read.py": "read"}),
        ("speed/any_name.py", "", {"speed/any_name.py": "any_name"}),
        ("speed", "", {}),
        ("absent", "", {}),
    ],
)
def test_finds_files(arm: Arm, path: str, group: str, expected: dict[str, str]) -> None:
    found = find_files(arm, PythonSpec((path,), group=group), path)
    assert {file.path: file.group for file in found} == expected
    assert all(file.id_of("x[n=1]") == f"{file.group}/x[n=1]" for file in found)


def test_the_interpreter_of_an_arm(arm: Arm) -> None:
    spec = PythonSpec(("benchmarks",))
    assert interpreter_of(arm, spec, "/my tools/python") == ("/my tools/python",)
    own = arm.env / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert interpreter_of(arm, spec, "/my tools/python") == (str(own),)
    named = PythonSpec(("benchmarks",), interpreter="{root}/run 'my python' -X dev")
    assert interpreter_of(arm, named, "p") == (f"{arm.root}/run", "my python", "-X", "dev")


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
