"""Proposes the first configuration and benchmark of a project."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config.load import OWN_FILE
from benchgate.errors import UsageError
from benchgate.project.configuration_text import comment, configuration, suite_table, table
from benchgate.project.find_suites import find_benchmarks
from benchgate.project.needs import Build, find_build, joined_builds
from benchgate.project.packages import find_packages
from benchgate.project.programs import find_program
from benchgate.project.requirements import choose_requirements
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchgate.project.find_suites import FoundBenchmarks
    from benchgate.project.packages import Package
    from benchgate.project.programs import Program
    from benchgate.project.suites import Value

_NEW_FOLDERS = ("benchmarks", "perf", "gate_benchmarks")
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
        has_suites: whether suites of other tools are measured.
        to_edit: what only a person can know, one sentence each.
    """

    files: dict[str, str]
    found: tuple[str, ...]
    replace: str = ""
    build: Build = field(default_factory=Build)
    has_functions: bool = False
    has_suites: bool = False
    to_edit: tuple[str, ...] = ()


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
    found = find_benchmarks(top, is_ignored)
    packages = find_packages(top)
    uv = can_call("uv") and _has_above(top, root, "uv.lock")
    if found.suites:
        proposal = _for_suites(found, packages, uv=uv)
    elif packages or found.own:
        proposal = _for_python(found, packages, is_ignored, uv=uv)
    elif program := find_program(top):
        proposal = _for_program(program)
    else:
        raise UsageError(
            f"{top} holds no project that benchgate knows, and no file bench_*.py",
            hint="benchgate can measure any program: write a benchgate.toml with\n"
            '  [[benchmark]]\n  name = "mine"\n  command = "./my-program --option"',
            details="\n".join(found.sentences),
        )
    sentences = [*proposal.found, *found.sentences]
    sentences += [f"To do: {each}" for each in proposal.to_edit]
    sentences += [
        f"{tool}, which [build] needs, is not installed here."
        for tool in proposal.build.tools
        if not can_call(tool)
    ]
    return replace(proposal, found=tuple(sentences))


def _for_suites(found: FoundBenchmarks, packages: Sequence[Package], *, uv: bool) -> Proposal:
    """Measure the suites that the project has, and its own functions bench_* if it has any."""
    in_python = [suite.python for suite in found.suites if suite.python]
    builds = [suite.build for suite in found.suites]
    to_edit = [sentence for suite in found.suites for sentence in suite.to_edit]
    pythonpath: tuple[str, ...] = ()
    notes = []
    if in_python or found.own:
        projects = dict.fromkeys([package.project for package in packages])
        projects |= dict.fromkeys(str(suite.project) for suite in in_python)
        wanted = None
        if in_python:
            folders = [PurePosixPath(project) for project in projects]
            wanted = choose_requirements(found.tree, folders, in_python)
        build = find_build(found.tree.top, projects, uv=uv, wanted=wanted)
        builds.insert(0, build)
        pythonpath = () if build.installs else _search_path(packages)
        notes = [_on_unknown(wanted.unknown)] if wanted and wanted.unknown else []
    tables = [
        suite_table(replace(suite, table={**suite.table, **_with_path(pythonpath)}))
        if suite.python
        else suite_table(suite)
        for suite in found.suites
    ]
    if found.own:
        tables.append(_functions(found.own, pythonpath))
    build = joined_builds(builds)
    return Proposal(
        {OWN_FILE: configuration(build, tables, notes)},
        (_name_packages(packages),) if packages and in_python else (),
        build=build,
        has_functions=bool(in_python or found.own),
        has_suites=True,
        to_edit=tuple(dict.fromkeys([*notes, *to_edit])),
    )


def _on_unknown(modules: Sequence[str]) -> str:
    """Say which modules may be missing in the environment of the suites."""
    named = ", ".join(modules)
    return (
        f"The suites import {named}, but the project does not say what provides "
        f"{'it' if len(modules) == 1 else 'them'}. If they cannot do without, add it to [build]."
    )


def _for_python(
    found: FoundBenchmarks,
    packages: Sequence[Package],
    is_ignored: Callable[[Path], bool],
    *,
    uv: bool,
) -> Proposal:
    top = found.tree.top
    projects = dict.fromkeys(package.project for package in packages) or {".": None}
    build = find_build(top, projects, uv=uv)
    pythonpath = () if build.commands else _search_path(packages)
    folders, starter, to_replace = found.own, {}, ""
    if not folders and packages:
        folder = _new_folder(top, found, is_ignored)
        package = packages[0]
        to_replace = f"{folder}/bench_{package.name.replace('.', '_')}.py"
        folders, starter = (folder,), {to_replace: _STARTER.format(package=package.name)}
    tables = [_functions(folders, pythonpath)]
    if packages:
        tables.append(_example(top, packages[0], build, pythonpath))
    return Proposal(
        {OWN_FILE: configuration(build, tables), **starter},
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
    lines = _command(name, command, pythonpath).splitlines()
    intro = comment("A program can be measured too. Each execution is a process of its own:")
    return "\n".join([intro, *(f"# {line}" for line in lines), ""])


def _for_program(program: Program) -> Proposal:
    intro = "Replace the arguments by work that must not get slower."
    if not program.name:
        intro = "Replace the command by your program, with work that must not get slower."
    measured = _command(f"cli/{program.name or 'my-program'}", program.command)
    named = f", with the program {program.name}" if program.name else ""
    return Proposal(
        {OWN_FILE: configuration(program.build, [f"{comment(intro)}\n{measured}"])},
        (f"Found a {program.language} project{named}.",),
        OWN_FILE,
        program.build,
    )


def _has_above(top: Path, root: Path, name: str) -> bool:
    """Whether a folder, or one above it up to the root, holds a file."""
    folders = (one for one in (top, *top.parents) if one.is_relative_to(root))
    return any((one / name).is_file() for one in folders)


def _new_folder(top: Path, found: FoundBenchmarks, is_ignored: Callable[[Path], bool]) -> str:
    """A folder for benchmarks in which no other tool looks, and which git does not ignore."""
    taken = {PurePosixPath(place) for places in found.unclear.values() for place in places}
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


def _command(name: str, command: str, pythonpath: Sequence[str] = ()) -> str:
    return table({"name": name, "command": command, **_with_path(pythonpath)})


def _functions(folders: Sequence[str], pythonpath: Sequence[str]) -> str:
    value: Value = folders[0] if len(folders) == 1 else tuple(folders)
    intro = comment("The functions bench_* in the files bench_*.py.")
    return f"{intro}\n{table({'python': value, **_with_path(pythonpath)})}"


def _with_path(folders: Sequence[str]) -> dict[str, Value]:
    return {"pythonpath": tuple(folders)} if folders else {}
