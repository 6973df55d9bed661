"""Finds out what must be installed before a Python project can be imported, and how."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchgate.project.packages import is_project
from benchgate.project.requirements import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_COMPILERS = (
    *("cffi", "cython", "maturin", "meson-python", "mypyc", "nanobind", "pybind11"),
    *("scikit-build", "setuptools-rust"),
)
_WRITES_FILES = re.compile(
    r"version[-_]file|write_to|\bbuild\.hooks\b|\[tool\.poetry\.build\]|\[tool\.pdm\.build\]"
)
_INSTALL_REQUIRES = re.compile(r"install_requires\s*=\s*(?!\[\s*\]|\(\s*\))")
_SHARED_REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True, slots=True)
class Build:
    """What prepares each side before it is measured.

    Attributes:
        commands: those of `[build]`; none if the tree is enough.
        env: variables of `[build]`.
        reason: why they are needed, a clause such as "the project has dependencies".
        tools: the programs that must be installed for them, besides Python.
        installs: whether they install the project.
    """

    commands: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    tools: tuple[str, ...] = ()
    installs: bool = False


def find_build(
    top: Path, projects: Iterable[str], *, uv: bool, wanted: Wanted | None = None
) -> Build:
    """Choose the commands that install the projects into an environment for each side.

    Args:
        top: the folder of the configuration.
        projects: folders of the projects that the packages belong to, relative to it.
        uv: whether to use uv: it can be called, and its lock is there.
        wanted: what the suites need; None if no suite was found.
    """
    folders = [folder for folder in projects if is_project(top / folder)]
    reasons = [reason for folder in folders if (reason := _need(top / folder))]
    shares = (top / _SHARED_REQUIREMENTS).is_file()
    reason = next(iter(reasons), f"the project has a {_SHARED_REQUIREMENTS}" if shares else "")
    if wanted is not None:
        reason = "the suites need their tools and what they import"
    elif not reason:
        return Build()
    installable = [] if reason.endswith(_SHARED_REQUIREMENTS) else folders
    wanted = wanted or Wanted()
    if uv:
        return _with_uv(folders, wanted, reason)
    installed = [
        f"{'.' if folder == '.' else f'./{folder}'}{_extras(wanted, folder)}"
        for folder in installable
        if _is_installable(top / folder)
    ]
    installs = bool(installed)
    files = dict.fromkeys(wanted.files)
    if shares and not reasons:
        files[_SHARED_REQUIREMENTS] = None
    installed += [f"-r {file}" for file in files]
    installed += [f"--group {_group(folder, name)}" for folder, name in wanted.groups]
    installed += map(shlex.quote, wanted.words)
    if not installed:
        return Build()
    commands = ["python3 -m venv {env}"]
    if wanted.groups:
        commands.append("{env}/bin/pip install 'pip>=25.1'")  # the first with --group
    commands.append(f"{{env}}/bin/pip install {' '.join(installed)}")
    return Build(tuple(commands), {}, reason, installs=installs)


def joined_builds(builds: Iterable[Build]) -> Build:
    """Join what several suites need into one `[build]`."""
    needed = [build for build in builds if build.commands]
    reasons = dict.fromkeys(build.reason for build in needed)
    return Build(
        tuple(dict.fromkeys(command for build in needed for command in build.commands)),
        {name: value for build in needed for name, value in build.env.items()},
        "; ".join(reasons),
        tuple(dict.fromkeys(tool for build in needed for tool in build.tools)),
        installs=any(build.installs for build in needed),
    )


def _with_uv(folders: Sequence[str], wanted: Wanted, reason: str) -> Build:
    groups = [name for _, name in wanted.groups]
    command = ["uv sync --frozen"]
    command += [] if "dev" in groups else ["--no-dev"]
    command += ["--no-editable"] + (["--all-packages"] if folders != ["."] else [])
    command += [f"--extra {name}" for _, name in wanted.extras]
    command += [f"--group {name}" for name in groups if name != "dev"]
    commands = [" ".join(command)]
    further = [f"-r {file}" for file in wanted.files] + list(map(shlex.quote, wanted.words))
    if further:
        commands.append(f"uv pip install --python {{env}} {' '.join(further)}")
    return Build(
        tuple(commands), {"UV_PROJECT_ENVIRONMENT": "{env}"}, reason, ("uv",), installs=True
    )


def _extras(wanted: Wanted, folder: str) -> str:
    names = [name for place, name in wanted.extras if place == folder]
    return f"[{','.join(names)}]" if names else ""


def _group(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/pyproject.toml:{name}"


def read_toml(file: Path) -> Mapping[str, Any]:
    """Read a TOML file; empty if it is missing or broken."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _need(folder: Path) -> str:
    """Why a project must be installed before it is imported; "" if its tree is enough."""
    document = read_toml(folder / "pyproject.toml")
    if _is_compiled(folder, document):
        return "the project has compiled parts"
    if _WRITES_FILES.search(read_text(folder / "pyproject.toml")):
        return "building the project writes files that it needs"
    return "the project has dependencies" if _has_dependencies(folder, document) else ""


def _is_compiled(folder: Path, document: Mapping[str, Any]) -> bool:
    requires = str(document.get("build-system", {})).lower()
    return (
        any(name in requires for name in _COMPILERS)
        or any((folder / name).exists() for name in ("Cargo.toml", "meson.build"))
        or "ext-modules" in str(document.get("tool", {}).get("setuptools", ""))
        or "mypyc" in str(document.get("tool", {}).get("hatch", ""))
        or re.search("ext_modules|cffi_modules|rust_extensions", read_text(folder / "setup.py"))
        is not None
    )


def _has_dependencies(folder: Path, document: Mapping[str, Any]) -> bool:
    project = document.get("project", {})
    poetry = document.get("tool", {}).get("poetry", {}).get("dependencies", {})
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(folder / "setup.cfg"))
    except configparser.Error:
        return False
    return bool(
        project.get("dependencies")
        or "dependencies" in project.get("dynamic", ())
        or set(poetry) - {"python"}
        or parser.get("options", "install_requires", fallback="").strip()
        or _INSTALL_REQUIRES.search(read_text(folder / "setup.py"))
    )


def _is_installable(folder: Path) -> bool:
    """Whether pip can install the project: an application may only list its dependencies."""
    document = read_toml(folder / "pyproject.toml")
    poetry = document.get("tool", {}).get("poetry", {})
    if poetry.get("package-mode") is False:
        return False
    old = any((folder / name).is_file() for name in ("setup.py", "setup.cfg"))
    return old or "build-system" in document


def read_text(file: Path) -> str:
    """Read a file as far as it is text; "" if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
