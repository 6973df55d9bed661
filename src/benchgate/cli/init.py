"""`benchgate init`: writes a first configuration that fits the project."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.cli.workflows import (
    DEFAULT_ACTION,
    FOLDER,
    existing_workflow,
    is_for_github,
    workflow_texts,
)
from benchgate.cli.world import repository_or_none
from benchgate.config.load import OWN_FILE
from benchgate.errors import UsageError
from benchgate.measure.benchfiles import find_folders
from benchgate.measure.engine import Arm, ArmName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.git.repository import Git


_NEW_FOLDER = "benchmarks"
_COMPILED = (
    *("cffi", "cython", "maturin", "meson-python", "mypyc", "nanobind", "pybind11"),
    *("scikit-build", "setuptools-rust"),
)

_CONFIGURATION = """\
# How benchgate measures and judges this project. Every key has a default;
# `benchgate schema config` describes all keys.

{build}[[benchmark]]
python = {folders}

# benchgate can measure any program; each execution is a separate process:
# [[benchmark]]
# name = "cli/startup"
# command = "{command}"

# [gate]
# margin = "2%"      # the smallest change that matters
"""

_BUILD = """\
# The project has compiled parts, so each side gets its own environment. benchgate measures what is
# installed there.
[build]
command = ["python3 -m venv {env}", "{env}/bin/pip install ."]

"""

_STARTER = '''\
"""Benchmarks of {package}: every function named bench_* is one."""

import {package}


def bench_replace_me():
    """Call the code that must not get slower; the return value is ignored."""
    repr({package})
'''


def propose_all(
    root: Path, git: Git | None, *, workflows: bool | None, action: str
) -> dict[str, str]:
    """Propose the configuration and, for a repository on GitHub, the workflows; texts by path.

    Files that exist already are left out, unless nothing is missing: that is an error.

    Args:
        workflows: whether to write them; None to write them if the repository is on GitHub.

    Raises:
        UsageError: nothing is missing, or there is nothing to measure.
    """
    missing = _missing_workflows(root, git, wanted=workflows, action=action)
    if missing and _configured_in(root):
        return missing
    return propose(root) | missing


def _missing_workflows(
    root: Path, git: Git | None, *, wanted: bool | None, action: str
) -> dict[str, str]:
    if wanted is False or (wanted is None and (git is None or not is_for_github(git))):
        return {}
    if git is None:
        raise UsageError(
            f"{root} is not in a git repository, so workflows cannot be written",
            hint="Run `git init`, or leave out --workflows.",
        )
    present = existing_workflow(root)
    if present is None:
        return workflow_texts(git, action)
    if wanted is None:
        return {}
    raise UsageError(f"{present} already uses benchgate", hint="Edit it, or remove it first.")


def propose(root: Path) -> dict[str, str]:
    """Propose the files that make a first `benchgate check` work.

    Raises:
        UsageError: there is a configuration already, or no Python package to measure.
    """
    project = _read_project(root)
    if present := _configured_in(root):
        raise UsageError(f"{present} already", hint="Edit it; `benchgate validate` checks it.")
    package = next(_packages(root), None)
    folders = find_folders([Arm(ArmName.HEAD, root, root / ".benchgate-env")])
    if package is None and not folders:
        raise UsageError(
            f"{root} holds neither a Python package nor a file bench_*.py",
            hint="benchgate can measure any program: write a benchgate.toml with\n"
            '  [[benchmark]]\n  name = "mine"\n  command = "./my-program --option"',
        )
    starter = {}
    if not folders and package is not None:
        folders = (_NEW_FOLDER,)
        starter = {f"{_NEW_FOLDER}/bench_{package}.py": _STARTER.format(package=package)}
    quoted = [f'"{folder}"' for folder in folders]
    compiled = _has_compiled_parts(root, project)
    text = _CONFIGURATION.format(
        build=_BUILD if compiled else "",
        folders=quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]",
        command=_command(root, package, compiled=compiled),
    )
    return {OWN_FILE: text, **starter}


def write(root: Path, files: dict[str, str]) -> None:
    """Write proposed files; an existing file is never overwritten.

    Raises:
        UsageError: a file exists, or cannot be written.
    """
    for name, text in files.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _configured_in(root: Path) -> str | None:
    """The file in which the project is configured already; None if there is none."""
    if (root / OWN_FILE).exists():
        return f"{root / OWN_FILE} exists"
    if "benchgate" in _read_project(root).get("tool", {}):
        return f"{root / 'pyproject.toml'} has a [tool.benchgate] table"
    return None


def _read_project(root: Path) -> dict[str, dict[str, object]]:
    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _packages(root: Path) -> Iterator[str]:
    """The names of the importable packages, those in src first."""
    for folder in (root / "src", root):
        for init in sorted(folder.glob("*/__init__.py")):
            if init.parent.name.isidentifier() and init.parent.name not in {"tests", "docs"}:
                yield init.parent.name


def _command(root: Path, package: str | None, *, compiled: bool) -> str:
    """A command that starts the package, in whichever way it can be started."""
    if package is None:
        return "./my-program --version"
    # -I: import what is installed, not what lies in the current folder.
    python = "{env}/bin/python -I" if compiled else "python3"
    is_program = any((root / folder / package / "__main__.py").exists() for folder in ("src", "."))
    return f"{python} -m {package} --version" if is_program else f"{python} -c 'import {package}'"


def _has_compiled_parts(root: Path, project: dict[str, dict[str, object]]) -> bool:
    requires = str(project.get("build-system", {}).get("requires", "")).lower()
    return (
        any(name in requires for name in _COMPILED)
        or any((root / name).exists() for name in ("Cargo.toml", "meson.build"))
        or "ext-modules" in str(project.get("tool", {}).get("setuptools", ""))
        or "ext_modules" in _text_of(root / "setup.py")
    )


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@click.command("init")
@click.option(
    "--workflows/--no-workflows",
    default=None,
    help="Whether to write GitHub workflows; by default only if the repository is on GitHub.",
)
@click.option(
    "--action",
    metavar="OWNER/NAME@REF",
    default=DEFAULT_ACTION,
    show_default=True,
    help="The action that the workflows use; a commit after the @ pins it.",
)
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def command(workflows: bool | None, action: str, dry_run: bool) -> None:
    """Write a benchgate.toml for this repository, and GitHub workflows.

    The file names the folders that hold bench_*.py files. If there are none, benchgate also
    writes a first benchmark file. One workflow measures pull requests and the default branch,
    another one comments on pull requests. No existing file is changed.

    \b
    Examples:
      benchgate init
      benchgate init --workflows
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    root = git.root if git else cwd
    files = propose_all(root, git, workflows=workflows, action=action)
    if dry_run:
        for name, text in files.items():
            click.echo(f"# {name}\n{text}")
        return
    write(root, files)
    for name in files:
        click.echo(f"wrote {name}")
    if any(name.startswith(FOLDER) for name in files) and action == DEFAULT_ACTION:
        click.echo(
            f"The workflows use {action}; to pin a commit of it, use --action OWNER/NAME@COMMIT"
        )
    click.echo("Next: `benchgate list`, commit, then `benchgate check` after a change.")
