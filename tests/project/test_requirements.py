from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from benchgate.project.build_steps import find_build
from benchgate.project.requirements import PythonSuite, Wanted, choose_requirements
from benchgate.project.tree import list_tree

if TYPE_CHECKING:
    from pathlib import Path

HERE = PurePosixPath()
SYSTEM = "[build-system]\nrequires = ['hatchling']\n"
TOOLS = ("pytest-benchmark", "pytest-codspeed")


def chosen(top: Path, files: dict[str, str], *imports: str) -> Wanted:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    suite = PythonSuite(HERE, TOOLS, ("pytest",), frozenset(imports))
    return choose_requirements(list_tree(top), [HERE], [suite])


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, Wanted(words=("pytest", "pytest-benchmark"))),
        (
            {"pyproject.toml": "[project.optional-dependencies]\ntest = ['pytest-benchmark>=4']\n"},
            Wanted(extras=((".", "test"),), words=("pytest",)),
        ),
        (
            {
                "pyproject.toml": "[project]\nname = 'a'\n[project.optional-dependencies]\n"
                "bench = ['pytest_benchmark', 'a[test]']\ntest = ['pytest']\n"
            },
            Wanted(extras=((".", "bench"),)),
        ),
        (
            {
                "pyproject.toml": "[dependency-groups]\ntests = ['pytest', 'pytest-codspeed']\n"
                "bench = [{include-group = 'tests'}]\n"
            },
            Wanted(groups=((".", "bench"),)),
        ),
        (
            {
                "pyproject.toml": "[dependency-groups]\n"
                "a = [{include-group = 'a'}, 'pytest-codspeed']\n"
            },
            Wanted(groups=((".", "a"),), words=("pytest",)),
        ),
        # No set has the tool: what the tests need, and the tool beside it.
        (
            {"pyproject.toml": "[dependency-groups]\ndev = ['pytest']\ndocs = ['sphinx']\n"},
            Wanted(groups=((".", "dev"),), words=("pytest-benchmark",)),
        ),
        (
            {
                "requirements-dev.txt": "# tests\n-r more.txt\n",
                "more.txt": "pytest\npytest-benchmark\n",
            },
            Wanted(files=("requirements-dev.txt",)),
        ),
        (
            {"requirements/test.in": "pytest==8.0 # pinned\npytest-codspeed\n"},
            Wanted(files=("requirements/test.in",)),
        ),
        (
            {"setup.cfg": "[options.extras_require]\ntest =\n    pytest\n    pytest-benchmark\n"},
            Wanted(extras=((".", "test"),)),
        ),
        # A list of another tool: its versions are kept where pip understands them.
        (
            {"pyproject.toml": "[tool.poetry.group.dev.dependencies]\npytest-benchmark = '^4'\n"},
            Wanted(words=("pytest", "pytest-benchmark")),
        ),
        (
            {"pyproject.toml": "[tool.hatch.envs.bench]\ndependencies = ['pytest-benchmark>=4']\n"},
            Wanted(words=("pytest", "pytest-benchmark>=4")),
        ),
    ],
)
def test_the_set_that_holds_the_tool_is_chosen(
    tmp_path: Path, files: dict[str, str], wanted: Wanted
) -> None:
    assert chosen(tmp_path, files) == wanted


def test_a_set_for_benchmarks_is_preferred(tmp_path: Path) -> None:
    text = (
        "dev = ['pytest', 'pytest-benchmark']\nbench = ['pytest', 'pytest-benchmark', 'a', 'b']\n"
    )
    wanted = chosen(tmp_path, {"pyproject.toml": f"[dependency-groups]\n{text}"})
    assert wanted.groups == ((".", "bench"),)


def test_the_set_of_its_own_project_is_preferred(tmp_path: Path) -> None:
    for name, group in (("a", "bench"), ("b", "test")):
        (tmp_path / name).mkdir()
        text = f"[dependency-groups]\n{group} = ['pytest', 'pytest-benchmark']\n"
        (tmp_path / name / "pyproject.toml").write_text(text)
    folders = [PurePosixPath("a"), PurePosixPath("b")]
    suites = [PythonSuite(folder, TOOLS, ("pytest",)) for folder in folders]
    wanted = choose_requirements(list_tree(tmp_path), folders, suites)
    assert wanted == Wanted(groups=(("a", "bench"), ("b", "test")))


def test_imports_are_installed_if_the_project_names_them_somewhere(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[project]\nname = 'my-lib'\ndependencies = ['attrs']\n"
        "[dependency-groups]\nbench = ['pytest', 'pytest-benchmark']\n"
        "docs = ['PyYAML >= 6 ; a < 1 and b < 2']\n",
        "tests/helpers.py": "",
    }
    files["src/my_lib/yaml.py"] = ""  # an adapter, named as what it adapts
    imports = ("os", "my_lib", "attr", "helpers", "tests", "yaml", "msgpack", "pytest")
    wanted = chosen(tmp_path, files, *imports)
    assert wanted.words == ("PyYAML>=6; a < 1 and b < 2",)
    assert wanted.unknown == ("msgpack",)  # a module's name is no name of a package to install


@pytest.mark.parametrize(
    ("wanted", "commands"),
    [
        (Wanted(), ["{env}/bin/pip install ."]),
        (Wanted(extras=((".", "a"), (".", "b"))), ["{env}/bin/pip install .[a,b]"]),
        (
            Wanted(groups=((".", "bench"),), words=("a>=1",)),
            ["{env}/bin/pip install 'pip>=25.1'", "{env}/bin/pip install . --group bench 'a>=1'"],
        ),
        (Wanted(files=("r.txt",)), ["{env}/bin/pip install . -r r.txt"]),
    ],
)
def test_pip_installs_them_with_the_project(
    tmp_path: Path, wanted: Wanted, commands: list[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(SYSTEM)
    build = find_build(tmp_path, ["."], uv=False, wanted=wanted)
    assert build.commands == ("python3 -m venv {env}", *commands)
    assert build.installs


@pytest.mark.parametrize(
    ("wanted", "commands"),
    [
        (Wanted(groups=((".", "dev"),)), ["uv sync --frozen --no-editable"]),
        (
            Wanted(extras=((".", "test"),), groups=((".", "bench"),)),
            ["uv sync --frozen --no-dev --no-editable --extra test --group bench"],
        ),
        (
            Wanted(words=("pytest>=8",), files=("r.txt",)),
            [
                "uv sync --frozen --no-dev --no-editable",
                "uv pip install --python {env} -r r.txt 'pytest>=8'",
            ],
        ),
    ],
)
def test_uv_installs_them_if_there_is_its_lock(
    tmp_path: Path, wanted: Wanted, commands: list[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(SYSTEM)
    build = find_build(tmp_path, ["."], uv=True, wanted=wanted)
    assert list(build.commands) == commands


def test_projects_in_folders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(SYSTEM)
    wanted = Wanted(extras=(("a", "test"),), groups=(("b", "bench"),))
    build = find_build(tmp_path, ["a", "b"], uv=False, wanted=wanted)
    assert build.commands[-1] == (
        "{env}/bin/pip install ./a[test] ./b --group b/pyproject.toml:bench"
    )
