from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.config import CommandBenchmark, PythonBenchmark
from benchgate.config.load import loads
from benchgate.errors import UsageError
from benchgate.project.proposal import propose

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.project.proposal import Proposal

OWN = "def bench_a(): ...\n"
PYTEST = "def test_a(benchmark): ...\n"
SCRIPT = "print('a script')\n"
COMPILED = "[build-system]\nrequires = ['cython']\n"


def proposed(
    top: Path, files: dict[str, str], *, ignored: str = "", installed: str = ""
) -> Proposal:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return propose(
        top,
        top,
        is_ignored=lambda path: path.parent.name == ignored,
        can_call=lambda program: program == installed,
    )


def configuration(proposal: Proposal) -> Config:
    """The proposed configuration, which must be valid as it is."""
    return loads(proposal.files["benchgate.toml"], "benchgate.toml")


@pytest.mark.parametrize(
    ("files", "paths", "new"),
    [
        ({"src/pkg/__init__.py": ""}, ("benchmarks",), ["benchmarks/bench_pkg.py"]),
        ({"src/pkg/__init__.py": "", "perf/bench_a.py": OWN}, ("perf",), []),
        ({"one/bench_a.py": OWN, "two/bench_b.py": OWN}, ("one", "two"), []),
        (
            {"pkg/__init__.py": "", "benchmarks/bench_a.py": SCRIPT},
            ("perf",),
            ["perf/bench_pkg.py"],
        ),
    ],
)
def test_what_is_found_is_written_down(
    tmp_path: Path, files: dict[str, str], paths: tuple[str, ...], new: list[str]
) -> None:
    proposal = proposed(tmp_path, files)
    (benchmark,) = configuration(proposal).benchmarks
    assert isinstance(benchmark, PythonBenchmark)
    assert benchmark.paths == paths
    assert benchmark.pythonpath is None
    assert list(proposal.files) == ["benchgate.toml", *new]


def test_a_folder_that_git_ignores_is_not_used(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {"src/pkg/__init__.py": ""}, ignored="benchmarks")
    assert proposal.replace == "perf/bench_pkg.py"


def test_several_projects_get_a_search_path(tmp_path: Path) -> None:
    files = {"pkgs/alpha/src/alpha/__init__.py": "", "libs/textcore/textcore/__init__.py": ""}
    proposal = proposed(tmp_path, files)
    (benchmark,) = configuration(proposal).benchmarks
    assert getattr(benchmark, "pythonpath", None) == ("libs/textcore", "pkgs/alpha/src")
    assert proposal.found == (
        "Found 2 Python packages: textcore (in libs/textcore), alpha (in pkgs/alpha/src).",
    )


def test_what_is_installed_needs_no_search_path(tmp_path: Path) -> None:
    files = {"libs/textcore/textcore/__init__.py": "", "libs/textcore/pyproject.toml": COMPILED}
    config = configuration(proposed(tmp_path, files))
    assert config.build.commands[-1] == ("{env}/bin/pip", "install", "./libs/textcore")
    assert getattr(config.benchmarks[0], "pythonpath", None) is None


def document(proposal: Proposal) -> dict[str, Any]:
    return tomllib.loads(proposal.files["benchgate.toml"])


def test_a_project_with_a_suite_gets_no_example(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {"pkg/__init__.py": "", "tests/benchmarks/test_a.py": PYTEST})
    assert list(proposal.files) == ["benchgate.toml"]
    assert proposal.replace == ""
    assert document(proposal) == {
        "build": {
            "command": ["python3 -m venv {env}", "{env}/bin/pip install pytest pytest-benchmark"]
        },
        "benchmark": [{"pytest": "tests/benchmarks"}],
    }
    assert proposal.found == (
        "Found the Python package pkg.",
        "Found 1 test with the benchmark fixture in tests/benchmarks.",
    )


def test_several_suites_share_one_build(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[project]\nname = 'x'\n[build-system]\nrequires = ['hatchling']\n",
        "src/x/__init__.py": "",
        "bench/test_a.py": f"import numpy\n{PYTEST}",
        "perf/bench_b.py": OWN,
        "go.mod": "module x\n",
        "a_test.go": "func BenchmarkA(b *testing.B) {\n",
    }
    proposal = proposed(tmp_path, files, installed="go")
    assert document(proposal) == {
        "build": {
            "command": [
                "python3 -m venv {env}",
                "{env}/bin/pip install . pytest pytest-benchmark",
            ]
        },
        "benchmark": [
            {"pytest": "bench"},
            {"go": "."},
            {"python": "perf"},
        ],
    }
    (to_do,) = (line for line in proposal.found if line.startswith("To do:"))
    assert to_do.startswith("To do: The suites import numpy, but the project does not say what")
    assert "# To do: The suites import numpy" in proposal.files["benchgate.toml"]


def test_what_is_not_installed_gets_a_search_path(tmp_path: Path) -> None:
    files = {"lib/pkg/__init__.py": "", "bench/test_a.py": PYTEST}
    (benchmark,) = document(proposed(tmp_path, files))["benchmark"]
    assert benchmark == {"pytest": "bench", "pythonpath": ["lib"]}


def test_a_program_gets_a_command(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, {"Makefile": "all: tool\ntool: tool.c\n", "tool.c": ""})
    config = configuration(proposal)
    (benchmark,) = config.benchmarks
    assert isinstance(benchmark, CommandBenchmark)
    assert benchmark.command == ("./tool", "--help")
    assert config.build.commands == (("make",),)
    assert proposal.replace == "benchgate.toml"
    assert proposal.found == (
        "Found a C or C++ project, with the program tool.",
        "make is needed, but not installed here.",
    )


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"src/pkg/__init__.py": ""}, ("python3", "-c", "import pkg")),
        (
            {"src/pkg/__init__.py": "", "src/pkg/__main__.py": ""},
            ("python3", "-m", "pkg", "--version"),
        ),
        (
            {"pkg/__init__.py": "", "pyproject.toml": COMPILED},
            ("{env}/bin/python", "-I", "-c", "import pkg"),
        ),
    ],
)
def test_the_example_that_is_commented_out_is_valid(
    tmp_path: Path, files: dict[str, str], command: tuple[str, ...]
) -> None:
    lines = proposed(tmp_path, files).files["benchgate.toml"].splitlines()
    example = lines[lines.index("# [[benchmark]]") :]
    config = loads("\n".join(line.removeprefix("# ") for line in example), "benchgate.toml")
    (benchmark,) = config.benchmarks
    assert isinstance(benchmark, CommandBenchmark)
    assert benchmark.command == command


def test_the_starter_runs(tmp_path: Path) -> None:
    # A package whose name can be imported here as well.
    proposal = proposed(tmp_path, {"src/json/__init__.py": ""})
    names: dict[str, object] = {}
    exec(compile(proposal.files[proposal.replace], "starter", "exec"), names)  # noqa: S102 - our own text
    (benchmark,) = (value for name, value in names.items() if name.startswith("bench_"))
    assert callable(benchmark)
    benchmark()


def test_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no project that benchgate knows") as caught:
        proposed(tmp_path, {"README": ""})
    assert "command" in (caught.value.hint or "")


def test_a_lock_of_uv_above_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "libs" / "a"
    for name, text in {
        "uv.lock": "",
        "libs/a/a/__init__.py": "",
        "libs/a/setup.py": "ext_modules",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    proposal = propose(folder, tmp_path, is_ignored=lambda _: False, can_call=lambda _: True)
    assert proposal.build.commands == ("uv sync --frozen --no-dev --no-editable",)
    proposal = propose(folder, folder, is_ignored=lambda _: False, can_call=lambda _: True)
    assert proposal.build.commands[0] == "python3 -m venv {env}"


@pytest.mark.parametrize(
    ("manifest", "ignored", "command"),
    [
        ("package.json", "package-lock.json", "npm install --no-package-lock"),
        ("Cargo.toml", "Cargo.lock", "cargo build --release"),
    ],
)
def test_a_lock_that_git_ignores_is_none(
    tmp_path: Path, manifest: str, ignored: str, command: str
) -> None:
    texts = {
        "package.json": '{"dependencies": {"a": "1"}, "bin": "a.js"}',
        "Cargo.toml": "[package]\nname = 'a'\n",
    }
    (tmp_path / manifest).write_text(texts[manifest])
    (tmp_path / ignored).write_text("")

    def commands(*names: str) -> tuple[str, ...]:
        return propose(
            tmp_path,
            tmp_path,
            is_ignored=lambda path: path.name in names,
            can_call=lambda _: True,
        ).build.commands

    assert commands(ignored) == (command,)
    assert commands() != (command,)


def test_no_program_stands_for_benchmarks_that_are_there(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "a", "bin": "a.js"}',
        "benchmarks/run.js": "",
        "benchmarks/lib/bench_all.js": "",
    }
    with pytest.raises(UsageError) as refused:
        proposed(tmp_path, files)
    assert refused.value.message == (
        "benchgate does not know what runs benchmarks/run.js, benchmarks/lib/bench_all.js"
    )
    assert "suite =" in refused.value.hint
