from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.cli.init import propose, propose_all, write
from benchgate.cli.workflows import DEFAULT_ACTION
from benchgate.config import CommandBenchmark, PythonBenchmark
from benchgate.config.load import loads
from benchgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.config import Config
    from benchgate.git.repository import Git


def make(root: Path, *files: str) -> None:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def configuration(root: Path) -> Config:
    """The proposed configuration, which must be valid as it is."""
    return loads(propose(root)["benchgate.toml"], "benchgate.toml")


@pytest.mark.parametrize(
    ("files", "paths", "new"),
    [
        (["src/pkg/__init__.py"], ("benchmarks",), ["benchmarks/bench_pkg.py"]),
        (["pkg/__init__.py", "tests/__init__.py"], ("benchmarks",), ["benchmarks/bench_pkg.py"]),
        (["src/pkg/__init__.py", "perf/bench_a.py"], ("perf",), []),
        (["perf/bench_a.py", "perf/deep/bench_b.py"], ("perf",), []),
        (["one/bench_a.py", "two/bench_b.py"], ("one", "two"), []),
        (["bench_a.py"], (".",), []),
    ],
)
def test_what_is_found_is_written_down(
    tmp_path: Path, files: list[str], paths: tuple[str, ...], new: list[str]
) -> None:
    make(tmp_path, *files)
    (benchmark,) = configuration(tmp_path).benchmarks
    assert isinstance(benchmark, PythonBenchmark)
    assert benchmark.paths == paths
    assert list(propose(tmp_path)) == ["benchgate.toml", *new]


@pytest.mark.parametrize("requires", ["maturin>=1", "scikit-build-core", "Cython", "pybind11"])
def test_a_project_with_compiled_parts_gets_a_build(tmp_path: Path, requires: str) -> None:
    make(tmp_path, "src/pkg/__init__.py")
    (tmp_path / "pyproject.toml").write_text(f'[build-system]\nrequires = ["{requires}"]\n')
    assert configuration(tmp_path).build.commands != ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "setup(ext_modules=[Extension('pkg._speed', ['speed.c'])])"),
        ("pyproject.toml", '[tool.setuptools]\next-modules = [{ name = "pkg._speed" }]\n'),
        ("Cargo.toml", ""),
    ],
)
def test_compiled_parts_are_found_by_their_files(tmp_path: Path, name: str, text: str) -> None:
    make(tmp_path, "src/pkg/__init__.py")
    (tmp_path / name).write_text(text)
    assert configuration(tmp_path).build.commands != ()


def test_a_pure_project_gets_none(tmp_path: Path) -> None:
    make(tmp_path, "src/pkg/__init__.py")
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = ["hatchling"]\n')
    assert configuration(tmp_path).build.commands == ()


@pytest.mark.parametrize(
    ("files", "command"),
    [
        (["src/pkg/__init__.py"], ("python3", "-c", "import pkg")),
        (["src/pkg/__init__.py", "src/pkg/__main__.py"], ("python3", "-m", "pkg", "--version")),
        (["pkg/__init__.py", "pkg/__main__.py"], ("python3", "-m", "pkg", "--version")),
        (
            ["pkg/__init__.py", "pkg/__main__.py", "Cargo.toml"],
            ("{env}/bin/python", "-I", "-m", "pkg", "--version"),
        ),
        (["bench_a.py"], ("./my-program", "--version")),
    ],
)
def test_the_example_that_is_commented_out_is_valid(
    tmp_path: Path, files: list[str], command: tuple[str, ...]
) -> None:
    make(tmp_path, *files)
    text = propose(tmp_path)["benchgate.toml"]
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    example = "\n".join(lines[lines.index("[[benchmark]]", lines.index("[[benchmark]]") + 1) :])
    config = loads(example, "benchgate.toml")
    (benchmark,) = config.benchmarks
    assert isinstance(benchmark, CommandBenchmark)
    assert benchmark.command == command
    assert config.gate.margin == pytest.approx(0.02)


def test_the_starter_runs(tmp_path: Path) -> None:
    make(tmp_path, "src/json/__init__.py")  # a name that can be imported here as well
    _, (path, starter) = propose(tmp_path).items()
    names: dict[str, object] = {}
    exec(compile(starter, path, "exec"), names)  # noqa: S102 - our own text
    benchmarks = [value for name, value in names.items() if name.startswith("bench_")]
    assert len(benchmarks) == 1
    assert callable(benchmarks[0])
    benchmarks[0]()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"benchgate.toml": ""}, "exists already"),
        ({"pyproject.toml": "[tool.benchgate]\n"}, "has a [tool.benchgate] table already"),
        ({}, "neither a Python package nor a file bench_*.py"),
    ],
)
def test_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=r".") as caught:
        propose(tmp_path)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_broken_pyproject_is_not_the_business_of_init(tmp_path: Path) -> None:
    make(tmp_path, "src/pkg/__init__.py")
    (tmp_path / "pyproject.toml").write_text("[[[")
    assert propose(tmp_path)


def test_write_overwrites_nothing(tmp_path: Path) -> None:
    make(tmp_path, "src/pkg/__init__.py")
    files = propose(tmp_path)
    write(tmp_path, files)
    with pytest.raises(UsageError, match="cannot write"):
        write(tmp_path, files)
    assert (tmp_path / "benchgate.toml").read_text() == files["benchgate.toml"]


@pytest.fixture
def on_github(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Git:
    commit(repo, {"src/pkg/__init__.py": ""})
    repo.run("branch", "--move", "trunk")
    repo.run("remote", "add", "origin", "https://github.com/octo-org/hello.git")
    return repo


def proposed(root: Path, git: Git | None, *, workflows: bool | None = None) -> list[str]:
    return list(propose_all(root, git, workflows=workflows, action=DEFAULT_ACTION))


def test_a_repository_on_github_gets_both_workflows(on_github: Git) -> None:
    texts = propose_all(on_github.root, on_github, workflows=None, action="o/n@" + "a" * 40)
    gate = texts[".github/workflows/benchgate.yml"]
    comment = texts[".github/workflows/benchgate-comment.yml"]
    assert "branches: [trunk]" in gate
    assert f"uses: o/n@{'a' * 40}" in gate
    assert f"uses: o/n@{'a' * 40}" in comment
    assert "workflows: [benchgate]" in comment
    assert "name: benchgate\n" in gate


def test_workflows_are_left_out_elsewhere_or_on_demand(on_github: Git) -> None:
    own = ["benchgate.toml", "benchmarks/bench_pkg.py"]
    assert proposed(on_github.root, None) == own
    assert proposed(on_github.root, on_github, workflows=False) == own


def test_workflows_are_added_to_a_configured_project(on_github: Git) -> None:
    (on_github.root / "benchgate.toml").write_text("")
    assert proposed(on_github.root, on_github) == [
        ".github/workflows/benchgate.yml",
        ".github/workflows/benchgate-comment.yml",
    ]


def test_what_uses_benchgate_already_is_left_alone(on_github: Git) -> None:
    write(on_github.root, {".github/workflows/perf.yaml": "- uses: octo-org/benchgate@v1\n"})
    assert proposed(on_github.root, on_github) == ["benchgate.toml", "benchmarks/bench_pkg.py"]
    with pytest.raises(UsageError, match=r"perf\.yaml already uses benchgate"):
        proposed(on_github.root, on_github, workflows=True)
    (on_github.root / "benchgate.toml").write_text("")
    with pytest.raises(UsageError, match=r"benchgate\.toml exists already"):
        proposed(on_github.root, on_github)


@pytest.mark.parametrize("action", ["benchgate", "o/n", "o/n@", "o/n@v1\n- run: evil", "o/n@a b"])
def test_an_action_that_is_no_reference_is_refused(on_github: Git, action: str) -> None:
    with pytest.raises(UsageError, match="must be OWNER/NAME@REF"):
        propose_all(on_github.root, on_github, workflows=True, action=action)


def test_the_workflows_are_what_linters_ask_for(on_github: Git) -> None:
    action = f"octo-org/benchgate@{'a' * 40}"
    files = propose_all(on_github.root, on_github, workflows=True, action=action)
    write(on_github.root, files)
    workflows = [str(on_github.root / path) for path in files if path.startswith(".github")]
    for command in (
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows],
        ["zizmor", "--offline", "--no-progress", "--persona=pedantic", *workflows],
    ):
        done = subprocess.run(
            [Path(sys.executable).with_name(command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
