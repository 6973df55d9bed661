from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.project.build_steps import find_build

if TYPE_CHECKING:
    from pathlib import Path

PIP = ("python3 -m venv {env}", "{env}/bin/pip install .")
SYSTEM = "[build-system]\nrequires = ['{}']\n"
DEPENDENT = f"{SYSTEM.format('hatchling')}[project]\ndependencies = ['anyio']\n"


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    "requires", ["maturin>=1", "scikit-build-core", "Cython", "pybind11", "meson-python"]
)
def test_compiled_parts_by_what_builds_them(tmp_path: Path, requires: str) -> None:
    write(tmp_path, {"pyproject.toml": SYSTEM.format(requires)})
    found = find_build(tmp_path, ["."], uv=False)
    assert (found.commands, found.reason) == (PIP, "the project has compiled parts")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"setup.py": "setup(ext_modules=[Extension('a', ['a.c'])])"}, "compiled parts"),
        ({"setup.py": "setup(cffi_modules=['build.py:ffi'])"}, "compiled parts"),
        (
            {"setup.py": "", "pyproject.toml": "[tool.setuptools]\next-modules = []\n"},
            "compiled parts",
        ),
        ({"setup.py": "", "Cargo.toml": ""}, "compiled parts"),
        ({"pyproject.toml": DEPENDENT}, "dependencies"),
        ({"setup.py": "setup(install_requires=['a'])"}, "dependencies"),
        ({"setup.cfg": "[options]\ninstall_requires =\n    a\n"}, "dependencies"),
        (
            {
                "pyproject.toml": SYSTEM.format("poetry-core")
                + "[tool.poetry.dependencies]\npython = '*'\na = '*'\n"
            },
            "dependencies",
        ),
        (
            {
                "pyproject.toml": SYSTEM.format("hatch-vcs")
                + "[tool.hatch.build.hooks.vcs]\nversion-file = '_version.py'\n"
            },
            "writes files",
        ),
    ],
)
def test_what_must_be_installed_gets_a_build(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    write(tmp_path, files)
    found = find_build(tmp_path, ["."], uv=False)
    assert found.commands == PIP
    assert reason in found.reason


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": SYSTEM.format("hatchling")},
        {"pyproject.toml": "[[["},
        {"setup.py": "setup(install_requires=[])"},
        {"pyproject.toml": "[tool.poetry.dependencies]\npython = '*'\n"},
        {"setup.cfg": "[[["},
    ],
)
def test_what_can_be_imported_from_the_tree_gets_none(
    tmp_path: Path, files: dict[str, str]
) -> None:
    write(tmp_path, files)
    assert find_build(tmp_path, ["."], uv=True).commands == ()


def test_several_projects_are_installed_together(tmp_path: Path) -> None:
    write(tmp_path, {"a/pyproject.toml": DEPENDENT, "b/pyproject.toml": SYSTEM.format("hatchling")})
    found = find_build(tmp_path, ["a", "b"], uv=False)
    assert found.commands[-1] == "{env}/bin/pip install ./a ./b"


def test_an_application_that_lists_its_dependencies(tmp_path: Path) -> None:
    write(tmp_path, {"requirements.txt": "anyio\n"})
    assert find_build(tmp_path, ["."], uv=False).commands[-1] == (
        "{env}/bin/pip install -r requirements.txt"
    )


def test_a_lock_of_uv_is_used_if_uv_is_here(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": DEPENDENT, "uv.lock": ""})
    found = find_build(tmp_path, ["."], uv=True)
    assert found.commands == ("uv sync --frozen --no-dev --no-editable",)
    assert found.env == {"UV_PROJECT_ENVIRONMENT": "{env}"}
    assert find_build(tmp_path, ["."], uv=False).commands == PIP
