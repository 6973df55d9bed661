from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import functions

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.sources.bench_files import (
    BenchFile,
    find_files,
    find_folders,
    helpers_of,
    search_of,
)

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    "benchmarks/bench_text.py",
    "benchmarks/io/bench_read.py",
    "benchmarks/io/deep/bench_write.py",
    "benchmarks/helper.py",
    "benchmarks/bench_data.json",
    "benchmarks/bench_folder.py/data.json",
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
    found = find_files(arm, functions(path, group=group), path)
    assert {file.path: file.group for file in found} == expected
    assert all(file.id_of("x[n=1]") == f"{file.group}/x[n=1]" for file in found)


@pytest.mark.parametrize(
    ("top", "is_package", "is_helpers"),
    [
        ("benchmarks", False, True),
        ("benchmarks", True, True),
        ("perf", True, True),
        ("Tests", True, True),
        ("tool", False, True),
        ("tool", True, False),
    ],
)
def test_a_package_is_the_projects_own_code_unless_it_is_named_for_tests(
    arm: Arm, top: str, *, is_package: bool, is_helpers: bool
) -> None:
    folder = arm.root / top
    folder.mkdir(exist_ok=True)
    if is_package:
        (folder / "__init__.py").touch()
    file = BenchFile(functions(top), f"{top}/bench_it.py", "it", top)
    assert helpers_of(arm, file) == (folder if is_helpers else None)


@pytest.mark.parametrize(
    ("top", "files", "is_helpers"),
    [
        # A package of tests, and a project about tests.
        ("tests/speed", {"__init__.py": ""}, True),
        ("integration_tests", {"__init__.py": ""}, True),
        ("pytest_plugin", {"__init__.py": ""}, False),
        ("benchtool", {"__init__.py": ""}, False),
        # A namespace package, by how it is imported.
        ("prog", {"core.py": "", "bench_it.py": "from prog.core import work\n"}, False),
        ("libs/prog", {"core.py": "", "bench_it.py": "import libs.prog.core\n"}, False),
        # Code beside its benchmarks, and helpers of benchmarks of the project.
        ("prog", {"tool.py": "", "bench_it.py": "import tool\n"}, False),
        ("prog", {"tool.py": "import toy\n", "bench_it.py": "import tool\n"}, True),
        ("prog", {"bench_it.py": "import json\n"}, True),
    ],
)
def test_code_of_the_project_is_no_helper(
    tmp_path: Path, top: str, files: dict[str, str], *, is_helpers: bool
) -> None:
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path / "env")
    for name, text in {
        "src/toy.py": "",
        **{f"{top}/{name}": t for name, t in files.items()},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    file = BenchFile(search_of((top,)), f"{top}/bench_it.py", "it", top)
    assert helpers_of(arm, file) == (tmp_path / top if is_helpers else None)


def test_without_a_benchmark_the_folder_of_the_configuration_is_searched(tmp_path: Path) -> None:
    for name in ("libs/core/benchmarks/bench_x.py", "libs/other/benchmarks/bench_y.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    core = Arm(ArmName.HEAD, tmp_path, tmp_path / "env", "abc", inside="libs/core")
    assert find_folders([core]) == ("benchmarks",)
    found = find_files(core, search_of(("benchmarks",)), "benchmarks")
    assert [file.path for file in found] == ["libs/core/benchmarks/bench_x.py"]
