"""Finds suites in Python that benchgate runs itself: for pytest-benchmark, asv and pyperf."""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.measure.functions import CONFIGURATIONS, packages_of, without_comments
from benchgate.measure.sources import PROJECT_FILES, read_source
from benchgate.project.build_steps import Suite
from benchgate.project.requirements import PythonSuite
from benchgate.project.tree import in_folder, in_places, read_ini, table_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.project.tree import ProjectTree

_ASV_NAME = re.compile(r"(?:time|timeraw|mem|peakmem|track)_")
_IMPORTED = {
    "pyperf": "pyperf",
    "asv_runner": "asv",
    "pytest_benchmark": "pytest-benchmark",
    "pytest_codspeed": "pytest-codspeed",
}
_UNKNOWN = "another tool"
_FIXTURE = "benchmark"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LOOKED_INTO = re.compile(r"bench|perf|speed|test|asv", re.IGNORECASE)
_TELLING = re.compile(rf"\b(?:{_FIXTURE}|pyperf|asv_runner)\b|\bbench_|\bdef {_ASV_NAME.pattern}")
_MAX_READ = 10_000


@dataclass(frozen=True, slots=True)
class PythonTest:
    """A function that may be a test.

    Attributes:
        owner: the class that it is a method of; "" for none.
        arguments: the fixtures that it asks for.
        is_marked: whether it, its class or its module is marked as a benchmark.
        is_fixture: whether it is a fixture instead.
    """

    name: str
    owner: str
    arguments: frozenset[str]
    is_marked: bool
    is_fixture: bool


@dataclass(frozen=True, slots=True)
class PythonSource:
    """What the text of a file says.

    Attributes:
        tool: the tool that the file was written for; None for benchgate, or if it is broken.
        tests: its functions and the methods of its classes.
        imports: modules that it cannot do without, with the packages that they are in.
        asv_benchmarks: how many functions and methods asv would measure.
        has_runner: whether it creates a `pyperf.Runner`.
    """

    tool: str | None = None
    tests: tuple[PythonTest, ...] = ()
    imports: frozenset[str] = frozenset()
    asv_benchmarks: int = 0
    has_runner: bool = False


Sources = dict[PurePosixPath, PythonSource]


def read_sources(tree: ProjectTree) -> Sources:
    """Read the Python files of a project that may hold benchmarks."""
    sources: Sources = {}
    for path in tree.named("*.py"):
        if not _LOOKED_INTO.search(str(path)):
            continue
        if len(sources) >= _MAX_READ:
            tree.note(f"Only the first {_MAX_READ:,} Python files were looked at.")
            break
        text = tree.read(path)
        sources[path] = _read_python(text) if _TELLING.search(text) else PythonSource(_UNKNOWN)
    return sources


def _read_python(source: str) -> PythonSource:
    """Read the text of a file; nothing is known of one that is not Python."""
    try:
        tree = ast.parse(source)
        names = read_source(source.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PythonSource()  # `validate` says what is wrong with it
    imported = {name.partition(".")[0] for name in _imported(ast.walk(tree))}
    tests = tuple(_tests(tree))
    tools = {_IMPORTED[name] for name in imported if name in _IMPORTED}
    asv_benchmarks = sum(_ASV_NAME.match(one.name) is not None for one in tests)
    tool: str | None = None
    if tools:
        tool = min(tools)
    elif any(_FIXTURE in one.arguments for one in tests):
        tool = "pytest-benchmark"
    elif not (names.makes_more or names.names):
        tool = "asv" if asv_benchmarks else _UNKNOWN
    called = (_last_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return PythonSource(
        tool,
        tests,
        frozenset(_imported(tree.body)),
        asv_benchmarks,
        "pyperf" in imported and "Runner" in called,
    )


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _tests(tree: ast.Module) -> Iterator[PythonTest]:
    all_marked = any(
        isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == "pytestmark" for one in node.targets)
        and _names_mark(node.value)
        for node in tree.body
    )
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            marked = all_marked or any(map(_names_mark, node.decorator_list))
            functions = (one for one in node.body if isinstance(one, _Function))
            yield from (_test(one, node.name, is_marked=marked) for one in functions)
        elif isinstance(node, _Function):
            yield _test(node, "", is_marked=all_marked)


def _test(function: _Function, owner: str, *, is_marked: bool) -> PythonTest:
    given = function.args
    decorators = function.decorator_list
    return PythonTest(
        function.name,
        owner,
        frozenset(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)),
        is_marked or any(map(_names_mark, decorators)),
        any("fixture" in ast.unparse(one).partition("(")[0] for one in decorators),
    )


def _names_mark(node: ast.AST) -> bool:
    """Whether an expression holds `pytest.mark.benchmark`."""
    return any(
        isinstance(one, ast.Attribute) and one.attr == _FIXTURE and _last_name(one.value) == "mark"
        for one in ast.walk(node)
    )


def _last_name(node: ast.expr) -> str:
    """The last part of a name with dots; "" if it is something else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True, slots=True)
class PytestSettings:
    """The settings of pytest that decide what it collects.

    Attributes:
        files: patterns of the names of files, as `python_files`.
        functions: prefixes or patterns of names, as `python_functions`.
        classes: the same, as `python_classes`.
        options: the words of `addopts`.
    """

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)
    options: tuple[str, ...] = ()

    def is_test_file(self, path: PurePosixPath) -> bool:
        """Whether pytest finds a file in its folder."""
        return any(path.match(pattern) for pattern in self.files)

    def is_test(self, test: PythonTest) -> bool:
        """Whether pytest collects a function, or a method of a class."""
        if test.is_fixture or not _matches(test.name, self.functions):
            return False
        return not test.owner or _matches(test.owner, self.classes)


_SETTINGS = (
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", ""),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)


def _read_settings(tree: ProjectTree, folder: PurePosixPath) -> PytestSettings:
    """Read the settings that hold in a folder: those of the nearest file that has any."""
    for path, section in (
        (one / name, of) for one in (folder, *folder.parents) for name, of in _SETTINGS
    ):
        if not tree.has(path):
            continue
        found: Mapping[str, Any] | None
        if section:
            found = read_ini(tree.read(path)).get(section)
        else:
            found = table_at(tree.read_toml(path), "tool", "pytest", "ini_options") or None
        if found is not None:
            default = PytestSettings()
            return PytestSettings(
                _words(found.get("python_files")) or default.files,
                _words(found.get("python_functions")) or default.functions,
                _words(found.get("python_classes")) or default.classes,
                _words(found.get("addopts")),
            )
    return PytestSettings()


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    try:
        return tuple(shlex.split(str(value or "")))
    except ValueError:
        return tuple(str(value).split())


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name begins with one of the prefixes, or matches one of the patterns."""
    return any(
        fnmatchcase(name, each) if re.search(r"[*?\[]", each) else name.startswith(each)
        for each in patterns
    )


_MAX_NAMED = 8
_MAX_SCRIPTS = 20
_ASV_FOLDERS = frozenset({"benchmarks", "benchmark", "asv_bench", "perf"})
_NO_SUITE = frozenset({"doc", "docs", "example", "examples"})
_PYTEST_TOOLS = ("pytest-benchmark", "pytest-codspeed")


@dataclass(slots=True)
class PythonSuites:
    """Finds the suites in Python.

    Attributes:
        sources: the files that may hold benchmarks.
    """

    tree: ProjectTree
    sources: Sources
    _settings: dict[PurePosixPath, PytestSettings] = field(default_factory=dict)

    def find(self) -> list[Suite]:
        return [*self._pytest_suites(), *self._asv_suites(), *self._pyperf_suites()]

    def _pytest_suites(self) -> Iterator[Suite]:
        """The tests that ask for the fixture `benchmark`, or are marked as benchmarks.

        Those of different projects are different suites.
        """
        asking = self._asking_fixtures()
        by_root: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
        for path, source in self.sources.items():
            chosen = [
                one
                for one in source.tests
                if not one.is_fixture and (one.is_marked or asking & one.arguments)
            ]
            if chosen and (found := sum(map(self._settings_of(path).is_test, chosen))):
                by_root[self._project_of(path)][path] = found
        for project, counts in sorted(by_root.items()):
            yield self._pytest_suite(project, counts)

    def _asking_fixtures(self) -> frozenset[str]:
        """The names of fixtures that lead to the fixture `benchmark`.

        None if the project has its own of this name, such as an index of prices.
        """
        tests = (one for source in self.sources.values() for one in source.tests)
        fixtures = [one for one in tests if one.is_fixture]
        if any(one.name == _FIXTURE for one in fixtures):
            return frozenset()
        asking = {_FIXTURE}
        while more := {one.name for one in fixtures if asking & one.arguments} - asking:
            asking |= more
        return frozenset(asking)

    def _settings_of(self, path: PurePosixPath) -> PytestSettings:
        if path.parent not in self._settings:
            self._settings[path.parent] = _read_settings(self.tree, path.parent)
        return self._settings[path.parent]

    def _is_test_file(self, path: PurePosixPath) -> bool:
        return self._settings_of(path).is_test_file(path)

    def _project_of(self, path: PurePosixPath) -> PurePosixPath:
        """The innermost folder around a file that declares a project."""
        around = (
            one for one in path.parents if any(self.tree.has(one / name) for name in PROJECT_FILES)
        )
        return next(around, PurePosixPath())

    def _pytest_suite(self, project: PurePosixPath, counts: Mapping[PurePosixPath, int]) -> Suite:
        places = self._places(counts)
        total = counted(sum(counts.values()), "test")
        table: dict[str, str | tuple[str, ...]] = {"pytest": _one_or_many(places)}
        options = (" ".join(self._settings_of(path).options) for path in counts)
        if any(re.search(rf"-m[ =]?.*not [\w ]*{_FIXTURE}", each) for each in options):
            table["arguments"] = "-m ''"  # which undoes a deselection of benchmarks
        tests = (test for path in counts for test in self.sources[path].tests)
        # pytest-codspeed alone obeys the mark.
        asks = any(_FIXTURE in test.arguments for test in tests)
        tools = _PYTEST_TOOLS if asks else _PYTEST_TOOLS[::-1]
        return Suite(
            f"{total} with the benchmark fixture{in_places(places)}",
            table,
            "The tests that use the fixture `benchmark` of pytest-benchmark or pytest-codspeed.",
            places[0],
            python=PythonSuite(project, tools, ("pytest",), self._imports(counts)),
        )

    def _places(self, counts: Mapping[PurePosixPath, int]) -> list[PurePosixPath]:
        """The folders and files to give to pytest: a folder if it holds nothing but benchmarks.

        A file that pytest does not find in its folder must be named.
        """
        whole: list[PurePosixPath] = []
        for folder in sorted({path.parent for path in counts}):
            if any(folder.is_relative_to(one) for one in whole) or str(folder) == ".":
                continue
            below = (path for path in self.tree.below(folder) if path.suffix == ".py")
            tests = set(filter(self._is_test_file, below))
            if tests and tests <= counts.keys():
                whole.append(folder)
        rest = [
            path
            for path in counts
            if not any(path.is_relative_to(folder) for folder in whole)
            or not self._is_test_file(path)
        ]
        if len(rest) > _MAX_NAMED and all(map(self._is_test_file, rest)):
            rest = [_common_folder(rest)]
            whole = [one for one in whole if not one.is_relative_to(rest[0])]
        return sorted({*whole, *rest})

    def _imports(self, paths: Iterable[PurePosixPath]) -> frozenset[str]:
        """The top-level modules that files, and the `conftest.py` around them, import.

        A module of the project that they import may need more than the project itself, as an
        adapter for another library does. So what it imports counts too.
        """
        found: set[str] = set()
        beside: set[PurePosixPath] = set()
        own: set[PurePosixPath] = set()
        for path in paths:
            found |= self.sources[path].imports
            beside |= {folder / "conftest.py" for folder in path.parents}
            project = self._project_of(path)
            own |= {project / "src", project / "lib", project}
        for file in beside:
            found |= _read_python(self.tree.read(file)).imports
        modules = [f"{name.replace('.', '/')}.py" for name in found if "." in name]
        for file in (folder / module for folder in own for module in modules):
            found |= _read_python(self.tree.read(file)).imports
        return frozenset(name.partition(".")[0] for name in found)

    def _asv_suites(self) -> list[Suite]:
        """The folders of asv's benchmarks: by its configuration, otherwise by their names."""
        suites: dict[PurePosixPath, Suite] = {}
        for path in self.tree.named(*CONFIGURATIONS):
            document = self.tree.read_json(path, without_comments(self.tree.read(path)))
            named = document.get("benchmark_dir", "benchmarks")
            folder = PurePosixPath(path.parent / str(named))
            is_inside = ".." not in folder.parts and not folder.is_absolute()
            if is_inside and (self.tree.top / folder).is_dir():
                suites[folder] = self._asv_suite(folder, _matrix(document), f" ({path})")
            else:
                self.tree.note(f"{path} names the folder {named}, which is not in the project.")
        if suites:
            return list(suites.values())
        of_pytest = {path.parent for path, one in self.sources.items() if one.tool in _PYTEST_TOOLS}
        folders = {
            path.parent
            for path, source in self.sources.items()
            if source.tool == "asv" and path.parent.name in _ASV_FOLDERS
        }
        return [self._asv_suite(folder, (), "") for folder in sorted(folders - of_pytest)]

    def _asv_suite(self, folder: PurePosixPath, requires: tuple[str, ...], of: str) -> Suite:
        files = [path for path in self.tree.below(folder) if path in self.sources]
        imports = self._imports(files)
        helpers = ("asv_runner",) if "asv_runner" in imports else ()
        total = sum(self.sources[path].asv_benchmarks for path in files)
        count = counted(total, "benchmark") if total else "benchmarks"
        project = self._project_of(folder / "x")
        return Suite(
            f"{count} of asv{in_folder(folder)}{of}",
            {"asv": str(folder)},
            "The benchmarks of asv: functions and methods named time_*, peakmem_*, mem_* and "
            "track_*.",
            folder,
            python=PythonSuite(project, (), (*helpers, *requires), imports),
        )

    def _pyperf_suites(self) -> Iterator[Suite]:
        """Scripts that create a `pyperf.Runner`."""
        scripts = sorted(
            path
            for path, source in self.sources.items()
            if source.has_runner and _NO_SUITE.isdisjoint(path.parts) and path.name[:5] != "test_"
        )
        if len(scripts) > _MAX_SCRIPTS:
            self.tree.note(
                f"Of {len(scripts)} scripts of pyperf, the configuration names the first."
            )
            scripts = scripts[:_MAX_SCRIPTS]
        if scripts:
            project = self._project_of(scripts[0])
            yield Suite(
                f"{counted(len(scripts), 'script')} of pyperf{in_places(scripts)}",
                {"pyperf": _one_or_many(scripts)},
                "The benchmarks that scripts give to a Runner of pyperf.",
                scripts[0],
                python=PythonSuite(project, ("pyperf",), (), self._imports(scripts)),
            )


def _common_folder(paths: Sequence[PurePosixPath]) -> PurePosixPath:
    common = [path.parts[:-1] for path in paths]
    shared = next(
        (depth for depth, parts in enumerate(zip(*common, strict=False)) if len(set(parts)) > 1),
        min(map(len, common)),
    )
    return PurePosixPath(*common[0][:shared])


def _matrix(document: Mapping[str, object]) -> tuple[str, ...]:
    """The packages that asv installs beside the project, each in the first of its versions."""
    requires = []
    for name, versions in packages_of(document).items():
        if versions is not None:
            version = str(versions[0] or "") if isinstance(versions, list) and versions else ""
            plain = name.removeprefix("pip+")
            requires.append(f"{plain}=={version}" if re.match(r"\d", version) else plain)
    return tuple(requires)


def _one_or_many(places: Sequence[PurePosixPath]) -> str | tuple[str, ...]:
    return str(places[0]) if len(places) == 1 else tuple(map(str, places))
