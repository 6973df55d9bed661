"""Finds out what must be installed before a project and its suites can run."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from benchgate.measure.sources import PROJECT_FILES, SOURCE_FOLDERS, normalized, provided_by
from benchgate.project.tree import read_ini, table_at, texts_in, words_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.project.tree import ProjectTree


_DEFAULT_FOLDERS = frozenset({".", "src"})
_NOT_MEASURED = frozenset(
    {
        *("tests", "test", "testing", "docs", "doc", "examples", "example", "samples"),
        *("benchmarks", "benchmark", "benches", "perf", "asv_bench", "scripts", "tools"),
        *("build", "dist", "vendor", "third_party", "templates", "fixtures"),
    }
)


@dataclass(frozen=True, slots=True)
class Package:
    """A package or module of the project.

    Attributes:
        name: as it is imported.
        folder: to import it from, relative to the folder that was searched; "." is that folder
            itself, and "" means that only an installed copy can be imported.
        project: folder of the project that it belongs to, relative in the same way.
    """

    name: str
    folder: str
    project: str

    @property
    def is_found_by_default(self) -> bool:
        """Whether Python finds it without a `pythonpath`."""
        return self.folder in _DEFAULT_FOLDERS or not self.folder


def find_packages(top: Path) -> tuple[Package, ...]:
    """Find the packages to measure, the most important first.

    If the folder itself holds packages, these are all. If it holds only folders with packages, as
    in a repository with several projects, the packages of all of them are returned.
    """
    provided = provided_by(top)
    found = [
        _package(top, name, folder)
        for name, folder in provided.modules.items()
        if folder and _is_measured(name, folder, provided.projects)
    ]
    own = [one for one in found if one.project == "."]
    named = [one for one in own if normalized(one.name) in provided.projects]
    chosen = named or own or found
    if not chosen and (top / "pyproject.toml").exists():
        compiled = [name for name, folder in provided.modules.items() if not folder]
        chosen = [Package(name, "", ".") for name in compiled]
    return tuple(
        sorted(chosen, key=lambda one: (not one.is_found_by_default, one.folder, one.name))
    )


def _is_measured(name: str, folder: str, projects: frozenset[str]) -> bool:
    if not name.isidentifier() or not _NOT_MEASURED.isdisjoint(PurePosixPath(folder).parts):
        return False
    return name not in _NOT_MEASURED or normalized(name) in projects


def _package(top: Path, name: str, folder: str) -> Package:
    """Complete a package; one that lies deeper in a source folder is part of a namespace."""
    place = PurePosixPath(folder)
    for source in (place, *place.parents):
        beside = source.parent
        if source.name in SOURCE_FOLDERS and (source == place or is_project(top / beside)):
            full = ".".join((*place.relative_to(source).parts, name))
            return Package(full, source.as_posix(), beside.as_posix())
    return Package(name, folder, place.as_posix())


def is_project(folder: Path) -> bool:
    """Whether a folder holds a file that declares a Python project."""
    return any((folder / name).is_file() for name in PROJECT_FILES)


_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
# A name with versions, which any installer takes as one word.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,\s.-]*\])?\s*(?:[=<>!~]=?.*)?")
_SET_NAME = re.compile(r"[\w.-]+")
_MAX_DEPTH = 10
_MAX_FILES_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Declared:
    """A set of requirements that a project declares.

    Attributes:
        how: what installs it; a list cannot be installed as a whole.
        name: of the extra or group, or the path of the file.
        words: the requirements, as they are written.
    """

    how: Literal["extra", "group", "file", "list"]
    name: str
    words: tuple[str, ...]

    @property
    def distributions(self) -> frozenset[str]:
        """The normalized names of what is required."""
        return _distributions_in(self.words)


def _distributions_in(requirements: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(_distribution_in, requirements)))


def _distribution_in(requirement: str) -> str:
    """The normalized name of a required distribution; "" if there is none."""
    found = _NAME.match(requirement)
    return normalized(found[1]) if found else ""


def _own_requirements(tree: ProjectTree, folder: PurePosixPath) -> frozenset[str]:
    """The normalized names of what a project itself depends on, as far as its files tell."""
    document = tree.read_toml(folder / "pyproject.toml")
    options = read_ini(tree.read(folder / "setup.cfg")).get("options", {})
    words = [*words_at(document, "project", "dependencies")]
    words += table_at(document, "tool", "poetry", "dependencies")
    return _distributions_in([*words, *options.get("install_requires", "").splitlines()])


def _find_declared(tree: ProjectTree, folder: PurePosixPath) -> Iterator[Declared]:
    """Find what a project declares for its tests and its developers.

    Args:
        folder: of the project. Files with requirements count in the top folder as well.
    """
    document = tree.read_toml(folder / "pyproject.toml")
    extras = {
        name: texts_in(words)
        for name, words in table_at(document, "project", "optional-dependencies").items()
    }
    setup = read_ini(tree.read(folder / "setup.cfg"))
    for name, text in setup.get("options.extras_require", {}).items():
        extras.setdefault(name, tuple(filter(None, map(str.strip, text.splitlines()))))
    for name in filter(_SET_NAME.fullmatch, extras):
        yield Declared("extra", name, _with_own_extras(extras, name))
    groups = table_at(document, "dependency-groups")
    for name in filter(_SET_NAME.fullmatch, groups):
        yield Declared("group", name, tuple(_group(groups, name, _MAX_DEPTH)))
    near = {folder, PurePosixPath()}
    beside = {one / "requirements" for one in near}
    files = [p for p in tree.named("*requirements*.txt", "*requirements*.in") if p.parent in near]
    files += [path for path in tree.named("*.txt", "*.in") if path.parent in beside]
    for path in dict.fromkeys(files):
        yield Declared("file", str(path), tuple(_file(tree, path, _MAX_FILES_DEPTH)))
    for name, words in _lists(table_at(document, "tool")):
        yield Declared("list", name, words)


def _with_own_extras(extras: Mapping[str, tuple[str, ...]], name: str) -> tuple[str, ...]:
    """The requirements of an extra, and of other extras that it names as `project[other]`."""
    words = extras[name]
    inner = (
        one
        for word in words
        if (found := re.search(r"\[([\w, -]+)\]", word))
        for one in found[1].replace(" ", "").split(",")
    )
    return (*words, *(word for one in inner if one != name for word in extras.get(one, ())))


def _group(groups: Mapping[str, Any], name: str, depth: int) -> Iterator[str]:
    """The requirements of a group and of those that it includes."""
    found = groups.get(name)
    for one in found if isinstance(found, list) and depth else ():
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and "include-group" in one:
            yield from _group(groups, str(one["include-group"]), depth - 1)


def _file(tree: ProjectTree, path: PurePosixPath, depth: int) -> Iterator[str]:
    for line in tree.read(path).splitlines():
        word = re.sub(r"(^|\s)#.*", "", line).strip()
        if included := re.match(r"(?:-r|--requirement)[ =]*(\S+)", word):
            inner = PurePosixPath(path.parent / included[1])
            if depth and ".." not in inner.parts and not inner.is_absolute():
                yield from _file(tree, inner, depth - 1)
        elif word and not word.startswith("-"):
            yield word


def _lists(tool: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What other tools list, by what they call it."""
    poetry = table_at(tool, "poetry")
    for name, group in table_at(poetry, "group").items():
        yield f"the group {name} of Poetry", tuple(table_at(group, "dependencies"))
    yield "Poetry", tuple(table_at(poetry, "dev-dependencies"))
    for name, words in table_at(tool, "pdm", "dev-dependencies").items():
        yield f"the group {name} of PDM", texts_in(words)
    for name, environment in table_at(tool, "hatch", "envs").items():
        words = (words_at(environment, key) for key in ("dependencies", "extra-dependencies"))
        yield f"the environment {name} of Hatch", tuple(word for part in words for word in part)


_PREFERRED = ("bench", "codspeed", "perf", "test", "dev")
_FOR_TESTS = re.compile(r"bench|perf|test|dev|ci", re.IGNORECASE)
_OTHER_NAMES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "pil": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
}
_ALWAYS_THERE = frozenset({"pytest", "_pytest", "asv", "pkg_resources", "setuptools", "pip"})


@dataclass(frozen=True, slots=True)
class PythonSuite:
    """What the files of a suite in Python tell about the environment that it needs.

    Attributes:
        project: the folder of the project that it belongs to.
        tools: distributions that run it, the first of which is enough: "pytest-benchmark".
        runs: other distributions that it cannot run without.
        imports: top-level modules that its files import.
    """

    project: PurePosixPath
    tools: tuple[str, ...]
    runs: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to install beside the projects.

    Attributes:
        extras: of a project, by its folder.
        groups: pairs of a project's folder and one of its dependency groups.
        files: with requirements, relative to the top.
        words: other requirements.
        unknown: modules that the suites import and that nothing provides.
    """

    extras: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def choose_requirements(
    tree: ProjectTree, folders: Sequence[PurePosixPath], suites: Sequence[PythonSuite]
) -> Wanted:
    """Choose the declared requirements that hold the suites' tools, and add what is missing.

    Args:
        folders: of the projects that are installed.
    """
    sets = [(folder, one) for folder in folders for one in _find_declared(tree, folder)]
    chosen: dict[tuple[PurePosixPath, Declared], None] = {}
    names: dict[str, None] = {}
    for suite in suites:
        best = _best(sets, suite)
        if best is not None:
            chosen[best] = None
        names |= dict.fromkeys(_not_held(suite, best[1] if best else None))
    imported = {name for suite in suites for name in suite.imports}
    imported -= sys.stdlib_module_names | _ALWAYS_THERE
    distributions = {
        module: _OTHER_NAMES.get(module.lower(), normalized(module)) for module in sorted(imported)
    }
    provided = {name for _, one in chosen for name in _installed_with(one)}
    for folder in folders:
        project = table_at(tree.read_toml(folder / "pyproject.toml"), "project")
        provided |= {normalized(str(project.get("name") or "")), *_own_requirements(tree, folder)}
    written = {
        _distribution_in(word): _compact(word)
        for _, one in reversed(sets)
        for word in one.words
        if _PLAIN.fullmatch(word.strip())
    }
    names |= dict.fromkeys(
        name for name in distributions.values() if name in written and name not in provided
    )
    # The names of the project's files and folders, each of which may be a module.
    sources = [*tree.named("*.py", "*.pyx", "*.pyi")]
    own = {part for path in sources for part in (*path.parts[:-1], path.stem)}
    known = {*provided, *names}
    unknown = [
        module for module, name in distributions.items() if not {name} & known and module not in own
    ]
    words = [word for suite in suites for word in suite.runs if _distribution_in(word) in names]
    written |= {_distribution_in(word): word for word in words if _distribution_in(word) != word}
    return Wanted(
        tuple((str(folder), one.name) for folder, one in chosen if one.how == "extra"),
        tuple((str(folder), one.name) for folder, one in chosen if one.how == "group"),
        tuple(dict.fromkeys(one.name for _, one in chosen if one.how == "file")),
        tuple(written.get(name, name) for name in names),
        tuple(unknown),
    )


def _not_held(suite: PythonSuite, best: Declared | None) -> Iterator[str]:
    """The names of what a suite needs to run and what its best set does not install."""
    has = _installed_with(best) if best else frozenset()
    yield from (name for name in map(_distribution_in, suite.runs) if name not in has)
    if suite.tools and has.isdisjoint(suite.tools):
        listed = best.distributions if best else ()
        yield next((one for one in suite.tools if one in listed), suite.tools[0])


def _installed_with(one: Declared) -> frozenset[str]:
    return frozenset() if one.how == "list" else one.distributions


def _best(
    sets: Iterable[tuple[PurePosixPath, Declared]], suite: PythonSuite
) -> tuple[PurePosixPath, Declared] | None:
    """The set that holds a suite's tool; otherwise one for tests; None if there is neither."""
    tools = set(suite.tools)
    found = [one for one in sets if tools & one[1].distributions]
    found = [one for one in found if one[0] == suite.project] or found
    if not found and "pytest" in suite.runs:
        found = [
            one
            for one in sets
            if "pytest" in one[1].distributions and _FOR_TESTS.search(one[1].name)
        ]
    return min(found, key=lambda one: _rank(one[1]), default=None)


def _rank(one: Declared) -> tuple[int, int, int]:
    """What is installed as a whole comes first, then what is named for benchmarks or tests."""
    named = (index for index, each in enumerate(_PREFERRED) if each in one.name.lower())
    return int(one.how == "list"), next(named, len(_PREFERRED)), len(one.words)


def _compact(requirement: str) -> str:
    """A requirement without spaces, except in its marker, which needs them."""
    versions, semicolon, marker = requirement.partition(";")
    return "".join((*versions.split(), semicolon, marker.rstrip()))


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
