"""How a project and its suites are built."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchgate.project.packages import is_project
from benchgate.project.requirements import PythonSuite, Wanted
from benchgate.project.tree import (
    ProjectTree,
    read_ini,
    table_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path, PurePosixPath

    from benchgate.project.tree import ProjectTree


_COMPILERS = (
    *("cffi", "cython", "maturin", "meson-python", "mypyc", "nanobind", "pybind11"),
    *("scikit-build", "setuptools-rust"),
)
_WRITES_FILES = re.compile(
    r"version[-_]file|write_to|\bbuild\.hooks\b|\[tool\.poetry\.build\]|\[tool\.pdm\.build\]"
)
_INSTALL_REQUIRES = re.compile(r"install_requires\s*=\s*(?!\[\s*\]|\(\s*\))")
_SHARED_REQUIREMENTS = "requirements.txt"
# Lock files, and the command and the tool that install what they say.
_NODE_INSTALLS = (
    ("package-lock.json", "npm ci", "npm"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm"),
    ("yarn.lock", "yarn install --frozen-lockfile", "yarn"),
)


@dataclass(frozen=True, slots=True)
class BuildSteps:
    """What prepares each side before it is measured.

    Attributes:
        commands: those of `[build]`; none if the tree is enough.
        env: variables of `[build]`.
        reason: why they are needed, a clause such as "the project has dependencies".
        tools: the programs that must be installed, besides Python, also without commands.
        installs: whether they install the project.
    """

    commands: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    tools: tuple[str, ...] = ()
    installs: bool = False


Value = str | bool | tuple[str, ...] | dict[str, str]
"""What a key of the configuration is set to."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that was found.

    Attributes:
        found: what was found and where, without "Found" and the full stop.
        table: the keys of its [[benchmark]].
        comment: what the table measures, one sentence.
        build: what it needs before it can run; see `python` for a suite in Python.
        python: what a suite in Python needs to be installed; None for any other suite.
        to_edit: what only a person can know, one sentence each.
        place: the folder or file that is measured.
    """

    found: str
    table: Mapping[str, Value]
    comment: str
    place: PurePosixPath
    build: BuildSteps = field(default_factory=BuildSteps)
    python: PythonSuite | None = None
    to_edit: tuple[str, ...] = ()


def command_table(command: str, folder: PurePosixPath, **more: Value) -> dict[str, Value]:
    """The keys of a [[benchmark]] whose suite is a command that runs in a folder."""
    table: dict[str, Value] = {"suite": command, **more}
    return table if str(folder) == "." else {**table, "cwd": str(folder)}


def one_or_all(values: Sequence[str]) -> Value:
    """Values of a key that may stand alone."""
    return values[0] if len(values) == 1 else tuple(values)


def run_in(folder: PurePosixPath, command: str) -> str:
    """The command of `[build]` that runs another command in a folder."""
    if str(folder) == ".":
        return command
    return shlex.join(["sh", "-c", f"cd {shlex.quote(str(folder))} && {command}"])


def find_build(
    top: Path, projects: Iterable[str], *, uv: bool, wanted: Wanted | None = None
) -> BuildSteps:
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
        return BuildSteps()
    installable = [] if reason.endswith(_SHARED_REQUIREMENTS) else folders
    wanted = wanted or Wanted()
    if uv:
        return _with_uv(folders, wanted, reason)
    installed = []
    for folder in (one for one in installable if _is_installable(top / one)):
        names = ",".join(name for place, name in wanted.extras if place == folder)
        installed.append(
            ("." if folder == "." else f"./{folder}") + (f"[{names}]" if names else "")
        )
    installs = bool(installed)
    files = [*wanted.files, _SHARED_REQUIREMENTS] if shares and not reasons else wanted.files
    installed += [f"-r {file}" for file in dict.fromkeys(files)]
    for folder, name in wanted.groups:
        place = "" if folder == "." else f"{folder}/pyproject.toml:"
        installed.append(f"--group {place}{name}")
    installed += map(shlex.quote, wanted.words)
    if not installed:
        return BuildSteps()
    commands = ["python3 -m venv {env}"]
    if wanted.groups:
        commands.append("{env}/bin/pip install 'pip>=25.1'")  # the first with --group
    commands.append(f"{{env}}/bin/pip install {' '.join(installed)}")
    return BuildSteps(tuple(commands), {}, reason, installs=installs)


def _with_uv(folders: Sequence[str], wanted: Wanted, reason: str) -> BuildSteps:
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
    return BuildSteps(
        tuple(commands), {"UV_PROJECT_ENVIRONMENT": "{env}"}, reason, ("uv",), installs=True
    )


def joined_builds(builds: Iterable[BuildSteps]) -> BuildSteps:
    """Join what several suites need into one `[build]`."""
    every = list(builds)
    needed = [build for build in every if build.commands]
    return BuildSteps(
        tuple(dict.fromkeys(command for build in needed for command in build.commands)),
        {name: value for build in needed for name, value in build.env.items()},
        "; ".join(dict.fromkeys(build.reason for build in needed)),
        tuple(dict.fromkeys(tool for build in every for tool in build.tools)),
        installs=any(build.installs for build in needed),
    )


def node_build(tree: ProjectTree, folder: PurePosixPath, package: Mapping[str, Any]) -> BuildSteps:
    """What installs the dependencies of a Node package and runs its build script.

    Args:
        folder: of the package, or of the workspace that it belongs to.
        package: what its package.json says.
    """
    commands, tool = [], "npm"
    if package.get("dependencies") or package.get("devDependencies"):
        install, tool = next(
            (one for lock, *one in _NODE_INSTALLS if tree.has(folder / lock)),
            ("npm install --no-package-lock", "npm"),
        )
        commands.append(install)
    if "build" in table_at(package, "scripts"):
        commands.append(f"{tool} run build")
    reason = "the project has dependencies or a build script"
    return BuildSteps(tuple(commands), {}, reason, (tool,)) if commands else BuildSteps()


def read_toml(file: Path) -> Mapping[str, Any]:
    """Read a TOML file; empty if it is missing or broken."""
    try:
        return tomllib.loads(read_text(file))
    except (ValueError, RecursionError):
        return {}


def read_text(file: Path) -> str:
    """Read a file as far as it is text; "" if it is missing, no regular file, or unreadable."""
    try:
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""


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
    tool = document.get("tool", {})
    return (
        any(name in requires for name in _COMPILERS)
        or any((folder / name).exists() for name in ("Cargo.toml", "meson.build"))
        or "ext-modules" in str(tool.get("setuptools", ""))
        or "mypyc" in str(tool.get("hatch", ""))
        or re.search("ext_modules|cffi_modules|rust_extensions", read_text(folder / "setup.py"))
        is not None
    )


def _has_dependencies(folder: Path, document: Mapping[str, Any]) -> bool:
    project = document.get("project", {})
    poetry = document.get("tool", {}).get("poetry", {}).get("dependencies", {})
    options = read_ini(read_text(folder / "setup.cfg")).get("options", {})
    return bool(
        project.get("dependencies")
        or "dependencies" in project.get("dynamic", ())
        or set(poetry) - {"python"}
        or options.get("install_requires", "").strip()
        or _INSTALL_REQUIRES.search(read_text(folder / "setup.py"))
    )


def _is_installable(folder: Path) -> bool:
    """Whether pip can install the project: an application may only list its dependencies."""
    document = read_toml(folder / "pyproject.toml")
    if document.get("tool", {}).get("poetry", {}).get("package-mode") is False:
        return False
    old = any((folder / name).is_file() for name in ("setup.py", "setup.cfg"))
    return old or "build-system" in document


COMPILED = "the benchmarks are compiled"
MOST_PROGRAMS = 8
