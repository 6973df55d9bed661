from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from benchgate.project.suites import find_benchmarks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project.conftest import Find

OWN = "def bench_a(): ...\n"
PYTEST = "def test_a(benchmark):\n    benchmark(sorted, [1])\n"
ASV = "class TimeSuite:\n    def time_a(self): ...\n"


@pytest.mark.parametrize(
    ("files", "own"),
    [
        ({"perf/bench_a.py": OWN, "perf/deep/bench_b.py": OWN}, ("perf",)),
        ({"one/bench_a.py": OWN, "two/bench_b.py": OWN}, ("one", "two")),
        ({"bench_a.py": OWN}, (".",)),
        ({"perf/bench_a.py": "def bench_("}, ("perf",)),
        ({"perf/bench_a.py": "for n in 1, 2:\n    globals()[f'bench_{n}'] = print\n"}, ("perf",)),
        ({"perf/bench_a.py": OWN, "perf/bench_b.py": PYTEST}, ("perf/bench_a.py",)),
        ({"perf/bench_a.py": OWN, "asv/bench_b.py": ASV}, ("perf",)),
    ],
)
def test_own_files_are_told_from_those_of_other_tools(
    find: Find, files: dict[str, str], own: tuple[str, ...]
) -> None:
    assert find(files).own == own


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("def bench_a(benchmark): ...\n", "pytest-benchmark"),  # pytest collects no bench_*
        ("class TestIt:\n    def bench_a(self, benchmark): ...\n", "pytest-benchmark"),
        ("def time_a(): ...\n", "asv"),
        ("import pyperf\n\ndef bench_a(loops): ...\n", "pyperf"),
        ("print('a script')\n", "another tool"),
    ],
)
def test_files_without_a_suite_are_named(find: Find, text: str, tool: str) -> None:
    found = find({"speed/bench_a.py": text})
    assert (found.own, found.suites) == ((), ())
    assert found.sentences == (
        f"The files bench_*.py in speed are for {tool}, but they do not tell how it runs them.",
    )


def test_what_is_installed_generated_or_of_another_repository_is_left_out(find: Find) -> None:
    places = ("node_modules/a", ".tox", "vendor", "env", "crate/target", "inner", "build/lib")
    files = {f"{place}/test_a.py": PYTEST for place in places}
    markers = {"env/pyvenv.cfg": "", "crate/Cargo.toml": "", "inner/.git": "gitdir: elsewhere"}
    assert find(files | markers).suites == ()


def test_what_git_ignores_is_left_out(find: Find) -> None:
    assert find({"scratch/test_a.py": PYTEST}, "scratch").suites == ()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"Cargo.toml": "[[bench"}, "Cargo.toml was not looked at: it is not valid TOML ("),
        ({"package.json": '{"a": '}, "package.json was not looked at: it is not valid JSON ("),
        ({"package.json": '{"a":' * 100_000}, "(it is nested too deeply)"),
        ({"asv.conf.json": '{"benchmark_dir": }'}, "asv.conf.json was not looked at"),
        ({"asv.conf.json": '{"benchmark_dir": "../b"}'}, "asv.conf.json names the folder ../b"),
    ],
)
def test_a_broken_file_is_named(find: Find, files: dict[str, str], sentence: str) -> None:
    found = find(files)
    assert sentence in " ".join(found.sentences)


@pytest.mark.parametrize(
    "files",
    [
        {
            "package.json": "[]",
            "pyproject.toml": "tool = 1\nproject = 2\n",
            "tests/test_a.py": PYTEST,
        },
        {"pyproject.toml": "[tool]\npytest = 3\n", "setup.cfg": "[[[", "tests/test_a.py": PYTEST},
        {"pyproject.toml": "dependency-groups = ['x']\n", "setup.py": "(", "test_a.py": PYTEST},
        {"Cargo.toml": "bench = 1\npackage = 2\nworkspace = 3\n", "tests/test_a.py": PYTEST},
        {"tests/test_a.py": PYTEST, "tests/test_b.py": "\0", "tests/test_c.py": "(" * 90_000},
        {"tests/test_a.py": PYTEST, "tests/test_b.py": "benchmark = " + "-" * 90_000 + "1\n"},
        {"tests/test_a.py": PYTEST, "package.json": '{"scripts": 1, "dependencies": ["mitata"]}'},
        {"tests/test_a.py": PYTEST, "tox.ini": "[testenv]\ndeps"},
    ],
)
def test_odd_files_beside_a_suite_do_no_harm(find: Find, files: dict[str, str]) -> None:
    (suite,) = find(files).suites
    assert suite.found.startswith("1 test with the benchmark fixture")


def test_large_and_special_files_are_not_read(find: Find, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "test_zero.py").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "test_pipe.py")
    os.mkfifo(tmp_path / "go.mod")
    (tmp_path / "test_large.py").write_text(PYTEST + "#" * 1_100_000)
    (suite,) = find({"test_a.py": PYTEST}).suites
    assert suite.table == {"pytest": "test_a.py"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_named(find: Find, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    assert find({}).sentences == ("The folder closed was not looked at: Permission denied.",)


def test_many_files_take_no_time_to_speak_of(tmp_path: Path) -> None:
    for folder in range(50):
        (tmp_path / f"tests/{folder}").mkdir(parents=True)
        for file in range(100):
            (tmp_path / f"tests/{folder}/{file}.txt").touch()
    for name in ("Cargo.toml", "go.mod", "package.json", "CMakeLists.txt"):
        (tmp_path / name).write_text("{}" if name == "package.json" else "")
    began_s = time.process_time()
    find_benchmarks(tmp_path, lambda _: False)
    assert time.process_time() - began_s < 2  # measured: 0.05 s
