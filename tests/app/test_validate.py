from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.app.validate import Validation, validate
from benchgate.config.load import loads

if TYPE_CHECKING:
    from pathlib import Path

NO_CONFIGURATION = ""
CONFIGURED = '[[benchmark]]\npython = ["benchmarks", "more"]\n'
COMMAND = '[[benchmark]]\nname = "cli"\ncommand = "true"\n'


FUNCTIONS = "def bench_x(): ...\nasync def bench_y(): ...\ndef z(): ...\n"


def found_in(root: Path, config: str, files: dict[str, str]) -> Validation:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return validate(loads(config, "benchgate.toml"), root)


def test_functions_are_found_without_a_configuration(tmp_path: Path) -> None:
    found = found_in(tmp_path, NO_CONFIGURATION, {"any/where/bench_a.py": FUNCTIONS})
    assert found.functions == {"any/where/bench_a.py": ("bench_x", "bench_y")}
    assert found.problems == ()


def test_commands_are_found(tmp_path: Path) -> None:
    found = found_in(tmp_path, COMMAND, {})
    assert found.commands == ("cli",)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("config", "files", "problem"),
    [
        (
            NO_CONFIGURATION,
            {"other.py": FUNCTIONS},
            "no benchmarks: neither a file bench_*.py nor a [[benchmark]]",
        ),
        (
            CONFIGURED,
            {"benchmarks/bench_a.py": FUNCTIONS},
            '[[benchmark]] python = "more": there is no file bench_*.py',
        ),
        (NO_CONFIGURATION, {"bench_a.py": "def bench_x(:\n"}, "bench_a.py:1: invalid syntax"),
        (
            NO_CONFIGURATION,
            {"bench_a.py": f"{FUNCTIONS}\0"},
            "bench_a.py: source code string cannot contain null bytes",
        ),
        (
            NO_CONFIGURATION,
            {"bench_a.py": "def helper(): ...\n"},
            "bench_a.py: no function named bench_*",
        ),
    ],
)
def test_problems_are_named(
    tmp_path: Path, config: str, files: dict[str, str], problem: str
) -> None:
    assert found_in(tmp_path, config, files).problems == (problem,)
