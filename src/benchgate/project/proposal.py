"""Proposes the first configuration and benchmark of a project."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config.load import OWN_FILE
from benchgate.errors import UsageError
from benchgate.project.needs import Build, find_build
from benchgate.project.other_tools import find_benchmark_files
from benchgate.project.packages import find_packages
from benchgate.project.programs import find_program
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchgate.project.other_tools import BenchmarkFiles
    from benchgate.project.packages import Package
    from benchgate.project.programs import Program

_NEW_FOLDERS = ("benchmarks", "perf", "gate_benchmarks")
_WIDTH = 98
_PACKAGES_NAMED = 6

_STARTER = '''\
"""Benchmarks of {package}: benchgate measures every function whose name starts with bench_."""

import {package}


def bench_replace_me():
    """Call the code that must not get slower. The return value is ignored."""
    repr({package})
'''


@dataclass(frozen=True, slots=True)
class Proposal:
    """Files to write, and what a person should know about them.

    Attributes:
        files: their texts, by path relative to the folder.
        found: what the project's files told, one sentence each.
        replace: where a person has to write what is to be measured; "" for nowhere.
        build: what `[build]` runs.
        has_functions: whether Python functions are measured.
    """

    files: dict[str, str]
    found: tuple[str, ...]
    replace: str = ""
    build: Build = field(default_factory=Build)
    has_functions: bool = False


def propose(
    top: Path,
    root: Path,
    *,
    is_ignored: Callable[[Path], bool],
    can_call: Callable[[str], bool],
) -> Proposal:
    """Propose the files that make a first `benchgate check` work.

    Args:
        top: the folder of the new configuration.
        root: of the repository, or the same folder if there is none.
        is_ignored: whether git ignores a path, so that its files are not measured.
        can_call: whether a program is installed here.

    Raises:
        UsageError: nothing to measure was found.
    """
    files = find_benchmark_files(top)
    packages = find_packages(top)
    others = tuple(_name_others(files))
    if packages or files.own:
        proposal = _for_python(
            top, packages, files, is_ignored, uv=can_call("uv") and _has_above(top, root, "uv.lock")
        )
    elif program := find_program(top):
        proposal = _for_program(program)
    else:
        raise UsageError(
            f"{top} holds no project that benchgate knows, and no file bench_*.py",
            hint="benchgate can measure any program: write a benchgate.toml with\n"
            '  [[benchmark]]\n  name = "mine"\n  command = "./my-program --option"',
            details="\n".join(others),
        )
    found = [*proposal.found, *others]
    if proposal.build.tool and not can_call(proposal.build.tool):
        found.append(f"{proposal.build.tool}, which [build] needs, is not installed here.")
    return replace(proposal, found=tuple(found))


def _for_python(
    top: Path,
    packages: Sequence[Package],
    files: BenchmarkFiles,
    is_ignored: Callable[[Path], bool],
    *,
    uv: bool,
) -> Proposal:
    projects = dict.fromkeys(package.project for package in packages) or {".": None}
    build = find_build(top, projects, uv=uv)
    pythonpath = () if build.commands else _search_path(packages)
    folders, starter, to_replace = files.own, {}, ""
    if not folders and packages:
        folder = _new_folder(top, files, is_ignored)
        package = packages[0]
        to_replace = f"{folder}/bench_{package.name.replace('.', '_')}.py"
        folders, starter = (folder,), {to_replace: _STARTER.format(package=package.name)}
    tables = [_functions(folders, pythonpath)]
    if packages:
        tables.append(_example(top, packages[0], build, pythonpath))
    text = _configuration(build, tables)
    return Proposal(
        {OWN_FILE: text, **starter},
        (_name_packages(packages),) if packages else (),
        to_replace,
        build,
        has_functions=True,
    )


def _example(top: Path, package: Package, build: Build, pythonpath: Sequence[str]) -> str:
    """A command that measures the package from outside, as an example that is commented out."""
    # -I: import what is installed, not what lies in the current folder.
    python = "{env}/bin/python -I" if build.commands else "python3"
    name, command = f"import/{package.name}", f"{python} -c 'import {package.name}'"
    if (top / package.folder / package.name.replace(".", "/") / "__main__.py").is_file():
        name, command = f"cli/{package.name}", f"{python} -m {package.name} --version"
    table = _command(name, command, pythonpath)
    intro = _comment("A program can be measured too. Each execution is a process of its own:")
    return "\n".join([intro, *(f"# {line}" for line in table.splitlines()), ""])


def _for_program(program: Program) -> Proposal:
    comment = "Replace the arguments by work that must not get slower."
    if not program.name:
        comment = "Replace the command by your program, with work that must not get slower."
    table = _command(f"cli/{program.name or 'my-program'}", program.command)
    named = f", with the program {program.name}" if program.name else ""
    return Proposal(
        {OWN_FILE: _configuration(program.build, [f"{_comment(comment)}\n{table}"])},
        (f"Found a {program.language} project{named}.",),
        OWN_FILE,
        program.build,
    )


def _has_above(top: Path, root: Path, name: str) -> bool:
    """Whether a folder, or one above it up to the root, holds a file."""
    folders = (one for one in (top, *top.parents) if one.is_relative_to(root))
    return any((one / name).is_file() for one in folders)


def _new_folder(top: Path, files: BenchmarkFiles, is_ignored: Callable[[Path], bool]) -> str:
    """A folder for benchmarks in which no other tool looks, and which git does not ignore."""
    taken = {PurePosixPath(place) for places in files.others.values() for place in places}
    free = (
        name
        for name in _NEW_FOLDERS
        if not is_ignored(top / name / "bench_x.py")
        and not any(PurePosixPath(name) in (place, *place.parents) for place in taken)
    )
    return next(free, _NEW_FOLDERS[-1])


def _search_path(packages: Sequence[Package]) -> tuple[str, ...]:
    """The folders to import from; none if the default finds all packages."""
    if all(package.is_found_by_default for package in packages):
        return ()
    return tuple(dict.fromkeys(package.folder for package in packages if package.folder))


def _name_packages(packages: Sequence[Package]) -> str:
    named = [
        f"{package.name} (in {package.folder})" if package.folder not in {"", "."} else package.name
        for package in packages[:_PACKAGES_NAMED]
    ]
    if len(packages) == 1:
        return f"Found the Python package {named[0]}."
    more = len(packages) - len(named)
    rest = f" and {more} more" if more else ""
    return f"Found {counted(len(packages), 'Python package')}: {', '.join(named)}{rest}."


def _name_others(files: BenchmarkFiles) -> list[str]:
    return [
        f"The benchmarks in {', '.join(places)} are for {tool}. benchgate does not run them."
        for tool, places in files.others.items()
    ]


def _configuration(build: Build, tables: Sequence[str]) -> str:
    first = "# What benchgate measures. `benchgate schema config` describes all keys.\n"
    return "\n".join([first, *_build(build), *tables])


def _build(build: Build) -> list[str]:
    if not build.commands:
        return []
    reason = f"{build.reason[:1].upper()}{build.reason[1:]}, so each side is built."
    if any("{env}/bin/" in command or "uv " in command for command in build.commands):
        reason = (
            f"{build.reason[:1].upper()}{build.reason[1:]}, so each side is installed into an "
            "environment of its own, {env}. benchgate measures what is installed there."
        )
    quoted = [json.dumps(command) for command in build.commands]
    value = quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"
    lines = [_comment(reason), "[build]", f"command = {value}"]
    if build.env:
        variables = ", ".join(f"{name} = {json.dumps(text)}" for name, text in build.env.items())
        lines.append(f"env = {{ {variables} }}")
    return ["\n".join(lines) + "\n"]


def _command(name: str, command: str, pythonpath: Sequence[str] = ()) -> str:
    table = f"[[benchmark]]\nname = {json.dumps(name)}\n"
    return f"{table}command = {json.dumps(command)}\n{_pythonpath(pythonpath)}"


def _functions(folders: Sequence[str], pythonpath: Sequence[str]) -> str:
    value = json.dumps(folders[0]) if len(folders) == 1 else json.dumps(list(folders))
    comment = _comment("The functions bench_* in the files bench_*.py.")
    return f"{comment}\n[[benchmark]]\npython = {value}\n{_pythonpath(pythonpath)}"


def _pythonpath(folders: Sequence[str]) -> str:
    return f"pythonpath = {json.dumps(list(folders))}\n" if folders else ""


def _comment(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")
