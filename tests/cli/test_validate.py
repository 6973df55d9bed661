from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.cli.validate import Validation, validate
from benchgate.config.load import loads

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.git.repository import Git

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


def test_what_git_ignores_is_a_problem(repo: Git) -> None:
    files = {"benchmarks/bench_a.py": FUNCTIONS, "more/bench_b.py": FUNCTIONS, ".gitignore": "more"}
    found_in(repo.root, CONFIGURED, files)
    found = validate(loads(CONFIGURED, "benchgate.toml"), repo.root, repo)
    assert found.problems == ("more/bench_b.py: git ignores it, so it is not measured",)


def test_folders_that_the_build_creates_are_not_missed(tmp_path: Path) -> None:
    built = f'[build]\ncommand = "make"\n{COMMAND}cwd = "work"\n'
    assert found_in(tmp_path, built, {}).problems == ()


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
            "no benchmarks: there is neither a file bench_*.py nor a [[benchmark]]",
        ),
        (
            CONFIGURED,
            {"benchmarks/bench_a.py": FUNCTIONS},
            '[[benchmark]] python = "more" has no file bench_*.py',
        ),
        (
            f'{COMMAND}cwd = "work"\n',
            {},
            'benchgate.toml:4: benchmark[0].cwd = "work": there is no such folder',
        ),
        (
            f'{COMMAND}pythonpath = ["lib", "{{env}}/lib"]\n',
            {},
            'benchgate.toml:4: benchmark[0].pythonpath = "lib": there is no such folder',
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


@pytest.mark.parametrize(
    ("source", "names", "makes_more"),
    [
        ("for n in (1, 2):\n    globals()[f'bench_{n}'] = lambda: n\n", (), True),
        ("from helpers import *\n", (), True),
        ("bench_sizes = [1]\nclass bench_c: ...\ndef bench_a(): ...\n", ("bench_a",), False),
        ("from helpers import work as bench_work\n", ("bench_work",), False),
        ("import functools\nbench_a = functools.partial(sorted, [1])\n", ("bench_a",), False),
        ("try:\n    import x\nexcept ImportError:\n    def bench_a(): ...\n", ("bench_a",), False),
    ],
)
def test_functions_that_are_made_are_not_denied(
    tmp_path: Path, source: str, names: tuple[str, ...], *, makes_more: bool
) -> None:
    found = found_in(tmp_path, NO_CONFIGURATION, {"bench_a.py": source})
    assert found.problems == ()
    assert found.functions == {"bench_a.py": names}
    assert found.unlisted == ({"bench_a.py"} if makes_more else set())


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "def bench_a(): ...\nbench_a.set_up = print\n",
            "bench_a.py:2: bench_a.set_up has no effect; did you mean 'setup'?",
        ),
        (
            "def bench_a():\n    yield\n",
            "bench_a.py:1: bench_a is a generator: calling it would not run its body",
        ),
    ],
)
def test_what_a_session_refuses_is_a_problem(tmp_path: Path, source: str, problem: str) -> None:
    assert found_in(tmp_path, NO_CONFIGURATION, {"bench_a.py": source}).problems == (problem,)


def test_suites_are_named_and_their_folders_checked(tmp_path: Path) -> None:
    suite = "[[benchmark]]\nsuite = 'go test'\ncwd = 'missing'\nformat = 'golang'\n"
    suite += "[[benchmark]]\nsuite = 'go test -bench={filter}'\n"
    found = found_in(tmp_path, suite, {})
    assert found.commands == ()
    assert found.suites == ("go test in missing", "go test -bench={filter}")
    *problems, no_filter = found.problems
    assert no_filter.startswith("benchgate.toml:6: benchmark[1].suite: {filter} needs `format`")
    assert tuple(problems) == (
        'benchgate.toml:3: benchmark[0].cwd = "missing": there is no such folder',
        'benchgate.toml:4: benchmark[0].format = "golang": there is no such format',
    )
