"""Proposes the first configuration and benchmark of a project."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config.load import OWN_FILE
from benchgate.errors import UsageError
from benchgate.project.build_steps import (
    BuildSteps,
    find_build,
    joined_builds,
    read_toml,
)
from benchgate.project.config_text import comment, configuration_text, value_text
from benchgate.project.packages import find_packages, is_project
from benchgate.project.requirements import choose_requirements
from benchgate.project.starters import Program, find_program
from benchgate.project.suites import find_benchmarks
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchgate.project.build_steps import Value
    from benchgate.project.packages import Package
    from benchgate.project.suites import FoundBenchmarks
    from benchgate.project.tree import ProjectTree


def _table(keys: Mapping[str, Value], *comments: str) -> str:
    """A [[benchmark]] with its keys, below comments."""
    lines = [f"{key} = {value_text(value)}" for key, value in keys.items()]
    return "\n".join([*map(comment, comments), "[[benchmark]]", *lines, ""])


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
    build: BuildSteps = field(default_factory=BuildSteps)
    has_functions: bool = False
    has_suites: bool = False
    to_edit: tuple[str, ...] = ()


def propose(
    top: Path, root: Path, *, is_ignored: Callable[[Path], bool], can_call: Callable[[str], bool]
) -> Proposal:
    """Propose the files that make a first `benchgate check` work.

    Args:
        top: the folder of the new configuration.
        root: of the repository, or the same folder if there is none.
        is_ignored: whether git ignores a path, so that its files are not measured.
        can_call: whether a program is installed here.
    """
    found = find_benchmarks(top, is_ignored)
    packages = find_packages(top)
    above = (one for one in (top, *top.parents) if one.is_relative_to(root))
    locks = [one / "uv.lock" for one in above]
    uv = can_call("uv") and any(one.is_file() and not is_ignored(one) for one in locks)
    if found.suites:
        proposal = _for_suites(found, packages, uv=uv)
    elif packages or found.own:
        proposal = _for_python(found, packages, is_ignored, uv=uv)
    elif program := find_program(found.tree):
        if scripts := _named_like_benchmarks(found.tree):
            raise UsageError(
                f"benchgate does not know what runs {_in_words(scripts)}",
                hint="If they use a tool that benchgate reads, write a benchgate.toml with\n"
                '  [[benchmark]]\n  suite = "the command that runs them"\n'
                "To measure a run of one as a whole, write\n"
                '  [[benchmark]]\n  name = "mine"\n  command = "the command that runs it"',
                details="\n".join(found.sentences),
            )
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
        f"{tool} is needed, but not installed here."
        for tool in proposal.build.tools
        if not can_call(tool)
    ]
    return replace(proposal, found=tuple(sentences))


_LIKE_BENCHMARKS = re.compile(r"(?:^|[/_.-])bench(?:es|marks?)?(?=$|[/_.-])", re.IGNORECASE)
_CODE = frozenset(
    {
        *(".c", ".cc", ".cpp", ".cxx", ".go", ".js", ".cjs", ".mjs", ".ts", ".mts", ".rs"),
        *(".sh", ".rb", ".lua", ".java", ".zig"),
    }
)
_SCRIPTS_NAMED = 3


def _named_like_benchmarks(tree: ProjectTree) -> list[PurePosixPath]:
    """Code that is named as benchmarks are: a program of the project is no replacement for it."""
    return [
        path
        for path in tree.files
        if path.suffix in _CODE and _LIKE_BENCHMARKS.search(str(path)) and tree.has(path)
    ]


def _in_words(paths: Sequence[PurePosixPath]) -> str:
    named = ", ".join(map(str, paths[:_SCRIPTS_NAMED]))
    rest = len(paths) - _SCRIPTS_NAMED
    return f"{named} and {counted(rest, 'more file')}" if rest > 0 else named


def _for_suites(found: FoundBenchmarks, packages: Sequence[Package], *, uv: bool) -> Proposal:
    """Measure the suites that the project has, and its own functions bench_* if it has any."""
    in_python = [suite.python for suite in found.suites if suite.python]
    builds = [suite.build for suite in found.suites]
    path: dict[str, Value] = {}
    notes = []
    if in_python or found.own:
        projects = dict.fromkeys([package.project for package in packages])
        projects |= dict.fromkeys(str(suite.project) for suite in in_python)
        wanted = None
        if in_python:
            folders = [PurePosixPath(project) for project in projects]
            wanted = choose_requirements(found.tree, folders, in_python)
            notes = [_on_unknown(wanted.unknown)] if wanted.unknown else []
        build = find_build(found.tree.top, projects, uv=uv, wanted=wanted)
        builds.insert(0, build)
        path = {} if build.installs else _search_path(packages)
    tables = []
    for suite in found.suites:
        keys = {**suite.table, **(path if suite.python else {})}
        tables.append(_table(keys, suite.comment, *(f"To do: {each}" for each in suite.to_edit)))
    if found.own:
        tables.append(_functions(found.own, path))
    build = joined_builds(builds)
    to_edit = [sentence for suite in found.suites for sentence in suite.to_edit]
    return Proposal(
        {OWN_FILE: configuration_text(build, tables, notes)},
        (_name_packages(packages),) if packages and in_python else (),
        build=build,
        has_functions=bool(in_python or found.own),
        has_suites=True,
        to_edit=tuple(dict.fromkeys([*notes, *to_edit])),
    )


def _on_unknown(modules: Sequence[str]) -> str:
    """Say which modules may be missing in the environment of the suites."""
    return (
        f"The suites import {', '.join(modules)}, but the project does not say what provides "
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
    path = {} if build.commands else _search_path(packages)
    folders, starter, to_replace = found.own, {}, ""
    if not folders and packages:
        folder = _new_folder(top, found, is_ignored)
        package = packages[0]
        to_replace = f"{folder}/bench_{package.name.replace('.', '_')}.py"
        folders, starter = (folder,), {to_replace: _STARTER.format(package=package.name)}
    tables = [_functions(folders, path)]
    if packages:
        tables.append(_example(top, packages[0], build, path))
    return Proposal(
        {OWN_FILE: configuration_text(build, tables), **starter},
        (_name_packages(packages),) if packages else (),
        to_replace,
        build,
        has_functions=True,
    )


def _example(top: Path, package: Package, build: BuildSteps, path: Mapping[str, Value]) -> str:
    """A command that measures the package from outside, as an example that is commented out."""
    # -I: import what is installed, not what lies in the current folder.
    python = "{env}/bin/python -I" if build.commands else "python3"
    name, command = f"import/{package.name}", f"{python} -c 'import {package.name}'"
    if (top / package.folder / package.name.replace(".", "/") / "__main__.py").is_file():
        name, command = f"cli/{package.name}", f"{python} -m {package.name} --version"
    lines = _table({"name": name, "command": command, **path}).splitlines()
    intro = comment("A program can be measured too. Each execution is a process of its own:")
    return "\n".join([intro, *(f"# {line}" for line in lines), ""])


def _for_program(program: Program) -> Proposal:
    intro = "Replace the arguments by work that must not get slower."
    if not program.name:
        intro = "Replace the command by your program, with work that must not get slower."
    name = f"cli/{program.name or 'my-program'}"
    measured = _table({"name": name, "command": program.command}, intro)
    named = f", with the program {program.name}" if program.name else ""
    return Proposal(
        {OWN_FILE: configuration_text(program.build, [measured])},
        (f"Found a {program.language} project{named}.",),
        OWN_FILE,
        program.build,
    )


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


def _search_path(packages: Sequence[Package]) -> dict[str, Value]:
    """The key with the folders to import from; none if the default finds all packages."""
    if all(package.is_found_by_default for package in packages):
        return {}
    folders = tuple(dict.fromkeys(package.folder for package in packages if package.folder))
    return {"pythonpath": folders} if folders else {}


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


def _functions(folders: Sequence[str], path: Mapping[str, Value]) -> str:
    value: Value = folders[0] if len(folders) == 1 else tuple(folders)
    return _table({"python": value, **path}, "The functions bench_* in the files bench_*.py.")


_OTHER_PROJECTS = (
    *("Cargo.toml", "go.mod", "package.json", "CMakeLists.txt", "meson.build", "Makefile"),
    *("pom.xml", "build.gradle", "build.gradle.kts"),
)


def choose_folder(cwd: Path, root: Path | None) -> Path:
    """Choose where the configuration goes: the innermost project around the current folder.

    Args:
        root: of the repository; None if there is none.
    """
    if root is None or not cwd.is_relative_to(root):
        return cwd
    for folder in (cwd, *cwd.parents):
        if folder == root or is_project(folder):
            return folder
        if any((folder / name).is_file() for name in _OTHER_PROJECTS):
            return folder
    return root


def configured_in(folder: Path) -> str | None:
    """The file in which a folder is configured already; None if there is none."""
    if (folder / OWN_FILE).exists():
        return f"{folder / OWN_FILE} exists"
    if "benchgate" in read_toml(folder / "pyproject.toml").get("tool", {}):
        return f"{folder / 'pyproject.toml'} has a [tool.benchgate] table"
    return None
