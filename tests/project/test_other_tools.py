from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.project.other_tools import find_benchmark_files

if TYPE_CHECKING:
    from pathlib import Path

OWN = "def bench_a(): ...\n"
PYTEST = "def bench_a(benchmark):\n    benchmark(sorted, [1])\n"
ASV = "class TimeSuite:\n    def time_a(self): ...\n"
PYPERF = "import pyperf\n\ndef bench_a(loops): ...\n"


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (PYTEST, "pytest-benchmark"),
        ("import pytest\n\ndef test_a(benchmark): ...\n", "pytest-benchmark"),
        ("class TestIt:\n    def bench_a(self, benchmark): ...\n", "pytest-benchmark"),
        (ASV, "asv"),
        ("def time_a(): ...\n", "asv"),
        (PYPERF, "pyperf"),
        ("print('a script')\n", "another tool"),
    ],
)
def test_files_of_other_tools_are_named(tmp_path: Path, text: str, tool: str) -> None:
    write(tmp_path, {"benchmarks/bench_a.py": text})
    found = find_benchmark_files(tmp_path)
    assert (found.own, found.others) == ((), {tool: ("benchmarks",)})


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
def test_own_files_are_told_from_them(
    tmp_path: Path, files: dict[str, str], own: tuple[str, ...]
) -> None:
    write(tmp_path, files)
    assert find_benchmark_files(tmp_path).own == own


def test_a_suite_of_asv_is_known_by_its_configuration(tmp_path: Path) -> None:
    write(tmp_path, {"asv.conf.json": "{}", "benchmarks/__init__.py": ""})
    assert find_benchmark_files(tmp_path).others == {"asv": ("benchmarks",)}
    write(tmp_path, {"asv.conf.json": '// of asv\n{"benchmark_dir": "speed"}'})
    assert find_benchmark_files(tmp_path).others == {"asv": ("speed",)}


def test_files_with_other_names_are_known_by_their_folder(tmp_path: Path) -> None:
    write(tmp_path, {"benchmarks/test_a.py": PYTEST, "benchmarks/run.py": "print('a script')\n"})
    assert find_benchmark_files(tmp_path).others == {"pytest-benchmark": ("benchmarks",)}
